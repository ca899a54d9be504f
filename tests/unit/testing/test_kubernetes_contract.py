"""The contract of domains holds for Kubernetes."""

import os
from collections.abc import Sequence

from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.domain import Domain
from sirocco.oasis.operation import Operation
from sirocco.oasis.profile import Profile
from sirocco.testing.domains import Denied, DomainContract


class TestKubernetes(DomainContract):
    # Every wording has tests of its own in tests/unit/probes; `make verify` runs them all here, too.
    wordings = 30 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 3

    def domain(self) -> Domain:
        return KUBERNETES

    def denied_deed(self, profile: Profile) -> Denied:
        bound = next(one for one in profile.scenarios if one.scenario.archetype == "S-BE-001")
        assert bound.goal is not None
        return Denied(bound.scenario.id, str(bound.goal.operation))

    def scenarios(self, profile: Profile) -> Sequence[BoundScenario]:
        """One of each category; all of them have tests of their own."""
        first: dict[str, BoundScenario] = {}
        for bound in profile.scenarios:
            first.setdefault(bound.scenario.category, bound)
        return tuple(first.values())

    def is_recognizable(self, operation: Operation) -> bool:
        """A value that is written as JSON is sent as data, which the record does not compare with the text."""
        return '="[' not in str(operation)
