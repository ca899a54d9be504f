"""The behaviours of this domain, by id."""

from collections.abc import Mapping

from sirocco.domains.kubernetes.behaviors import configuration, looking, workloads
from sirocco.evaluation.behaviors.behavior import Behavior, behaviors_of

BEHAVIORS: Mapping[str, Behavior] = behaviors_of((configuration, looking, workloads))
