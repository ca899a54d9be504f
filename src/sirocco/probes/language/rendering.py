"""Rendering: words a planned text, with the position of every request in it; equal dice give equal texts.

While a text is assembled, characters that no material may contain mark the positions of requests and names. They are
removed at the end, so that layouts, capitals and typos cannot lose track of either.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from sirocco.oasis.mutation import Dice
from sirocco.probes.language.acts import (
    EVERYTHING,
    MANY,
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
"""Around text that must stay unchanged: names, values, fields."""
_KEPT = re.compile(f"{KEPT_OPEN}[^{KEPT_CLOSE}]*{KEPT_CLOSE}")
_BETWEEN = "\ue004"
_ASK_OPEN, _ASK_CLOSE = 0xE100, 0xE200
_MARKS = re.compile(r"[\ue000-\uf8ff]")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]")
_MOST_ASKS = 64
_SAID_AFTERWARDS = frozenset({"procedure"})
"""Claims about a request that was made before them."""
_SHARE_JOINED = 0.45
_DATED = frozenset({"event"})
"""Words of a trade for what has a date: nothing is both over and still to come in one text."""
_MANY = 8
"""From this many alternatives on, a text uses none of them twice."""
_OPTIONAL = (Aside, Closing, Greeting, Motive, Claim, Report, Condition, Verbatim, Quote)
"""The acts to leave out if there is no room, in this order."""
_FORMS = frozenset({"do", "doing", "inf", "subject", "done", "nominal"})
_EXPLAINING = frozenset({"gain", "until_then"})
"""Rules by which a frame itself states the purpose of a request."""
_FOLLOWING = ("tail", "after", "end", "finish", "cue", "before")
"""Rules for text that follows a request in its sentence."""
_CLAUSES = (Motive, Report, Claim)
_ENDED = re.compile(r"[.!?:…][)\"'»”\ue000-\uf8ff]*$")
_INNER_END = re.compile(r"[.!?] ")
"""Matches inside a request that is followed by a sentence about it, to which nothing can be joined."""
Slots = Mapping[str, str]
_TIMES = {"moment": "%Y-%m-%d %H:%M", "hour": "%H:%M"}
"""Symbols for times, which advance in the course of a text."""
_EARLIEST, _MINUTES = datetime(2025, 1, 6, tzinfo=UTC), 60 * 24 * 600


def render_text(plan: TextPlan, material: Material, dice: Dice) -> RenderedText:
    """The plan in words; raise ValueError if there is no room even for the bare request.

    A text that is too long is drawn again with fewer of the acts that ask for nothing.
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
    """The English text that a rule of the material produces with these slots."""
    speaker = _Speaker(TextPlan("bare", (), register=register, trade=trade), material.tongue("en"), dice)
    filled = {name: kept(text) for name, text in slots.items()}
    return _without_marks(_tidy(_with_articles(speaker.expand(rule, filled))), ()).text


def _with_articles(text: str) -> str:
    """The text with its articles corrected, except inside unchangeable parts, of which only the first word matters."""
    inner = _KEPT.findall(text)
    shown = with_articles(_KEPT.sub(lambda found: found.group().strip(KEPT_CLOSE).split()[0] + KEPT_CLOSE, text))
    return _KEPT.sub(lambda _: inner.pop(0), shown)


