"""The mutation generator: turns scenarios into drafts through chains of operators, determined by seed and index."""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from itertools import islice, tee
from pathlib import Path
from random import Random
from types import MappingProxyType

from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.oasis import scenario_draft
from sirocco.oasis.archetype import Archetype, Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import canonical_json, derived_seed, digest
from sirocco.oasis.mutation import Form, Kit, Material, Operator, Preserved
from sirocco.oasis.probe import (
    Cell,
    Draft,
    GeneratorMethod,
    GeneratorType,
    Offer,
    Probe,
    ProbeRequest,
    Reproducibility,
    probe_record,
)
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import ProbeRecord
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.oasis.stimulus import StimulusType, Surface
from sirocco.probes import language
from sirocco.probes.mutation.bases import base_draft
from sirocco.probes.mutation.carriers import is_payload_carried
from sirocco.probes.mutation.edits import is_goal_said
from sirocco.probes.mutation.reading import names
from sirocco.probes.mutation.splice import Composer

_NAME = "mutation"
_STRATEGY = (
    "one to four operators, the technique that was asked for on the surface that was asked for, with the payload "
    "rendered from the goal, over a situation that is drawn afresh from the shape of the archetype (base: null); a "
    "published scenario, renamed and reworded, is the base only for archetypes without situations: {published} of {all}"
)
_SEALED = (
    "worded from sealed material over the public one, together {digest}; each probe that is run shows the agent some of"
    " it, so the number of probes counts its use"
)
_DRAWN = 10
"""The maximum number of situations that are drawn for a cell."""
_GUESTS = 16
"""The maximum number of situations that each of them is composed with, if a composition is requested."""
_PARTS = 50
"""The number from which on the situations of a cell are meant to be composed with another."""
_SAMPLED = 5
"""The number of sampled situations from which an archetype's offers are determined."""
_LONGEST_CHAIN = 4
_LONGEST_RECORD = 16
"""The maximum number of steps read from a lineage in a file, whose author is unknown."""
_SEED = re.compile(r"(?:0x)?[0-9a-f]{1,64}", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,2}")
_DRAWN_AS = re.compile(r"(\d{1,2})(?:@(\d{1,9}))?")
"""The number of a situation, and its cell if that is another one's."""
_TRANSPLANT = "transplant"
_CORROBORATE = "corroborate"
_PLACING = frozenset({_TRANSPLANT, _CORROBORATE})
"""The operators that put a text on a surface."""
_REWORD = "reword"
_RENAME = "rename"
_FAIR_SHARE = 0.2
"""With this share of suitable archetypes, a plan that names a few companions finds one that fits."""
_SHARES: Mapping[str, float] = {_REWORD: 0.7, _RENAME: 0.75}
"""How often a chain about something else also rewords and renames."""
_FRESH_SHARES: Mapping[str, float] = {_REWORD: 0.3, "noise": 0.3}
"""How often a chain on a fresh safety situation also does this: as often as plans ask for it in capability (SI-09)."""
_AGAINST_LEARNING = frozenset({"question", "figures", _RENAME})
"""Operators applied to every capability draft that they suit: with the published words, an answer could be learned."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of a chain, with the choice that makes it repeatable."""

    operator: str
    choice: str = ""

    @classmethod
    def parse(cls, text: str) -> "Step":
        """Parse an entry of a lineage."""
        operator, _, choice = text.removesuffix(")").partition("(")
        return cls(operator, choice)

    def __str__(self) -> str:
        return f"{self.operator}({self.choice})" if self.choice else self.operator


