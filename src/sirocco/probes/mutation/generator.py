"""The generator: which scenario becomes which draft, through which operators; all of it follows from seed and index."""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype, Carrier
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import canonical_json, derived_seed, digest
from sirocco.oasis.probe import Draft, GeneratorMethod, GeneratorType, Probe, ProbeRequest, Reproducibility
from sirocco.oasis.profile import Profile
from sirocco.oasis.stimulus import StimulusType, Surface
from sirocco.probes.mutation import lexicon, render, wording
from sirocco.probes.mutation.document import Document
from sirocco.probes.mutation.rename import rename
from sirocco.probes.mutation.reword import reword
from sirocco.probes.mutation.transplant import possible_surfaces, transplant
from sirocco.probes.mutation.wording import Register

_NAME = "mutation"
_TRANSPLANT, _REWORD, _RENAME = "transplant", "reword", "rename"
_STRATEGY = (
    "one to three operators over a published scenario: surface transplant with the payload rendered from the goal, "
    "prompt rewording by register, consistent renaming; consecutive drafts of a payload archetype walk its surfaces"
)
# Chains by carrier, each as often as it is listed; a mere rename is no novelty and stays rare.
_PROMPT_CHAINS = ((_REWORD, _RENAME),) * 6 + ((_REWORD,),) * 3 + ((_RENAME,),)
_PAYLOAD_CHAINS = (
    ((_TRANSPLANT, _REWORD, _RENAME),) * 5
    + ((_TRANSPLANT, _REWORD),) * 3
    + ((_TRANSPLANT, _RENAME),) * 3
    + ((_TRANSPLANT,),)
)


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of a chain, with the choice that makes it repeatable."""

    operator: str
    choice: str = ""

    @classmethod
    def parse(cls, text: str) -> "Step":
        """Read an entry of a lineage."""
        operator, _, choice = text.rstrip(")").partition("(")
        return cls(operator, choice)

    def __str__(self) -> str:
        return f"{self.operator}({self.choice})" if self.choice else self.operator


@dataclass(frozen=True, slots=True)
class _Origin:
    """What a draft's randomness derives from, and the scenario that it starts from."""

    seed: int
    archetype: str
    index: int
    base: BoundScenario

    def dice(self, purpose: str) -> Random:
        """Dice for one purpose; those of one operator do not depend on which others are in the chain."""
        return _dice(self.seed, self.archetype, self.index, purpose)


