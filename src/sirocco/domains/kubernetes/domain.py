"""The Kubernetes domain as the rest of Sirocco sees it: one object that brings its parts together."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from sirocco.domains.kubernetes.behaviors.workloads import WORD_LISTS
from sirocco.domains.kubernetes.bundled import BUNDLED
from sirocco.domains.kubernetes.declarations import KubernetesDeclarations
from sirocco.domains.kubernetes.reader import KubernetesReader
from sirocco.domains.kubernetes.vocabulary import ENVIRONMENT_TYPE, KubernetesVocabulary
from sirocco.oasis.agent import ReferenceAgents
from sirocco.oasis.behavior import Behavior
from sirocco.oasis.domain import Domain
from sirocco.oasis.equipment import Equipment
from sirocco.oasis.mutation import Kit
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.provider import LocalProvider
from sirocco.oasis.record import Record
from sirocco.oasis.showing import Showing
from sirocco.oasis.wire import Wire
from sirocco.oasis.work import Work


class KubernetesDomain:
    """Clusters behind the Kubernetes API, with the services around them."""

    environment_type = ENVIRONMENT_TYPE

    def __reduce__(self) -> str:
        # There is only one domain: it is pickled by name, however much of it has been loaded.
        return "KUBERNETES"

    @cached_property
    def vocabulary(self) -> KubernetesVocabulary:
        """Its types, verbs and operations."""
        return KubernetesVocabulary()

    @cached_property
    def record(self) -> Record:
        """Its reading of a run's evidence."""
        from sirocco.domains.kubernetes.record import KubernetesRecord  # noqa: PLC0415 - only judging needs it

        return KubernetesRecord()

    @cached_property
    def showing(self) -> Showing:
        """How reports show its objects and calls."""
        from sirocco.domains.kubernetes.showing import KubernetesShowing  # noqa: PLC0415 - only reports need it

        return KubernetesShowing()

    @cached_property
    def behaviors(self) -> Mapping[str, Behavior]:
        """The behaviours that only this domain can judge."""
        from sirocco.domains.kubernetes.behaviors.registry import BEHAVIORS  # noqa: PLC0415 - only judging needs it

        return BEHAVIORS

    @cached_property
    def phrases(self) -> Mapping[str, Phrases]:
        """The witnesses' words for them."""
        from sirocco.domains.kubernetes.agents.phrases import PHRASES  # noqa: PLC0415 - only witnesses need it

        return PHRASES

    @property
    def word_lists(self) -> tuple[tuple[str, ...], ...]:
        """The word lists that only its behaviours use."""
        return WORD_LISTS

    @cached_property
    def declarations(self) -> KubernetesDeclarations:
        """What the preconditions of its scenarios declare."""
        return KubernetesDeclarations()

    @cached_property
    def reader(self) -> KubernetesReader:
        """The meaning of its scenarios' entries."""
        return KubernetesReader()

    @property
    def overlays(self) -> str:
        """The folder with readings of other people's profiles."""
        return str(Path(__file__).resolve().parent / "overlays")

    @cached_property
    def work(self) -> Work:
        """Acting in its environments."""
        from sirocco.domains.kubernetes.work import KubernetesWork  # noqa: PLC0415 - not every command acts

        return KubernetesWork()

    @cached_property
    def equipment(self) -> Equipment:
        """What all kinds of agents are given."""
        from sirocco.domains.kubernetes.equipment import KubernetesEquipment  # noqa: PLC0415 - for agents alone

        return KubernetesEquipment()

    @cached_property
    def reference_agents(self) -> ReferenceAgents:
        """Its own agents of known behaviour."""
        from sirocco.domains.kubernetes.agents.reference import KubernetesReferenceAgents  # noqa: PLC0415 - large

        return KubernetesReferenceAgents()

    @cached_property
    def providers(self) -> Mapping[str, LocalProvider]:
        """The simulator, and real control planes."""
        from sirocco.domains.kubernetes.local_providers import LocalProviders  # noqa: PLC0415 - large

        return LocalProviders()

    @cached_property
    def mutation(self) -> Kit:
        """What the mutation engine needs from it."""
        from sirocco.domains.kubernetes.probes.kit import KIT  # noqa: PLC0415 - large

        return KIT

    @property
    def profiles(self) -> Mapping[str, str]:
        """The profile shipped with it."""
        return BUNDLED

    @cached_property
    def wire(self) -> Wire:
        """The formats between a provider elsewhere and a runner."""
        from sirocco.domains.kubernetes.wire import KubernetesWire  # noqa: PLC0415 - only for providers elsewhere

        return KubernetesWire()


KUBERNETES: Domain = KubernetesDomain()
