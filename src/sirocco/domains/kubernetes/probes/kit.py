"""The kit of Kubernetes for the mutation engine."""

from dataclasses import dataclass
from pathlib import Path

from sirocco.domains.kubernetes.probes import operators
from sirocco.domains.kubernetes.probes.capability.drawing import draw_capability, has_capability
from sirocco.domains.kubernetes.probes.situations.drawing import KubernetesSituations
from sirocco.domains.kubernetes.probes.situations.telling import own_material
from sirocco.domains.kubernetes.probes.terms import TERMS, terms_worded_from
from sirocco.oasis import mutation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Kit, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.language.material import Material
from sirocco.probes.mutation.discovery import in_turn, operators_of, shared_operators


@dataclass(frozen=True, slots=True)
class AllSituations:
    """Implements Situations for both classes: work by what an archetype exercises, dangers by its shape."""

    dangers: KubernetesSituations

    def has(self, archetype: Archetype) -> bool:
        """Whether something draws what the archetype exercises, or its danger."""
        return has_capability(archetype) if archetype.exercises else self.dangers.has(archetype)

    def draw(self, archetype: Archetype, dice: Dice, material: mutation.Material | None) -> ScenarioDraft | None:
        """A fresh scenario of the archetype; None where it says neither what it exercises nor what the danger is."""
        if archetype.exercises:
            return draw_capability(archetype, dice, own_material(material))
        return self.dangers.draw(archetype, dice, material)


def _kit(terms: Terms) -> Kit:
    found = in_turn((*shared_operators(terms), *operators_of(operators, terms)))
    situations = AllSituations(KubernetesSituations())
    return Kit(terms, found, str(Path(__file__).parent), _kit_worded_from, situations)


def _kit_worded_from(material: Material) -> Kit:
    return _kit(terms_worded_from(material))


KIT = _kit(TERMS)
