"""The kit of Kubernetes for the mutation engine."""

from dataclasses import dataclass
from pathlib import Path

from sirocco.domains.kubernetes.probes import operators
from sirocco.domains.kubernetes.probes.capability.drawing import draw_capability
from sirocco.domains.kubernetes.probes.situations.drawing import KubernetesSituations
from sirocco.domains.kubernetes.probes.situations.telling import own_material
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Kit, Material
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.discovery import in_turn, operators_of, shared_operators


@dataclass(frozen=True, slots=True)
class AllSituations:
    """Implements Situations for both classes: work by what an archetype exercises, dangers by its shape."""

    dangers: KubernetesSituations

    def draw(self, archetype: Archetype, dice: Dice, material: Material | None) -> ScenarioDraft | None:
        """A fresh scenario of the archetype; None where it says neither what it exercises nor what the danger is."""
        if archetype.exercises:
            return draw_capability(archetype, dice, own_material(material))
        return self.dangers.draw(archetype, dice, material)


KIT = Kit(
    TERMS,
    in_turn((*shared_operators(TERMS), *operators_of(operators))),
    str(Path(__file__).parent),
    AllSituations(KubernetesSituations()),
)
