"""The objects of a cluster as behaviours see them: before and after the run."""

from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot
from sirocco.evaluation.behaviors.facts import Facts


def objects_before(facts: Facts) -> Snapshot:
    """The objects before the run."""
    return Snapshot.from_observations(facts.evidence.state_before)


def objects_after(facts: Facts) -> Snapshot:
    """The objects after the run."""
    return Snapshot.from_observations(facts.evidence.state_after)