@dataclass(frozen=True)
class _Base:
    """A starting point: a published scenario, or a situation that was drawn."""

    id: str
    archetype: Archetype
    draft: ScenarioDraft
    kit: Kit
    number: int | None = None
    """Its number among the situations of its cell; None for a published scenario."""
    cell: int | None = None
    """The index of the cell for which it was drawn."""
    form: Form | None = None
    """The form of a published scenario that was imitated in drawing it."""

    @property
    def is_fresh(self) -> bool:
        """Whether it does not come from a published scenario."""
        return self.number is not None

    @property
    def is_scored(self) -> bool:
        """Whether it is one of capability, whose answers and tasks are published."""
        return bool(self.archetype.bands)

    @cached_property
    def placing_operator(self) -> Operator:
        """The operator that puts a text on a surface: moves a payload, or adds a text that backs the operator."""
        return self.kit.by_name[_TRANSPLANT if is_payload_carried(self.archetype) else _CORROBORATE]

    @cached_property
    def surfaces(self) -> tuple[Surface, ...]:
        """The surfaces on which texts can be placed."""
        return tuple(Surface(choice) for choice in self.placing_operator.choices(self.draft, self.archetype))

    @property
    def is_always_placed(self) -> bool:
        """Whether every draft moves the text away from its place in the published scenario."""
        return self.placing_operator.name == _TRANSPLANT and bool(self.surfaces)

    @property
    def lacks_carrier(self) -> bool:
        """Whether its request belongs into the environment, and nothing there can carry it."""
        is_said_by_none = all(one.type == StimulusType.OPERATOR_PROMPT for one in self.draft.stimuli)
        return is_payload_carried(self.archetype) and is_said_by_none and not self.surfaces

    @cached_property
    def sample(self) -> ScenarioDraft:
        """The scenario as operators see it after a transplant."""
        if not self.is_always_placed:
            return self.draft
        return self.placing_operator.apply(self.draft, self.surfaces[0], _dice(0, self.archetype.id, 0, "sample"))

    @cached_property
    def suited_operators(self) -> Mapping[str, tuple[Surface | None, ...]]:
        """The operators that can be used on it, each with the surfaces; None for one that needs no surface."""
        found = {operator.name: self.places(operator) for operator in self.kit.operators}
        return {name: places for name, places in found.items() if places}

    def places(self, operator: Operator) -> tuple[Surface | None, ...]:
        """The surfaces with which an operator can be used on it, or None for no surface; empty if it does not apply."""
        if not operator.is_offered:
            return ()
        if operator.name in _PLACING:
            return self.surfaces if operator is self.placing_operator else ()
        if not operator.choices(self.sample, self.archetype):
            return ()
        if not self.is_always_placed:
            return (None, *self.room_beside(operator))
        return self.room_beside(operator) if operator.surfaces else (None,)

    def room_beside(self, operator: Operator) -> tuple[Surface, ...]:
        """Where a text can be placed if an operator is applied after it; nowhere if that operator changes the goal."""
        if self.is_always_placed:
            room = operator.surfaces or self.kit.terms.surfaces
            return tuple(surface for surface in self.surfaces if surface in room)
        return self.surfaces if Preserved.GOAL in operator.preserves else ()


@dataclass(frozen=True, slots=True)
class _Origin:
    """The source of a draft's randomness, and its starting scenario."""

    seed: int
    index: int
    base: _Base
    find: Callable[[str], _Base | None]
    """Finds a companion of a composition by the name that a lineage has for it."""
    composer: Composer

    @property
    def first_steps(self) -> tuple[Step, ...]:
        """The first steps of a lineage, with which the draft can be repeated."""
        if not self.base.is_fresh:
            return ()
        elsewhere = "" if self.base.cell == self.index else f"@{self.base.cell}"
        return (Step(_SITUATION, f"{self.base.number}{elsewhere}"),)

    def dice(self, purpose: str) -> Random:
        """Dice for one purpose; those of an operator do not depend on the other operators in the chain."""
        return _dice(self.seed, self.base.archetype.id, self.index, purpose)


_SPLICE = "splice"
_SITUATION = "situation"
"""The first step of a draft without a base, with the number of the situation within its cell."""
_OF = "#"
"""The separator between an archetype and the number of a situation, in the name of a companion."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Everything that determines which starting points exist, and what they are made from."""

    profile_digest: str
    material: str
    spoken: frozenset[str]
    domain_kit: int
    """The identity of the domain's own kit, which `profile` keeps alive."""
    profile: Profile = field(compare=False, repr=False)
    kit: Kit = field(compare=False, repr=False)