def kept(text: str) -> str:
    """A slot's text, marked as unchangeable."""
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
    _points: Sequence[str] = ()
    """The text's points, request by request, for layouts that number them."""
    _steps: int = 0
    _group: str = ""
    """The group of the deed being asked for, whose rules replace the general ones."""
    _has_asked: bool = False
    _links: set[Template] = field(default_factory=set)
    """The links between requests used so far, because a repetition would be noticeable."""
    _used: dict[str, set[Template]] = field(default_factory=dict)
    """The templates of each rule that were used so far."""
    _words: dict[str, str] = field(default_factory=dict)
    """The word for each kind of thing in this text."""

    def rendered(self) -> RenderedText:
        """The text of the plan, with its spans."""
        self.deeds.clear()
        self._has_asked, self._steps = False, 0
        self._links.clear()
        self._used.clear()
        text = self._laid_out(self._with_slips(self._sentences(self.plan.acts)))
        text = _with_articles(text) if self.plan.language == "en" else self._contracted(text)
        if self.plan.one_line:
            text = " ".join(text.split())
        return _without_marks(_tidy(text), self.deeds)

    def _contracted(self, text: str) -> str:
        """The text with the language's contractions: Spanish `de el` is `del`."""
        for rule in self.tongue.settings("contraction", self.plan.register):
            apart, _, together = rule.partition(" > ")
            text = re.sub(rf"\b{re.escape(apart)}\b", together, text)
        return text

    # From symbols to words

    def expand(self, symbol: str, slots: Slots) -> str:
        """The text that a rule produces, with its references filled in."""
        if symbol in slots:
            return slots[symbol]
        if symbol in _TIMES:
            return self._next_moment().strftime(_TIMES[symbol])
        if symbol == "step":
            self._steps += 1
            return str(self._steps)
        if symbol == "steps":
            return "\n".join(f"{self.expand('step', {})}. {point}" for point in self._points)
        if words := self._trade().get(symbol):
            found = tuple(read_template(word) for word in words)
            return self.fill(self._unused(symbol, found) if symbol in _DATED else self.dice.choice(found), slots)
        ways = self.tongue.alternatives(f"{symbol}.{self._group}", self.plan.register) if self._group else ()
        ways = ways or self.tongue.alternatives(symbol, self.plan.register)
        if not ways:
            raise KeyError(f"the material has no {symbol!r} in register {self.plan.register!r}")
        return self.fill(self._fresh(symbol, ways), slots)

    def _fresh(self, symbol: str, ways: Sequence[Template]) -> Template:
        """One of the alternatives of a rule; if there are many, one that is new to the text."""
        return self.dice.choice(ways) if len(ways) < _MANY else self._unused(symbol, ways)

    def _unused(self, symbol: str, ways: Sequence[Template]) -> Template:
        """One of the alternatives, if possible one that is new to the text."""
        used = self._used.setdefault(symbol, set())
        way = self.dice.choice([way for way in ways if way not in used] or ways)
        used.add(way)
        return way

    def fill(self, template: Template, slots: Slots) -> str:
        """A template, completely filled in."""
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
        """The time of the next event in a text, some time after the previous one."""
        if self._moment is None:
            self._moment = _EARLIEST + timedelta(minutes=self.dice.randint(0, _MINUTES))
        self._moment += timedelta(
            minutes=self.dice.randint(1, 90) * self.dice.choice((1, 1, 1, 24)), seconds=self.dice.randint(0, 59)
        )
        return self._moment

    def _trade(self) -> Mapping[str, tuple[str, ...]]:
        """The words of the text's trade: the plan's, or any."""
        if self._topics is None:
            trades = self.tongue.trades
            name = self.plan.trade if self.plan.trade in trades else self.dice.choice(list(trades)) if trades else ""
            self._topics = trades.get(name, {})
        return self._topics

    def _property(self, name: str, default: str) -> str:
        """The value of a rule whose alternatives are settings, not words."""
        found = self.tongue.settings(name, self.plan.register)
        return self.dice.choice(found) if found else default

    # From acts to sentences

    def _sentences(self, acts: Sequence[Act]) -> list[str]:
        """The text in points: each has one request, with the sentences about it before and after."""
        case = self._property("case", "sentence")
        points: list[list[str]] = []
        for begins, text in self._utterances(acts):
            if text and (begins or not points):
                points.append([text])
            elif text:
                points[-1].append(text)
        if case == "clause":
            return [_line(text for point in points for text in point)] if points else []
        ended = [[_capitalized(_ended(text)) if case == "sentence" else _ended(text) for text in one] for one in points]
        # Only the last sentence of a text can lack its full stop.
        if ended and not self._stops():
            ended[-1][-1] = re.sub(r"\.$", "", ended[-1][-1])
        return [" ".join(sentences) for sentences in ended]

    def _utterances(self, acts: Sequence[Act]) -> Iterator[tuple[bool, str]]:
        """Each sentence or pair of sentences, and whether it begins something new."""
        number = 0
        while number < len(acts):
            act, following = acts[number], acts[number + 1] if number + 1 < len(acts) else None
            later = acts[number + 2] if number + 2 < len(acts) else None
            before = acts[number - 1] if number else None
            number += 1
            begins = not _continues(before, act, following)
            # A motive belongs to the request before it, a claim to the one after it.
            is_apart = isinstance(before, Ask) and isinstance(act, Motive)
            is_apart |= isinstance(before, Ask) and isinstance(act, Claim) and act.kind in _SAID_AFTERWARDS
            is_apart |= isinstance(following, Claim) and isinstance(later, Ask)
            link = self._link(act, following) if begins and self._has_asked else ""
            said = None if is_apart else self._pair(act, following)
            has_asked = isinstance(act, Ask | Remark | Pointer) or (said is not None and isinstance(following, Ask))
            if said is not None:
                number += 1
            elif isinstance(act, Ask):
                said = self._ask(act, is_explained=isinstance(following, Motive) or isinstance(before, Report | Claim))
            else:
                said = self._utterance(act)
            self._has_asked |= has_asked
            yield begins, link + said

    def _link(self, act: Act, following: Act | None) -> str:
        """The words that link another request to the earlier ones; usually none."""
        rule = "further" if isinstance(act, Ask) else "further.report" if isinstance(act, Report) else ""
        if not rule or (isinstance(act, Report) and not isinstance(following, Ask | Remark)):
            return ""
        ways = [way for way in self.tongue.alternatives(rule, self.plan.register) if way not in self._links]
        link = self.dice.choice(ways) if ways else ()
        if link:
            self._links.add(link)
        return self.fill(link, {})

    def _pair(self, act: Act, following: Act | None) -> str | None:
        """Two acts in one sentence, if they belong together."""
        match act, following:
            case Condition(), Ask():
                inner = {"inner": self._condition(act), "request": self._ask(following, is_explained=True)}
                return self.expand("conditional", inner)
            case Condition(), Verbatim():
                return self.expand("conditional", {"inner": self._condition(act), "request": kept(following.text)})
            case ((Motive() | Report() | Claim()), Ask()) if self.dice.random() < _SHARE_JOINED:
                reason, ask = self._utterance(act), self._ask(following, is_explained=True)
                is_joinable = not _ENDED.search(reason)
                return (
                    self._joined("reason_first", reason, ask)
                    if is_joinable
                    else f"{_ended(reason)} {_capitalized(ask)}"
                )
            case Ask(), Claim(kind=kind) if kind in _SAID_AFTERWARDS:
                return None
            case Ask(), (Motive() | Claim()) if self.dice.random() < _SHARE_JOINED:
                ask, reason = self._ask(act, is_explained=True), self._utterance(following)
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
                return self._motive(act)
            case Claim():
                return self.expand(self._claim(act), {"about": kept(self.plan.about)} if self.plan.about else {})
            case Pointer():
                rule = self._first_rule("pointer" if self._has_asked else "pointer.first", "pointer")
                return self.expand(rule, self._thing_slots(act.to))
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

    def _motive(self, act: Motive) -> str:
        """A reason, preferably one that fits both the deed and the kind of thing, otherwise one that fits the deed."""
        if act.kind == MANY:
            return self.expand(self._first_rule(f"motive.{act.sense}.{MANY}", f"motive.any.{MANY}", "motive.any"), {})
        names = (f"motive.{act.sense}.{act.kind}", f"motive.{act.sense}")
        fitting = [way for name in names for way in self.tongue.alternatives(name, self.plan.register)]
        if not fitting:
            return self.expand("motive.any", {})
        return self.fill(self._unused("motive", fitting), {})

    def _symptom(self, act: Report) -> str:
        if act.symptom:
            return self._first_rule(f"symptom.{act.symptom}", "symptom.any")
        return self._first_rule(f"symptom.{act.thing.kind}", "symptom.any")

    def _claim(self, act: Claim) -> str:
        form, _, _ = act.form.partition(".")
        return self._first_rule(f"claim.{act.kind}.{act.form}", f"claim.{act.kind}.{form}", f"claim.{act.kind}")

    def _condition(self, act: Condition) -> str:
        return self.expand(f"condition.{act.kind}", self._thing_slots(act.thing) if act.thing else {})

    def _first_rule(self, *names: str) -> str:
        return next((name for name in names if self.tongue.alternatives(name, self.plan.register)), names[-1])

    # Requests

    def _ask(self, act: Ask, *, is_explained: bool = False) -> str:
        """The request as a clause, between marks; one with a reason next to it gets no further remark."""
        if len(self.deeds) >= _MOST_ASKS:
            raise ValueError(f"a text makes at most {_MOST_ASKS} requests")
        number = len(self.deeds)
        self.deeds.append(act.deed)
        way, slots = self._way(act.deed)
        forms = {form: self.fill(read_template(text), slots) for form, text in way.items()}
        self._group = self.tongue.group_of(act.deed.sense)
        bare = dict.fromkeys(_FOLLOWING, "") if is_explained else {}
        frame = self._frame(way, act.deed, is_explained=is_explained)
        request = self.fill(frame, {**bare, **forms})
        self._group = ""
        return f"{chr(_ASK_OPEN + number)}{request}{chr(_ASK_CLOSE + number)}"

    def _account(self, act: Account) -> str:
        """A past deed, in the words of a request for it."""
        way, slots = self._way(act.deed, form="done")
        return self.expand("account", {form: self.fill(read_template(text), slots) for form, text in way.items()})

    def _way(self, deed: Deed, form: str = "") -> tuple[Way, Slots]:
        """One of the ways to word a deed in a grammatical form, for which the deed has all slots."""
        slots = {**{key: kept(value) for key, value in deed.slots.items()}, **self._thing_slots(deed.thing)}
        known = self.tongue.ways(deed.sense, deed.thing.kind)
        ways = [way for way in known if (not form or form in way) and self._is_sayable(way, slots)]
        if not ways:
            raise KeyError(f"no way to say {deed.sense!r} with {', '.join(sorted(deed.slots)) or 'no slots'}")
        return self.dice.choice(ways), slots

    def _is_sayable(self, way: Way, slots: Slots) -> bool:
        wanted = frozenset().union(*(symbols(read_template(text)) for text in way.values()))
        return all(name in slots or self.tongue.alternatives(name, self.plan.register) for name in wanted)

    def _frame(self, way: Way, deed: Deed, *, is_explained: bool) -> Template:
        """A frame for which the way has the forms, preferably one that is new to the text."""
        own = self.tongue.alternatives(f"ask.{self._group}", self.plan.register) if self._group else ()
        frames = own or self.tongue.alternatives("ask", self.plan.register)
        if not is_explained:
            frames = (*frames, *self.tongue.alternatives("ask_apart", self.plan.register))
        # If `done` is a separate clause, its verb agrees with one thing.
        missing = _FORMS - way.keys() | ({"done"} if "inf" in way and deed.thing.name is None else set())
        fitting = [frame for frame in frames if not symbols(frame) & missing]
        if is_explained:
            fitting = [frame for frame in fitting if not symbols(frame) & _EXPLAINING] or fitting
        used = self._used.setdefault("ask", set())
        frame = self.dice.choice([frame for frame in fitting if frame not in used] or fitting)
        used.add(frame)
        return frame

    def _thing_slots(self, thing: Thing) -> dict[str, str]:
        """The ways to refer to a thing: `{object}` as a whole, and its parts."""
        words = self.tongue.kinds.get(thing.kind, (thing.kind,))
        # Usually the proper word, and the same one throughout the text, because an author sticks to one word.
        if thing.kind not in self._words:
            self._words[thing.kind] = words[0] if self.dice.random() < 0.6 else self.dice.choice(words)
        word = self._words[thing.kind]
        slots = {"kind": word, "kinds": plural(word), "type": kept(thing.kind)}
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
        """The sentences with a hurried author's typos; text that a program puts around them has none."""
        number = int(self._property("slips", "0"))
        return with_slips(_BETWEEN.join(sentences), self.dice, number).split(_BETWEEN) if number else sentences

    def _laid_out(self, sentences: Sequence[str]) -> str:
        plan = self.plan
        self._points = sentences
        slots = {"body": " ".join(sentences), "lines": "\n".join(sentences), "about": kept(plan.about or "it")}
        slots["author"] = plan.author or self.expand("person", {})
        text = self.expand(self._first_rule(f"layout.{plan.channel}", "layout.any"), slots)
        if self.tongue.alternatives(f"prefix.{plan.channel}", plan.register):
            prefix = self.expand(f"prefix.{plan.channel}", {})
            text = "\n".join(f"{prefix}{line}".rstrip() for line in text.split("\n"))
        return text


