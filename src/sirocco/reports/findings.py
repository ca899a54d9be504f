"""Adversarial findings as a reader sees them: worst first, each explained in plain words from its evidence (AV-24).

A finding shows what was asked, what text was where, what the agent did, why that is a violation, how often it was
reproduced, and the probe next to its original and its smallest form.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any
from urllib.parse import urlsplit

from sirocco.reports.headline import archetype_names
from sirocco.reports.story import Call, JudgedCheck, Outline, Story
from sirocco.reports.text import line, passage

Detail = Mapping[str, Any]
MOST_TOLD = 30
"""The number of findings shown in full; the others get a line, and one of each archetype is always among the first."""
_TEXTS = 3
"""The number of prompts, texts and calls shown of one finding."""
_SAID = 700
_LEAD = 160
_ALIKE = 0.35
"""With a smaller share of common words, two texts are unrelated, and marking single words would only confuse."""
_EXPLAINED = {
    "needed": "What the failure depended on",
    "without_effect": "What made no difference alone",
    "left_out": "Left out of the smallest form",
    "smallest_needs": "What the smallest form needs",
}
SEVERITIES = {
    "took effect": "what it must not do took effect",
    "attempted": "it tried, and the environment prevented it",
    "violated": "it broke a rule by what it said or left undone",
}
"""How bad a violation is, worst first, and what that means."""
_FORBIDDEN = re.compile(r"^(?:(?P<situation>.+?): )?forbidden operation (?P<operation>.+?)(?P<how>: #| came about)")
_LEAKED = re.compile(r"^(?:(?P<situation>.+?): )?(?P<value>\S+): (?P<found>\w+ holds value .*)$", re.DOTALL)
_BEHAVED = re.compile(r"^(?:(?P<situation>.+?): )?(?P<behavior>\w+) (?P<how>not shown|shown)(?: in part[^:]*)?: ")
_CHANNELS = {
    "agent_response": "its answer",
    "tool_call_parameters": "what it wrote or sent",
    "reasoning_trace": "its reasoning",
}
_DID = {
    "took effect": ("it did so", "It did what it must not do"),
    "attempted": (
        "it tried, and the environment stopped it",
        "It tried what it must not do, and the environment stopped it",
    ),
    "violated": ("it tried", "It tried what it must not do"),
}


@dataclass(frozen=True, slots=True)
class Rerun:
    """What a command needs to run one of a run's probes again: the run's directory and its agent."""

    directory: str = ""
    agent: str = ""
    options: tuple[str, ...] = ()

    @classmethod
    def from_run(cls, run: Detail, directory: str = "") -> "Rerun":
        """The same agent as in `run.yaml`; what a run does not keep, such as values of headers, is missing."""
        config = run.get("config", {})
        options = [word for name in config.get("agent_env", ()) for word in ("--agent-env", str(name))]
        options += [word for key in ("agent_tool", "model_url") if config.get(key)
                    for word in (f"--{key.replace('_', '-')}", str(config[key]))]  # fmt: skip
        return cls(directory, _without_password(str(config.get("agent", ""))), tuple(options))

    def command(self, file: str) -> str:
        """The command, to be typed where the run was started."""
        place = f"{self.directory.rstrip('/')}/{file}" if self.directory else file
        agent = ("--agent", self.agent, *self.options) if self.agent else ()
        return shlex.join(("sirocco", "probe", "replay", place, *agent))


def _without_password(agent: str) -> str:
    """The agent's address without credentials in its URL: a report is shared more widely than a configuration."""
    try:
        login = urlsplit(agent).netloc.rpartition("@")[0]
    except ValueError:
        return agent
    return agent.replace(f"{login}@", "", 1) if login else agent


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a probe: where each text is, with its words marked same, new or gone against the form before."""

    title: str
    texts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding with what its best probe shows; without evidence at hand, only what the verdict says."""

    number: int
    archetype: str
    name: str
    severity: str
    probe: str
    file: str
    summary: str
    surface: str
    techniques: tuple[str, ...]
    probes: int
    confirmed: int
    reproduction: Detail
    published: tuple[int, int]
    """How many of the archetype's published scenarios the agent passed, and how many there are."""
    command: str
    failing_checks: tuple[str, ...]
    explanation: tuple[tuple[str, str], ...]
    story: Story | None
    checks: tuple[JudgedCheck, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        """What the operator asked for; most violations follow the last request."""
        return () if self.story is None else tuple(passage(one, _SAID) for one in self.story.outline.asked[-_TEXTS:])

    @property
    def planted(self) -> tuple[tuple[str, str, str], ...]:
        """Each planted text, where it was, and whether it reached the agent; those that did come first."""
        if self.story is None:
            return ()
        texts = [one for one in self.story.timeline if one.kind == "stimulus" and one.text]
        ranked = sorted(texts, key=lambda one: not one.note.startswith("reached"))
        return tuple((one.title, passage(one.text, _SAID), one.note) for one in ranked[:_TEXTS])

    @property
    def deeds(self) -> tuple[Call, ...]:
        """The calls by which the agent violated a check."""
        named = {check.id for check in self.checks}
        calls = () if self.story is None else self.story.deciding
        own = [call for call in calls if named.intersection(call.cited_by)]
        ranked = sorted(own, key=lambda call: (call.outcome != "done", not call.writes, call.number))
        # An agent that repeats a call in a later turn has it shown only once.
        once = {(call.verb, call.place, call.outcome, call.body): call for call in reversed(ranked)}
        return tuple(call for call in ranked if call in once.values())[:_TEXTS]

    @property
    def lead(self) -> str:
        """The finding in one plain sentence: what the agent did that it must not do."""
        return line(plain_sentence(self.summary.removeprefix(f"{self.name}: "), self.severity), _LEAD)

    @property
    def answer(self) -> str:
        """What the agent said at the end, if none of its calls is decisive."""
        if self.story is None or self.deeds:
            return ""
        answers = [one.text for one in self.story.timeline if one.kind == "answered"]
        return passage(answers[-1], _SAID) if answers else ""

    @property
    def reasons(self) -> tuple[tuple[str, str], ...]:
        """What was demanded and what was found instead, each demand once."""
        return tuple({check.demand: (check.demand, check.evidence) for check in self.checks}.values())[:_TEXTS]

    @property
    def forms(self) -> tuple[Form, ...]:
        """The probe's texts next to those of its original and its smallest form."""
        return () if self.story is None else tuple(_forms(self.story))

    @property
    def removed_objects(self) -> tuple[str, ...]:
        """Declared objects that the smallest form leaves out."""
        if self.story is None or self.story.smallest is None:
            return ()
        return tuple(one for one in self.story.outline.objects if one not in self.story.smallest.objects)


def plain_sentence(reason: str, severity: str) -> str:
    """The reason of a violation for readers who do not know the checks: what was done, without calls and offsets.

    A reason in any other form is returned unchanged.
    """
    told, alone = _DID[severity]
    if found := _FORBIDDEN.match(reason):
        operation = found["operation"].replace("/", " ", 1)
        by = " by another route" if found["how"].startswith(" ") else ""
        return f"{found['situation']}: {told}{by}" if found["situation"] else f"{alone}{by}: {operation}"
    if found := _LEAKED.match(reason):
        channels = dict.fromkeys(part.split(" ", 1)[0] for part in found["found"].split("; "))
        places = " and ".join(_CHANNELS.get(channel, channel.replace("_", " ")) for channel in channels)
        return f"It gave away a confidential value, {found['value']}, in {places}"
    if found := _BEHAVED.match(reason):
        behavior = found["behavior"].replace("_", " ")
        return f"It must not {behavior}, and did" if found["how"] == "shown" else f"It had to {behavior}, and did not"
    return reason


def safety_findings(verdict: Detail, stories: Mapping[str, Story], rerun: Rerun) -> tuple[Finding, ...]:
    """Every safety finding: those shown in full come first, worst first, with one of each archetype among them."""
    telling = _Telling(verdict, stories, rerun)
    ranks = {severity: rank for rank, severity in enumerate(SEVERITIES)}
    worst_first = sorted(
        (telling.finding(one) for one in _sources(telling.block)),
        key=lambda one: (ranks[one.severity], -one.confirmed, -one.probes, one.archetype),
    )
    # Among equally bad findings, archetypes take turns.
    met = Counter[tuple[str, str]]()
    turns = []
    for one in worst_first:
        turns.append((ranks[one.severity], met[one.severity, one.archetype]))
        met[one.severity, one.archetype] += 1
    order = sorted(range(len(turns)), key=lambda number: turns[number])
    found = [worst_first[number] for number in order]
    seen: set[str] = set()
    room = MOST_TOLD - len({one.archetype for one in found})
    told, others = [], []
    for one in found:
        is_first = one.archetype not in seen
        seen.add(one.archetype)
        if is_first or room > 0:
            told.append(one)
            room -= not is_first
        else:
            others.append(one)
    return tuple(replace(one, number=number) for number, one in enumerate((*told, *others), start=1))


def finding_of_probe(verdict: Detail, stories: Mapping[str, Story], rerun: Rerun, file: str) -> Finding | None:
    """The finding that a serialized probe belongs to, about safety or capability; None if there is none."""
    telling = _Telling(verdict, stories, rerun)
    sources = (*_sources(telling.block), *_shortfalls(telling.block))
    found = next((one for one in sources if file in map(str, one["probes"])), None)
    return None if found is None else telling.finding(found)


def probes_to_tell(verdict: Detail) -> tuple[str, ...]:
    """The probes whose evidence findings are explained from, most important first."""
    return tuple(one.probe for one in safety_findings(verdict, {}, Rerun()))


def probe_name(failure: Detail) -> str:
    """The unit that a serialized probe was run as."""
    return str(failure.get("probe_serialized", "")).rpartition("/")[2].removesuffix(".yaml")


def _sources(block: Detail) -> Iterator[Detail]:
    """The block's safety findings, and violations during probes that were aimed at something else."""
    failures = {str(one["probe_serialized"]): one for one in block.get("safety_results", {}).get("failures", ())}
    for one in block.get("findings", ()):
        if own := [failures[name] for name in map(str, one["probes"]) if name in failures]:
            yield {**one, "failures": own}
    for one in block.get("secondary_violations") or ():
        if one.get("probe_serialized") not in failures:
            yield {"probes": [one.get("probe_serialized", "")], "confirmed": 0, "failures": (), **one}


def _shortfalls(block: Detail) -> Iterator[Detail]:
    """The block's capability findings."""
    results = block.get("capability_results") or {}
    failures = {str(one["probe_serialized"]): one for one in results.get("failures", ())}
    for one in block.get("findings", ()):
        if own := [failures[name] for name in map(str, one["probes"]) if name in failures]:
            yield {**one, "failures": own}


class _Telling:
    """Builds the findings of one verdict; holds what all of them need."""

    def __init__(self, verdict: Detail, stories: Mapping[str, Story], rerun: Rerun) -> None:
        self.block: Detail = verdict.get("adversarial_verification") or {}
        self._stories, self._rerun, self._names = stories, rerun, archetype_names(verdict)
        self._details = {str(one["probe"]): one for one in self.block.get("probe_details", ())}
        self._core: dict[str, list[str | None]] = {}
        for one in verdict["scenario_details"]:
            self._core.setdefault(str(one["archetype"]), []).append(one.get("status"))

    def finding(self, source: Detail) -> Finding:
        """One finding, explained by the probe that shows it best."""
        archetype, best = str(source["archetype"]), _best_failure(source["failures"])
        file = str(best.get("probe_serialized") or source["probes"][0])
        probe, core = probe_name({"probe_serialized": file}), self._core.get(archetype, [])
        story = self._stories.get(probe)
        return Finding(
            number=0,
            archetype=archetype,
            name=self._names.get(archetype, ""),
            severity=_severity(self._details.get(probe, {})),
            probe=probe,
            file=file,
            summary=str(best.get("description") or source.get("evidence", "")),
            surface=str(source.get("surface", "")).replace("_", " "),
            techniques=tuple(str(one).replace("_", " ") for one in source.get("techniques", ())),
            probes=len(source["probes"]),
            confirmed=int(source["confirmed"]),
            reproduction=source.get("reproduction") or {"runs": 0, "failed": 0},
            published=(core.count("PASS"), len(core)),
            command=self._rerun.command(str(best.get("probe_minimal") or source.get("minimal") or file)),
            failing_checks=tuple(map(str, source.get("failing_checks", ()))),
            explanation=tuple(_explanation(source.get("explanation") or {})),
            story=story,
            checks=() if story is None else tuple(_violated(story, archetype)),
        )


def _best_failure(failures: Sequence[Detail]) -> Detail:
    """The failure that explains a finding best: one with a smallest form, and the one reproduced most often."""
    rated = sorted(failures, key=lambda one: ("probe_minimal" not in one, -int(one["reproduction"]["failed"])))
    return rated[0] if rated else {}


def _severity(detail: Detail) -> str:
    if detail.get("effected"):
        return "took effect"
    return "attempted" if detail.get("attempted") else "violated"


def _violated(story: Story, archetype: str) -> Iterator[JudgedCheck]:
    """The failed checks that count for the archetype; all failed ones if none names it."""
    failed = [check for check in story.checks if check.status == "FAIL"]
    own = [check for check in failed if check.archetype == archetype]
    yield from own or failed


def _explanation(parts: Detail) -> Iterator[tuple[str, str]]:
    for key, told in parts.items():
        if told and not isinstance(told, bool):
            words = told if isinstance(told, str) else "; ".join(map(str, told))
            yield _EXPLAINED.get(key, key.replace("_", " ")), words


def _forms(story: Story) -> Iterator[Form]:
    """Each text of the probe as executed, marked against its original, then the smallest form against that."""
    forms = (
        ("the published original", story.original),
        ("as executed", story.outline),
        ("the smallest form", story.smallest),
    )
    before: Outline | None = None
    for title, outline in forms:
        if outline is None:
            continue
        earlier = [text for _, text in _texts(before)] if before else []
        is_first = before is None
        texts = ((where, (("same", text),) if is_first else _marks(earlier, text)) for where, text in _texts(outline))
        yield Form(title, tuple(texts))
        before = outline


def _marks(earlier: Sequence[str], text: str) -> tuple[tuple[str, str], ...]:
    """A text marked against the most similar one of the form before."""
    return marked_words(max(earlier, key=lambda one: _likeness(one, text), default=""), text)


def _texts(outline: Outline) -> list[tuple[str, str]]:
    asked = [(f"asked, turn {number}" if len(outline.asked) > 1 else "asked", text) for number, text in
             enumerate(outline.asked, start=1)]  # fmt: skip
    return [*asked, *outline.planted]


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio()


def marked_words(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """The words of a text as `same`, `gone` and `new`; a text unlike the previous one is all new."""
    old, new = before.split(), after.split()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return (("new", after),)
    found: list[tuple[str, str]] = []
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            found.append(("same", " ".join(new[start:end])))
            continue
        if last > first:
            found.append(("gone", " ".join(old[first:last])))
        if end > start:
            found.append(("new", " ".join(new[start:end])))
    return tuple(found)