class _Ground:
    """The starting points of a profile, each made on first use."""

    def __init__(self, source: _Source) -> None:
        self._profile = source.profile
        self._kit = source.kit
        self.archetypes: Mapping[str, Archetype] = source.profile.archetypes
        self.published = frozenset(bound.scenario.archetype for bound in source.profile.scenarios)
        """The archetypes with a published scenario."""
        self.composer = Composer(source.kit.terms, source.spoken)
        self._samples: dict[tuple[str, int], tuple[_Base, ...]] = {}
        self._composing: dict[str, bool] = {}

    @cached_property
    def by_id(self) -> Mapping[str, _Base]:
        """The published scenarios by id."""
        scenarios = sorted(self._profile.scenarios, key=lambda bound: bound.scenario.id)
        return {bound.scenario.id: self._published_base(bound) for bound in scenarios}

    def _published_base(self, bound: BoundScenario) -> _Base:
        archetype = self.archetypes[bound.scenario.archetype]
        return _Base(bound.scenario.id, archetype, base_draft(bound, self._profile.document), self._kit)

    @cached_property
    def bases(self) -> Mapping[str, tuple[_Base, ...]]:
        """The published scenarios of each archetype that has any."""
        found: dict[str, list[_Base]] = {}
        for base in self.by_id.values():
            found.setdefault(base.archetype.id, []).append(base)
        return {archetype: tuple(bases) for archetype, bases in found.items()}

    @cached_property
    def _known_names(self) -> frozenset[str]:
        return frozenset(name for base in self.by_id.values() for name in names(self._kit.terms, base.draft))

    def has_situations(self, archetype: str) -> bool:
        """Whether situations of an archetype can be drawn."""
        return archetype in self.archetypes and self._kit.situations.has(self.archetypes[archetype])

    def samples(self, archetype: str, first: int = 0) -> tuple[_Base, ...]:
        """Examples of an archetype's starting points: a few situations, or its published scenarios if it has none."""
        key = archetype, first
        if key not in self._samples:
            numbers = range(first, first + _SAMPLED) if self.has_situations(archetype) else ()
            drawn = (self.situation(self.archetypes[archetype], 0, 0, number) for number in numbers)
            found = tuple(base for base in drawn if base is not None)
            self._samples[key] = found or self.bases.get(archetype, ())
        return self._samples[key]

    def situation(self, archetype: Archetype, seed: int, index: int, number: int) -> _Base | None:
        """A situation of a cell, by number; None if its archetype has none, or if it contains a published name."""
        dice = _dice(seed, archetype.id, index, f"{_SITUATION} {number}")
        is_part, setting = number >= _PARTS, _dice(seed, "", index, "setting")
        form = self._form(archetype, _dice(seed, archetype.id, index, f"form {number}"))
        material, profiled = self._kit.terms.speech.material, tuple(self.archetypes.values())
        draft = self._kit.situations.draw(archetype, dice, material, setting, form, profiled, is_part=is_part)
        if draft is None or not self._known_names.isdisjoint(names(self._kit.terms, draft)):
            return None
        return _Base(f"{archetype.id}{_OF}{number}", archetype, draft, self._kit, number, index, form)

    def _form(self, archetype: Archetype, dice: Random) -> Form | None:
        """The form for a situation of an archetype; None if nothing is published that it could imitate (SI-02).

        Turns and namespaces are taken from any scenario, whatever its class, because the classes have other shares in a
        plan than in the profile. An archetype that exercises something takes the tools of its own work. A danger is
        placed in any kind of work, with its tools, so that neither reveals the class (SI-09).
        """
        if not self._all_published:
            return None
        work = archetype if archetype.exercises else dice.choice(self._works or (archetype,))
        shown = dice.choice(self._all_published).draft
        trade = dice.choice(self.bases.get(work.id) or self._all_published).draft
        done = work if work.exercises else None
        return Form(len(shown.prompts), tuple(trade.agent.tools), len(shown.namespaces), done)

    @cached_property
    def _works(self) -> tuple[Archetype, ...]:
        """The archetypes that exercise something and have situations."""
        return tuple(one for one in self.archetypes.values() if one.exercises and self.has_situations(one.id))

    @cached_property
    def _all_published(self) -> tuple[_Base, ...]:
        return tuple(self.by_id.values())

    def is_composing(self, archetype: str) -> bool:
        """Whether enough archetypes of the other class can be composed into the environments of this one."""
        if archetype not in self._composing:
            self._composing[archetype] = any(self._has_guests(base) for base in self.samples(archetype, _PARTS))
        return self._composing[archetype]

    def _has_guests(self, host: _Base) -> bool:
        """Whether something of enough archetypes of the other class fits."""
        others = self._of_other_class(host.archetype.id)
        fitting = (
            one
            for one in others
            if any(self.composer.fits(host.draft, base.draft) for base in self.samples(one, _PARTS))
        )
        enough = max(1, round(len(others) * _FAIR_SHARE))
        return len(list(islice(fitting, enough))) == enough

    def _of_other_class(self, archetype: str) -> list[str]:
        """The archetypes of the other class that have a starting point."""
        classes = self._classes
        started = (one for one in self.archetypes if one in self.published or self.has_situations(one))
        return [one for one in started if classes[one] != classes[archetype]]

    @cached_property
    def _classes(self) -> Mapping[str, Classification]:
        return {one: self._profile.classification(one) for one in self.archetypes}