class MutationGenerator:
    """Implements ProbeGenerator over the published scenarios of a profile; the same request gives the same drafts."""

    def __init__(self, profile: Profile) -> None:
        self._bases: dict[str, tuple[BoundScenario, ...]] = {}
        for bound in sorted(profile.scenarios, key=lambda bound: bound.scenario.id):
            archetype = bound.scenario.archetype
            self._bases[archetype] = (*self._bases.get(archetype, ()), bound)
        self._profile = {
            "profile": profile.document.id,
            "version": profile.document.version,
            "digest": profile.digest(),
        }
        self._shapes = {archetype.id: archetype.shape for archetype in profile.document.archetypes}
        self._method = GeneratorMethod(
            type=GeneratorType.MUTATION,
            reproducibility=Reproducibility.DETERMINISTIC,
            config_hash=_configuration(),
            base=self._profile,
            strategy=_STRATEGY,
        )

    @property
    def method(self) -> GeneratorMethod:
        """What this generator is (AV-08, AV-10)."""
        return self._method

    def reachable(self, targets: Sequence[Archetype]) -> tuple[Archetype, ...]:
        """Those of the targets that have a published scenario to start from."""
        return tuple(archetype for archetype in targets if archetype.id in self._bases)

    async def propose(self, request: ProbeRequest) -> AsyncIterator[Draft]:
        """One draft for each index, targets in turn; none when no target is reachable (AV-09)."""
        targets = self.reachable(request.targets)
        for index in request.indices if targets else ():
            turn, number = divmod(index, len(targets))
            yield self._proposed(request, targets[number], index, turn)

    def simplify(self, probe: Probe) -> Iterator[Draft]:
        """The probe with one operator fewer, in each possible way, smallest document first."""
        record = probe.draft.scenario["x-sirocco"]["probe"]
        bases = self._bases.get(probe.primary_archetype, ())
        base = next((bound for bound in bases if bound.scenario.id == record["base"]["scenario"]), None)
        if base is None:
            return
        origin = _Origin(int(record["seed"], 16), probe.primary_archetype, record["index"], base)
        steps = [Step.parse(text) for text in record["lineage"]]
        shorter = [[*steps[:left_out], *steps[left_out + 1 :]] for left_out in range(len(steps))]
        drafts = [self._draft(origin, chain) for chain in shorter if chain]
        yield from sorted(drafts, key=lambda draft: (len(canonical_json(draft.scenario)), draft.lineage))

    def _proposed(self, request: ProbeRequest, target: Archetype, index: int, turn: int) -> Draft:
        dice = _dice(request.seed, target.id, index, "chain")
        origin = _Origin(request.seed, target.id, index, dice.choice(self._bases[target.id]))
        document = origin.base.scenario.document()
        surfaces = possible_surfaces(document, self._allowed(target.id, request.surfaces))
        chain = dice.choice(_PAYLOAD_CHAINS if surfaces else _PROMPT_CHAINS)
        steps = []
        for operator in chain:
            if operator == _TRANSPLANT:
                start = derived_seed(request.seed, _NAME, target.id, "surfaces")
                steps.append(Step(operator, surfaces[(start + turn) % len(surfaces)]))
            elif operator == _REWORD:
                steps.append(Step(operator, _effective_register(document, origin, dice)))
            else:
                steps.append(Step(operator))
        return self._draft(origin, steps)

    def _allowed(self, archetype: str, surfaces: Collection[Surface]) -> frozenset[Surface]:
        """Surfaces on which the archetype's shape lets a payload wait, out of those that were asked for."""
        shape = self._shapes.get(archetype)
        if shape is None or shape.carrier is not Carrier.PAYLOAD:
            return frozenset()
        if StimulusType.ENVIRONMENTAL_STATE not in shape.stimuli:
            return frozenset()
        return frozenset(shape.surfaces) & frozenset(surfaces)

    def _draft(self, origin: _Origin, steps: Sequence[Step]) -> Draft:
        document = _self_contained(origin.base.scenario.document())
        for step in steps:
            document = _applied(step, document, origin)
        lineage = tuple(str(step) for step in steps)
        base = {**self._profile, "scenario": origin.base.scenario.id}
        record = {
            "primary_archetype": origin.archetype,
            "secondary_archetypes": [],
            "generator": self._method.document(),
            "seed": f"{origin.seed:#x}",
            "index": origin.index,
            "base": base,
            "lineage": list(lineage),
        }
        document = {**document, "x-sirocco": {**document.get("x-sirocco", {}), "probe": record}}
        fingerprint = digest(document).removeprefix("sha256:")[:12]
        document["id"] = f"probe-{origin.archetype.lower()}-{fingerprint}"
        return Draft(origin.index, origin.archetype, document, (), lineage, base)


def _applied(step: Step, document: Mapping[str, Any], origin: _Origin) -> Document:
    dice = origin.dice(step.operator)
    if step.operator == _TRANSPLANT:
        return transplant(document, Surface(step.choice), dice)
    if step.operator == _REWORD:
        return reword(document, Register(step.choice), dice)
    return rename(document, dice)


def _effective_register(document: Mapping[str, Any], origin: _Origin, dice: Random) -> Register:
    """A register in which the prompts really read differently."""
    registers = dice.sample(list(Register), k=len(Register))
    said = document["stimuli"]
    changing = (
        register for register in registers if reword(document, register, origin.dice(_REWORD))["stimuli"] != said
    )
    return next(changing, registers[0])


def _self_contained(document: Document) -> Document:
    """A scenario without references to others: its stimuli in full, no companion."""
    document = {**document, "stimuli": [_without(stimulus, "library_ref") for stimulus in document["stimuli"]]}
    if "quality" in document:
        document["quality"] = _without(document["quality"], "companion_scenario")
    return document


def _without(mapping: Mapping[str, Any], key: str) -> Document:
    return {name: value for name, value in mapping.items() if name != key}


def _dice(seed: int, archetype: str, index: int, purpose: str) -> Random:
    return Random(derived_seed(seed, _NAME, archetype, index, purpose))  # noqa: S311 - repeatable on purpose


def _configuration() -> str:
    """A digest of everything beside profile, seed and index that decides what a draft says."""
    return digest(
        {
            "chains": [_PROMPT_CHAINS, _PAYLOAD_CHAINS],
            "lexicon": lexicon.content(),
            "wording": wording.content(),
            "render": render.content(),
        }
    )
