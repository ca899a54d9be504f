"""Rendering: a planned text in words, with the place of every request in it; equal dice give an equal text.

While a text is put together, characters that no material may hold mark where requests and names stand. They go at the
end, so that layouts, capitals and slips of the pen cannot lose track of either.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from sirocco.oasis.mutation import Dice
from sirocco.probes.language.acts import (
    EVERYTHING,
    Account,
    Act,
    Aside,
    Ask,
    Claim,
    Closing,
    Condition,
    Deed,
    Greeting,
    Mention,
    Motive,
    Pointer,
    Quote,
    Remark,
    RenderedText,
    Report,
    Span,
    TextPlan,
    Thing,
    Verbatim,
)
from sirocco.probes.language.inflection import plural, with_articles
from sirocco.probes.language.material import Material, Tongue, Way
from sirocco.probes.language.slips import with_slips
from sirocco.probes.language.template import Branches, Hex, Number, Part, Reference, Template, read_template, symbols

KEPT_OPEN, KEPT_CLOSE = "\ue002", "\ue003"
"""Around what must stay as it is: names, values, fields."""
_KEPT = re.compile(f"{KEPT_OPEN}[^{KEPT_CLOSE}]*{KEPT_CLOSE}")
_BETWEEN = "\ue004"
_ASK_OPEN, _ASK_CLOSE = 0xE100, 0xE200
_MARKS = re.compile(r"[\ue000-\uf8ff]")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]")
_MOST_ASKS = 64
_SAID_AFTERWARDS = frozenset({"procedure"})
"""Claims about a request that was made before them."""
_SHARE_JOINED = 0.45
_OPTIONAL = (Aside, Closing, Greeting, Motive, Claim, Report, Condition, Verbatim, Quote)
"""What a text goes without where there is no room, in this order."""
_CLAUSES = (Motive, Report, Claim)
_ENDED = re.compile(r"[.!?:…][)\"'»”\ue000-\uf8ff]*$")
_INNER_END = re.compile(r"[.!?] ")
"""Where a request is followed by a sentence about it: nothing can be joined to that."""
Slots = Mapping[str, str]
_TIMES = {"moment": "%Y-%m-%d %H:%M", "hour": "%H:%M"}
"""Symbols for when something happened, which go forward in the course of a text."""
_EARLIEST, _MINUTES = datetime(2025, 1, 6, tzinfo=UTC), 60 * 24 * 600


def render_text(plan: TextPlan, material: Material, dice: Dice) -> RenderedText:
    """The plan in words; ValueError where even the bare request has no room.

    Where a text is too long, it is drawn again with fewer of the acts that ask for nothing.
    """
    acts = list(plan.acts)
    while True:
        found = _Speaker(replace(plan, acts=tuple(acts)), material.tongue(plan.language), dice).rendered()
        if len(found.text) <= plan.limit:
            return found
        if (spare := _least_needed(acts)) is None:
            break
        del acts[spare]
    bare = _Speaker(replace(plan, acts=tuple(acts), channel="bare"), material.tongue(plan.language), dice)
    for _ in range(8):
        if len((found := bare.rendered()).text) <= plan.limit:
            return found
    raise ValueError(f"a request on {plan.channel} does not fit into {plan.limit} characters")


def _least_needed(acts: Sequence[Act]) -> int | None:
    for kind in _OPTIONAL:
        for number in reversed(range(len(acts))):
            if isinstance(acts[number], kind) and not _holds_request(acts[number]):
                return number
    return None


def _holds_request(act: Act) -> bool:
    return isinstance(act, Ask | Pointer) or (isinstance(act, Quote) and any(map(_holds_request, act.acts)))


def expand_rule(
    material: Material, rule: str, slots: Slots, dice: Dice, register: str = "plain", trade: str = ""
) -> str:
    """What a rule of the material gives in English, with these slots filled in."""
    speaker = _Speaker(TextPlan("bare", (), register=register, trade=trade), material.tongue("en"), dice)
    filled = {name: kept(text) for name, text in slots.items()}
    return _without_marks(_tidy(_with_articles(speaker.expand(rule, filled))), ()).text


def _with_articles(text: str) -> str:
    """The text with its articles put right, but for those in what must stay as it is: its first word is enough."""
    inner = _KEPT.findall(text)
    shown = with_articles(_KEPT.sub(lambda found: found.group().strip(KEPT_CLOSE).split()[0] + KEPT_CLOSE, text))
    return _KEPT.sub(lambda _: inner.pop(0), shown)


def kept(text: str) -> str:
    """A text that nothing may change, for a slot."""
    return f"{KEPT_OPEN}{_CONTROL.sub(' ', text)}{KEPT_CLOSE}"


@dataclass(slots=True)
class _Speaker:
    """Words one plan."""

    plan: TextPlan
    tongue: Tongue
    dice: Dice
    deeds: list[Deed] = field(default_factory=list)
    _topics: Mapping[str, tuple[str, ...]] | None = None
    _moment: datetime | None = None

    def rendered(self) -> RenderedText:
        """The text of the plan with its spans."""
        self.deeds.clear()
        text = self._laid_out(self._with_slips(self._sentences(self.plan.acts)))
        text = _with_articles(text) if self.plan.language == "en" else text
        if self.plan.one_line:
            text = " ".join(text.split())
        return _without_marks(_tidy(text), self.deeds)

    # From symbols to words

    def expand(self, symbol: str, slots: Slots) -> str:
        """What a rule gives, once its references are filled in."""
        if symbol in slots:
            return slots[symbol]
        if symbol in _TIMES:
            return self._next_moment().strftime(_TIMES[symbol])
        if words := self._trade().get(symbol):
            return self.fill(read_template(self.dice.choice(words)), slots)
        ways = self.tongue.alternatives(symbol, self.plan.register)
        if not ways:
            raise KeyError(f"the material has no {symbol!r} in register {self.plan.register!r}")
        return self.fill(self.dice.choice(ways), slots)

    def fill(self, template: Template, slots: Slots) -> str:
        """A template with everything filled in."""
        return "".join(self._part(part, slots) for part in template)

    def _part(self, part: Part, slots: Slots) -> str:
        match part:
            case str():
                return part
            case Reference():
                text = self.expand(part.symbol, slots)
                return _capitalized(text) if part.is_capital else text
            case Number():
                return str(self.dice.randint(part.low, part.high)).zfill(part.width)
            case Hex():
                return "".join(self.dice.choice("0123456789abcdef") for _ in range(part.digits))
            case Branches():
                return self.fill(self.dice.choice(part.ways), slots)

    def _next_moment(self) -> datetime:
        """When the next thing in a text happened: each some time after the one before."""
        if self._moment is None:
            self._moment = _EARLIEST + timedelta(minutes=self.dice.randint(0, _MINUTES))
        self._moment += timedelta(
            minutes=self.dice.randint(1, 90) * self.dice.choice((1, 1, 1, 24)), seconds=self.dice.randint(0, 59)
        )
        return self._moment

    def _trade(self) -> Mapping[str, tuple[str, ...]]:
        """The words of the business that the text is about: the plan's, or any."""
        if self._topics is None:
            trades = self.tongue.trades
            name = self.plan.trade if self.plan.trade in trades else self.dice.choice(list(trades)) if trades else ""
            self._topics = trades.get(name, {})
        return self._topics

    def _property(self, name: str, default: str) -> str:
        """A rule whose alternatives are settings, not words."""
        found = self.tongue.settings(name, self.plan.register)
        return self.dice.choice(found) if found else default

    # From acts to sentences

    def _sentences(self, acts: Sequence[Act]) -> list[str]:
        case = self._property("case", "sentence")
        found = [text for text in self._utterances(acts) if text]
        ended = [_capitalized(_ended(text)) if case == "sentence" else _ended(text) for text in found]
        # Only the last sentence of a text can go without its full stop.
        if ended and not self._stops():
            ended[-1] = re.sub(r"\.$", "", ended[-1])
        return ended

    def _utterances(self, acts: Sequence[Act]) -> Iterator[str]:
        number = 0
        while number < len(acts):
            act, following = acts[number], acts[number + 1] if number + 1 < len(acts) else None
            later = acts[number + 2] if number + 2 < len(acts) else None
            before = acts[number - 1] if number else None
            number += 1
            # A motive belongs to the request before it, what is claimed to the one after it.
            is_apart = isinstance(before, Ask) and isinstance(act, Motive)
            is_apart |= isinstance(before, Ask) and isinstance(act, Claim) and act.kind in _SAID_AFTERWARDS
            is_apart |= isinstance(following, Claim) and isinstance(later, Ask)
            pair = None if is_apart else self._pair(act, following)
            if pair is None:
                yield self._utterance(act)
                continue
            number += 1
            yield pair

    def _pair(self, act: Act, following: Act | None) -> str | None:
        """Two acts in one sentence, where they belong together."""
        match act, following:
            case Condition(), Ask():
                inner = {"inner": self._condition(act), "request": self._ask(following)}
                return self.expand("conditional", inner)
            case Condition(), Verbatim():
                return self.expand("conditional", {"inner": self._condition(act), "request": kept(following.text)})
            case ((Motive() | Report() | Claim()), Ask()) if self.dice.random() < _SHARE_JOINED:
                reason, ask = self._utterance(act), self._ask(following)
                is_joinable = not _ENDED.search(reason)
                return self._joined("reason_first", reason, ask) if is_joinable else f"{_ended(reason)} {ask}"
            case Ask(), (Motive() | Claim()) if self.dice.random() < _SHARE_JOINED:
                ask, reason = self._ask(act), self._utterance(following)
                if _ENDED.search(ask) or _ENDED.search(reason) or _INNER_END.search(ask):
                    return f"{_ended(ask)} {_capitalized(reason)}"
                return self._joined("request_first", reason, ask)
        return None

    def _joined(self, rule: str, reason: str, ask: str) -> str:
        return self.expand(rule, {"reason": reason, "request": ask})

    def _utterance(self, act: Act) -> str:
        match act:
            case Ask():
                return self._ask(act)
            case Account():
                return self._account(act)
            case Report():
                symptoms = self._symptom(act)
                return self.expand(symptoms, self._thing_slots(act.thing))
            case Motive():
                return self.expand(self._first_rule(f"motive.{act.sense}", "motive.any"), {})
            case Claim():
                return self.expand(self._claim(act), {"about": kept(self.plan.about)} if self.plan.about else {})
            case Pointer():
                return self.expand("pointer", self._thing_slots(act.to))
            case Condition():
                return self._condition(act)
            case Aside():
                return self.expand(f"aside.{act.topic}" if act.topic else "aside", {})
            case Remark():
                own = {key: kept(value) for key, value in act.slots.items()}
                return self.expand(f"remark.{act.topic}", {**own, **self._thing_slots(act.thing)})
            case Verbatim():
                return kept(act.text)
            case Greeting():
                return self.expand("greeting", {})
            case Closing():
                return self.expand("closing", {})
            case Quote():
                inner = " ".join(self._sentences(act.acts))
                return self.expand("quote", {"author": act.author or self.expand("person", {}), "inner": inner})

    def _symptom(self, act: Report) -> str:
        if act.symptom:
            return self._first_rule(f"symptom.{act.symptom}", "symptom.any")
        return self._first_rule(f"symptom.{act.thing.kind}", "symptom.any")

    def _claim(self, act: Claim) -> str:
        return self._first_rule(f"claim.{act.kind}.{act.form}", f"claim.{act.kind}")

    def _condition(self, act: Condition) -> str:
        return self.expand(f"condition.{act.kind}", self._thing_slots(act.thing) if act.thing else {})

    def _first_rule(self, *names: str) -> str:
        return next((name for name in names if self.tongue.alternatives(name, self.plan.register)), names[-1])

    # Requests

    def _ask(self, act: Ask) -> str:
        """The request as a clause, between marks."""
        if len(self.deeds) >= _MOST_ASKS:
            raise ValueError(f"a text makes at most {_MOST_ASKS} requests")
        number = len(self.deeds)
        self.deeds.append(act.deed)
        way, slots = self._way(act.deed)
        forms = {form: self.fill(read_template(text), slots) for form, text in way.items()}
        frame = self.dice.choice(self._frames(way))
        return f"{chr(_ASK_OPEN + number)}{self.fill(frame, forms)}{chr(_ASK_CLOSE + number)}"

    def _account(self, act: Account) -> str:
        """What was done, in the words in which it would be asked for."""
        way, slots = self._way(act.deed, form="done")
        return self.expand("account", {form: self.fill(read_template(text), slots) for form, text in way.items()})

    def _way(self, deed: Deed, form: str = "") -> tuple[Way, Slots]:
        """One of the ways to say a deed, in a grammatical form, that its slots are enough for."""
        slots = {**{key: kept(value) for key, value in deed.slots.items()}, **self._thing_slots(deed.thing)}
        ways = [
            way for way in self.tongue.senses[deed.sense] if (not form or form in way) and self._is_sayable(way, slots)
        ]
        if not ways:
            raise KeyError(f"no way to say {deed.sense!r} with {', '.join(sorted(deed.slots)) or 'no slots'}")
        return self.dice.choice(ways), slots

    def _is_sayable(self, way: Way, slots: Slots) -> bool:
        wanted = frozenset().union(*(symbols(read_template(text)) for text in way.values()))
        return all(name in slots or self.tongue.alternatives(name, self.plan.register) for name in wanted)

    def _frames(self, way: Way) -> list[Template]:
        forms = {"do", "doing", "inf", "subject", "done", "nominal"}
        ways = self.tongue.alternatives("ask", self.plan.register)
        return [frame for frame in ways if symbols(frame) & forms <= way.keys()]

    def _thing_slots(self, thing: Thing) -> dict[str, str]:
        """The ways to refer to a thing: `{object}` as a whole, and its parts."""
        words = self.tongue.kinds.get(thing.kind, (thing.kind,))
        # Mostly the proper word: a text in which every kind has another name is nobody's.
        word = words[0] if self.dice.random() < 0.6 else self.dice.choice(words)
        slots = {"kind": word, "kinds": plural(word), "type": thing.kind}
        if thing.name:
            slots["name"] = kept(thing.name)
        if thing.role:
            slots["role"] = thing.role
        if thing.labels:
            slots["labels"] = kept(thing.labels)
        slots["there"] = self.expand("in_place", {"place": kept(thing.place)}) if thing.place else ""
        slots["object"] = self.expand(_reference_rule(thing), slots)
        return slots

    # From sentences to a text

    def _stops(self) -> bool:
        return self._property("stop", "yes") == "yes"

    def _with_slips(self, sentences: Sequence[str]) -> Sequence[str]:
        """The sentences as somebody in a hurry types them; what a program puts around them has no slips."""
        number = int(self._property("slips", "0"))
        return with_slips(_BETWEEN.join(sentences), self.dice, number).split(_BETWEEN) if number else sentences

    def _laid_out(self, sentences: Sequence[str]) -> str:
        plan = self.plan
        slots = {"body": " ".join(sentences), "lines": "\n".join(sentences), "about": kept(plan.about or "it")}
        slots["author"] = plan.author or self.expand("person", {})
        text = self.expand(self._first_rule(f"layout.{plan.channel}", "layout.any"), slots)
        if self.tongue.alternatives(f"prefix.{plan.channel}", plan.register):
            prefix = self.expand(f"prefix.{plan.channel}", {})
            text = "\n".join(f"{prefix}{line}".rstrip() for line in text.split("\n"))
        return text