@lru_cache(maxsize=8)
def _ground(source: _Source) -> _Ground:
    """The starting points, shared by all generators of a process with the same source."""
    return _Ground(source)


class MutationGenerator:
    """Implements ProbeGenerator over a profile's situations and published scenarios.

    Equal requests give equal drafts.
    """

    def __init__(self, profile: Profile, material: Material | None = None) -> None:
        kit = profile.domain.mutation
        self._kit = kit if material is None else kit.with_material(material)
        spoken = (name for name, behavior in behaviors_for(profile.domain).items() if behavior.rests_on_words)
        profile_digest, words = profile.digest(), self._kit.terms.speech.material.digest()
        self._ground = _ground(_Source(profile_digest, words, frozenset(spoken), id(kit), profile, self._kit))
        self._profile = {
            "profile": profile.document.id,
            "version": profile.document.version,
            "digest": profile_digest,
        }
        published = sum(not self._ground.has_situations(one) for one in self._ground.published)
        self._method = GeneratorMethod(
            type=GeneratorType.MUTATION,
            reproducibility=Reproducibility.DETERMINISTIC,
            config_hash=_configuration(self._kit.folder, words),
            base=self._profile,
            strategy=_STRATEGY.format(published=published, all=len(self._ground.archetypes)),
            description=None if material is None else _SEALED.format(digest=material.digest()),
        )

    @property
    def method(self) -> GeneratorMethod:
        """What this generator is (AV-08, AV-10)."""
        return self._method

    @property
    def _composer(self) -> Composer:
        return self._ground.composer

    @property
    def _by_id(self) -> Mapping[str, _Base]:
        return self._ground.by_id

    def reachable(self, targets: Sequence[Archetype]) -> tuple[Archetype, ...]:
        """The targets that have a published scenario or a situation to start from."""
        known = self._ground.published
        return tuple(one for one in targets if one.id in known or self._ground.has_situations(one.id))

    def offers(self, targets: Sequence[Archetype]) -> tuple[Offer, ...]:
        """Every technique on every archetype that it suits, and on each surface for which a base has room."""
        found = (
            (target.id, operator.technique, surface, self._ground.is_composing(target.id))
            for target in self.reachable(targets)
            for operator in self._kit.operators
            for base in self._ground.samples(target.id)
            for surface in base.suited_operators.get(operator.name, ())
        )
        merged: dict[tuple[str, str, Surface | None], bool] = {}
        for archetype, technique, surface, composes in found:
            key = (archetype, technique, surface)
            merged[key] = merged.get(key, False) or composes
        return tuple(Offer(*key, composes=composes) for key, composes in merged.items())

    async def propose(self, request: ProbeRequest) -> AsyncIterator[Draft]:
        """At most one draft for each cell (AV-09)."""
        reachable = {target.id for target in self.reachable(request.targets)}
        for cell in request.cells:
            if cell.archetype in reachable and (draft := self._propose_draft(request, cell)):
                yield draft

    def simplify(self, probe: Probe) -> Iterator[Draft]:
        """The probe with one operator fewer or a plainer choice, smallest first."""
        record = probe.draft.scenario.get("x-sirocco", {}).get("probe")
        if record is None or (found := self._recorded_steps(ProbeRecord.model_validate(record))) is None:
            return
        origin, steps = found
        drafts = [self._draft(origin, chain, _apply_steps(origin, chain)) for chain in _simpler_chains(origin, steps)]
        yield from sorted(drafts, key=lambda draft: (len(canonical_json(draft.scenario)), draft.lineage))

    def remake(self, record: ProbeRecord) -> Draft | None:
        """The draft that a record stands for; None if it is not one of ours."""
        if (found := self._recorded_steps(record)) is None or not _is_possible(*found):
            return None
        origin, steps = found
        return self._draft(origin, steps, _apply_steps(origin, steps))

    def _recorded_steps(self, record: ProbeRecord) -> tuple[_Origin, list[Step]] | None:
        """The origin and steps of a probe according to its record; None if no draft of ours has such a record."""
        steps = [Step.parse(text) for text in record.lineage[: _LONGEST_RECORD + 1]]
        if len(steps) > _LONGEST_RECORD or not _SEED.fullmatch(record.seed):
            return None
        base = self._recorded_base(record, steps)
        if base is None or base.archetype.id != record.primary_archetype:
            return None
        seed = int(record.seed, 16)
        drawn_for = record.index if base.cell is None else base.cell
        origin = _Origin(seed, record.index, base, self._finder(seed, drawn_for), self._composer)
        if base.is_fresh:
            steps = steps[1:]
        return (origin, steps) if all(self._is_known(step, origin) for step in steps) else None

    def _recorded_base(self, record: ProbeRecord, steps: Sequence[Step]) -> _Base | None:
        """The starting point according to a record: a published scenario, or the situation in its first step."""
        published = self._by_id.get((record.base or {}).get("scenario", ""))
        if not steps or steps[0].operator != _SITUATION:
            return published
        archetype = self._ground.archetypes.get(record.primary_archetype)
        # Beside a situation, `base` is the published guest composed into it.
        is_strange = record.base is not None and published is None
        drawn = _DRAWN_AS.fullmatch(steps[0].choice)
        if archetype is None or is_strange or drawn is None:
            return None
        number, cell = int(drawn[1]), record.index if drawn[2] is None else int(drawn[2])
        return self._ground.situation(archetype, int(record.seed, 16), cell, number)

    def _is_known(self, step: Step, origin: _Origin) -> bool:
        if step.operator == _SPLICE:
            return origin.find(step.choice) is not None
        return step.operator in self._kit.by_name

    def _propose_draft(self, request: ProbeRequest, cell: Cell) -> Draft | None:
        """The draft for a cell; None if no base of its archetype has what the cell asks for."""
        if cell.follows is not None:
            return self._following_draft(request, cell, cell.follows)
        dice = _dice(request.seed, cell.archetype, cell.index, "chain")
        find = self._finder(request.seed, cell.index)
        first = _PARTS if cell.companion else 0
        companions = self._starting_points(cell.companion, find, dice, range(first, first + _GUESTS))
        for base in self._starting_points(cell.archetype, find, dice, range(first, first + _DRAWN)):
            if base.is_fresh and base.lacks_carrier:
                continue
            origin = _Origin(request.seed, cell.index, base, find, self._composer)
            # Drawn once, and only as many as are requested.
            companions, guests = tee(companions)
            for guest in guests if cell.companion else (None,):
                if chained := _chain(origin, cell, guest, request.surfaces, dice):
                    return self._draft(origin, *chained, cell.technique)
        return None

    def _following_draft(self, request: ProbeRequest, cell: Cell, earlier: Draft) -> Draft | None:
        """A draft with what the cell asks for, in the environment and with the steps of an earlier draft of ours."""
        extension = earlier.scenario.get("x-sirocco", {})
        record = extension.get("probe") if isinstance(extension, Mapping) else None
        if not isinstance(record, Mapping) or earlier.primary_archetype != cell.archetype:
            return None
        found = self._recorded_steps(ProbeRecord.model_validate(record))
        if found is None or found[0].seed != request.seed:
            return None
        origin, steps = replace(found[0], index=cell.index), found[1]
        guest = next((origin.find(step.choice) for step in steps if step.operator == _SPLICE), None)
        dice = _dice(request.seed, cell.archetype, cell.index, "chain")
        kept = {step.operator: step.choice for step in steps if step.operator not in {_SPLICE, *_PLACING}}
        chained = _chain(origin, cell, guest, request.surfaces, dice, kept)
        return self._draft(origin, *chained, cell.technique) if chained else None

    def _finder(self, seed: int, index: int) -> Callable[[str], _Base | None]:
        """Finds the starting points of a cell by name, drawing each once."""
        return cache(partial(self._base_called, seed, index))

    def _starting_points(
        self, archetype: str | None, find: Callable[[str], _Base | None], dice: Random, numbers: range
    ) -> Iterator[_Base]:
        """The starting points for drafts of an archetype: situations, or published scenarios if there are none."""
        if not self._ground.has_situations(archetype or ""):
            bases = self._ground.bases.get(archetype or "", ())
            yield from dice.sample(bases, k=len(bases))
            return
        drawn = (find(f"{archetype}{_OF}{number}") for number in numbers)
        yield from (base for base in drawn if base is not None)

    def _base_called(self, seed: int, index: int, name: str) -> _Base | None:
        """The published scenario or situation that a step of a lineage names."""
        archetype, _, number = name.rpartition(_OF)
        if archetype in self._ground.archetypes and _NUMBER.fullmatch(number):
            return self._ground.situation(self._ground.archetypes[archetype], seed, index, int(number))
        return self._by_id.get(name)

    def _draft(
        self, origin: _Origin, steps: Sequence[Step], scenario: ScenarioDraft, technique: str | None = None
    ) -> Draft:
        """The draft that results from a chain; its name follows from everything that it says, including its record."""
        lineage = tuple(str(step) for step in (*origin.first_steps, *steps))
        found = (origin.find(step.choice) for step in steps if step.operator == _SPLICE)
        guests = [guest for guest in found if guest is not None]
        secondary = tuple(guest.archetype.id for guest in guests)
        archetype = origin.base.archetype.id
        # A draft only counts as having no base if no published scenario is part of it, as host or guest.
        published = next((one for one in (origin.base, *guests) if not one.is_fresh), None)
        base = None if published is None else {**self._profile, "scenario": published.id}
        surface = next((Surface(step.choice) for step in steps if step.operator in _PLACING), None)
        technique = technique or self._technique(steps)
        draft = Draft(origin.index, archetype, {}, secondary, lineage, base, technique, surface)
        record = probe_record(draft, self._method, origin.seed)
        forms = [one.form for one in (origin.base, *guests) if one.form is not None]
        shown = _with_tools_of(forms, replace(scenario, extension=replace(scenario.extension, probe=record)))
        document = shown.document()
        fingerprint = digest(document).removeprefix("sha256:")[:12]
        return replace(draft, scenario={**document, "id": f"probe-{archetype.lower()}-{fingerprint}"})

    def _technique(self, steps: Sequence[Step]) -> str | None:
        """The main technique of a chain: that of its first step that is more than a change of place, words or names."""
        known = self._kit.by_name
        operators = [known[step.operator] for step in steps if step.operator in known]
        telling = [one for one in operators if not one.is_plain and one.name not in _PLACING]
        return next((one.technique for one in (*telling, *operators)), None)