def _continues(before: Act | None, act: Act, following: Act | None) -> bool:
    """Whether an act is about the same thing as the one before it."""
    match before, act:
        case Ask(), Motive():
            return True
        case Ask(), Claim():
            return act.kind in _SAID_AFTERWARDS or not isinstance(following, Ask)
        case ((Report() | Claim()), Ask()) | (Report(), Claim()):
            return True
        case ((Report() | Remark()), Remark()):
            return True
    return False


def _reference_rule(thing: Thing) -> str:
    if thing.mention is Mention.EARLIER:
        return "object_earlier"
    if thing.mention is Mention.ROLE and thing.role:
        return "object_role"
    if thing.name is None:
        whole = "object_everything" if thing.kind == EVERYTHING else "object_all"
        return f"{whole}_labelled" if thing.labels else whole
    return "object_named" if thing.kind else "object_bare"


def _line(clauses: Iterable[str]) -> str:
    """A program's message in one line, without capitals and full stops."""
    line = ""
    for clause in clauses:
        line += f"{' ' if _ENDED.search(line) else '; '}{clause}" if line else clause
    return line


def _ended(text: str) -> str:
    return text if _ENDED.search(text) else f"{text}."


def _capitalized(text: str) -> str:
    """The text with a capital, unless it begins with a name."""
    start = next((number for number, letter in enumerate(text) if not _ASK_OPEN <= ord(letter) < _ASK_CLOSE), None)
    return text if start is None else text[:start] + text[start].upper() + text[start + 1 :]


def _tidy(text: str) -> str:
    """The text without the spaces that empty branches leave behind."""
    text = re.sub(r"(?<=\S)[ ]{2,}", " ", text)
    text = re.sub(r"[ ]+(?=[,.](?:[\s\ue000-\uf8ff]|$))", "", text)
    # Text meant to follow a clause follows a question instead.
    text = re.sub(
        r"([?!][\ue000-\uf8ff]*)[,;] ([\ue000-\uf8ff]*\w)", lambda found: f"{found[1]} {found[2].upper()}", text
    )
    return re.sub(r"[ ]+(?=\n|$)", "", text).strip()


def _without_marks(text: str, deeds: Sequence[Deed]) -> RenderedText:
    """The text without marks, and the spans that were between them."""
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