def _reference_rule(thing: Thing) -> str:
    if thing.mention is Mention.EARLIER:
        return "object_earlier"
    if thing.mention is Mention.ROLE and thing.role:
        return "object_role"
    if thing.name is None:
        whole = "object_everything" if thing.kind == EVERYTHING else "object_all"
        return f"{whole}_labelled" if thing.labels else whole
    return "object_named" if thing.kind else "object_bare"


def _ended(text: str) -> str:
    return text if _ENDED.search(text) else f"{text}."


def _capitalized(text: str) -> str:
    """The text with a capital, unless it begins with a name."""
    start = next((number for number, letter in enumerate(text) if not _ASK_OPEN <= ord(letter) < _ASK_CLOSE), None)
    return text if start is None else text[:start] + text[start].upper() + text[start + 1 :]


def _tidy(text: str) -> str:
    """The text without the blanks that empty branches leave behind."""
    text = re.sub(r"(?<=\S)[ ]{2,}", " ", text)
    text = re.sub(r"[ ]+(?=[,.](?:[\s\ue000-\uf8ff]|$))", "", text)
    # What was to follow a clause follows a question instead.
    text = re.sub(
        r"([?!][\ue000-\uf8ff]*)[,;] ([\ue000-\uf8ff]*\w)", lambda found: f"{found[1]} {found[2].upper()}", text
    )
    return re.sub(r"[ ]+(?=\n|$)", "", text).strip()


def _without_marks(text: str, deeds: Sequence[Deed]) -> RenderedText:
    """The text as it is read, and the spans between the marks."""
    starts: dict[int, int] = {}
    spans: list[Span] = []
    plain: list[str] = []
    length = 0
    for letter in text:
        code = ord(letter)
        if _ASK_OPEN <= code < _ASK_OPEN + _MOST_ASKS:
            starts[code - _ASK_OPEN] = length
        elif _ASK_CLOSE <= code < _ASK_CLOSE + _MOST_ASKS:
            number = code - _ASK_CLOSE
            spans.append(Span(starts[number], length, deeds[number]))
        elif not _MARKS.match(letter):
            plain.append(letter)
            length += 1
    return RenderedText("".join(plain), tuple(spans))