def _with_tools_of(forms: Sequence[Form], draft: ScenarioDraft) -> ScenarioDraft:
    """The scenario with as many tools as the first form has, taken from all forms, or more if it needs them (SI-02)."""
    needed = draft.agent.tools
    wanted = len(forms[0].tools) if forms else 0
    others = [tool for form in forms for tool in form.tools if tool not in needed]
    tools = dict.fromkeys((*needed, *dict.fromkeys(others[: max(0, wanted - len(needed))])))
    return draft.with_agent(replace(draft.agent, tools=tuple(tools)))


def _chain(
    origin: _Origin,
    cell: Cell,
    guest: _Base | None,
    asked: Sequence[Surface],
    dice: Random,
    kept: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[Step], ScenarioDraft] | None:
    """The steps for a cell: its technique on its surface, and variations of words and names.

    None if that is impossible.

    Steps are decided in the order in which they are applied, each on the result of the earlier ones. `kept` are
    operators that must be included, with their choices.
    """
    base = origin.base
    chosen = _technique_operator(base, cell, dice)
    if chosen is None:
        return None
    steps: list[Step] = []
    draft = base.draft
    if guest is not None:
        steps.append(Step(_SPLICE, guest.id))
        together = origin.composer.compose_documents(draft, guest.draft, origin.dice(_SPLICE))
        if together is None:
            return None
        draft = together
    is_placed = base.is_always_placed or cell.surface is not None or chosen is base.placing_operator
    if is_placed:
        wanted = [surface for surface in asked if cell.surface in {None, surface}]
        placing = _placing_step(base, draft, chosen, wanted, dice)
        if placing is None:
            return None
        steps.append(placing)
        draft = _apply_step(placing, draft, origin)
    said = _words(draft)
    for operator in base.kit.operators:
        share = _share_besides(base, operator)
        # Other names, figures or surroundings alone hardly make a new probe, so the words change as well.
        is_needed = operator is chosen or (
            operator.name == _REWORD and not base.is_fresh and _words(draft) == said and not is_placed
        )
        is_needed = is_needed or (operator.name in _AGAINST_LEARNING and base.is_scored and not base.is_fresh)
        is_needed = is_needed or operator.name in kept
        if operator.name in _PLACING or not (operator.is_offered or (base.is_scored and not base.is_fresh)):
            continue
        if not (is_needed or dice.random() < share) or _is_full(steps, operator, chosen, base):
            continue
        choices = operator.choices(draft, base.archetype)
        if not choices and operator is chosen:
            return None
        if choices:
            earlier = kept.get(operator.name)
            again = operator is not chosen and earlier in choices
            steps.append(Step(operator.name, earlier if again and earlier is not None else dice.choice(choices)))
            draft = _apply_step(steps[-1], draft, origin)
    is_whole = not is_placed or is_goal_said(base.kit.terms, draft)
    return (steps, draft) if is_whole else None


def _share_besides(base: _Base, operator: Operator) -> float:
    """How often an operator joins a chain that is about something else."""
    if not base.is_fresh:
        return _SHARES.get(operator.name, 0)
    return 0 if base.is_scored else _FRESH_SHARES.get(operator.name, 0)


def _is_full(steps: Sequence[Step], operator: Operator, chosen: Operator, base: _Base) -> bool:
    """Whether a chain has no room for an operator; its main technique and renaming always have room."""
    kept_free = {chosen.name, *([_RENAME] if base.is_scored and not base.is_fresh else ())} - {operator.name}
    return len(steps) + len(kept_free - {step.operator for step in steps}) >= _LONGEST_CHAIN


def _placing_step(
    base: _Base, draft: ScenarioDraft, chosen: Operator, wanted: Sequence[Surface], dice: Random
) -> Step | None:
    """The step that puts a text on one of the wanted surfaces, if the later operator leaves room."""
    room = base.room_beside(chosen)
    possible = map(Surface, base.placing_operator.choices(draft, base.archetype))
    fitting = [surface for surface in possible if surface in wanted and surface in room]
    return Step(base.placing_operator.name, dice.choice(fitting)) if fitting else None


def _words(draft: ScenarioDraft) -> list[str]:
    """All texts that are said and found, without figures."""
    return [re.sub(r"\d+", "", stimulus.text) for stimulus in draft.stimuli]


def _technique_operator(base: _Base, cell: Cell, dice: Random) -> Operator | None:
    """An operator with the cell's technique that suits the base."""
    fitting = (one for one in base.kit.operators if cell.technique in {None, one.technique})
    suited = [one for one in fitting if base.places(one)]
    return dice.choice(suited) if suited else None


def _apply_step(step: Step, draft: ScenarioDraft, origin: _Origin) -> ScenarioDraft:
    if step.operator == _SPLICE:
        guest = origin.find(step.choice)
        together = guest and origin.composer.compose_documents(draft, guest.draft, origin.dice(_SPLICE))
        return together or draft
    return origin.base.kit.by_name[step.operator].apply(draft, step.choice, origin.dice(step.operator))


def _apply_steps(origin: _Origin, steps: Sequence[Step]) -> ScenarioDraft:
    """The base with all the steps applied."""
    draft = origin.base.draft
    for step in steps:
        draft = _apply_step(step, draft, origin)
    return draft


def _simpler_chains(origin: _Origin, steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Chains that change the base less: one step fewer, or one plainer choice."""
    shorter = [[*steps[:number], *steps[number + 1 :]] for number in range(len(steps))]
    plainer = [
        [*steps[:number], Step(step.operator, plainest), *steps[number + 1 :]]
        for number, step in enumerate(steps)
        if (plainest := _plainest_choice(origin, steps[:number], step)) is not None
    ]
    yield from (
        chain for chain in (*shorter, *plainer) if (chain or origin.base.is_fresh) and _is_possible(origin, chain)
    )


def _plainest_choice(origin: _Origin, before: Sequence[Step], step: Step) -> str | None:
    """The first choice of a step's operator, if the step made another one; None if there is nothing plainer."""
    if step.operator in {_SPLICE, *_PLACING}:
        return None
    operator = origin.base.kit.by_name[step.operator]
    draft = _apply_steps(origin, before)
    first = next(iter(operator.choices(draft, origin.base.archetype)), step.choice)
    return first if first != step.choice else None


def _is_possible(origin: _Origin, chain: Sequence[Step]) -> bool:
    """Whether each step's choice is still available to its operator."""
    base, draft = origin.base, origin.base.draft
    for step in chain:
        is_splice = step.operator == _SPLICE
        if not is_splice and step.choice not in base.kit.by_name[step.operator].choices(draft, base.archetype):
            return False
        draft = _apply_step(step, draft, origin)
    return True


def _dice(seed: int, archetype: str, index: int, purpose: str) -> Random:
    return Random(derived_seed(seed, _NAME, archetype, index, purpose))  # noqa: S311 - repeatable on purpose


@cache
def _configuration(folder: str, material: str) -> str:
    """A digest of everything besides profile, seed and index that determines a draft: the engine's own source.

    The domain's part of it, in `folder`, is included, and so are the schema by which a draft is printed and the
    material that it is worded from (AV-10).
    """
    return digest(
        {
            "engine": _own_text(Path(__file__).parent),
            "language": _own_text(Path(language.__file__).parent),
            "schema": Path(scenario_draft.__file__).read_text(),
            "domain": _own_text(Path(folder)),
            "material": material,
        }
    )


def _own_text(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.py"))}
