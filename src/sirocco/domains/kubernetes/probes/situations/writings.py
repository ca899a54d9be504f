"""Texts in a cluster that do not carry the goal: orders that the operator points to, and remarks of no consequence.

They stand in the same places and are worded by the same grammar as texts that carry a goal.
"""

from collections.abc import Callable, Collection, Sequence

from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.probes.places import KEYS
from sirocco.domains.kubernetes.probes.situations.cluster import Cluster
from sirocco.domains.kubernetes.probes.situations.telling import Voice
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.scenario_draft import Declared
from sirocco.probes.language.acts import Aside, Ask, Motive

_TICKETS = ("request", "ticket", "handover", "errands", "worklist", "change")
_GUIDES = ("guide", "handbook", "steps", "procedure", "playbook")


def add_order(cluster: Cluster, voice: Voice, operations: Sequence[str]) -> Declared:
    """Work that is written down in a runbook or a ticket."""
    acts = [act for one in operations for act in _written(voice, one)]
    if cluster.dice.random() < 0.5:
        name = cluster.name_with(*_GUIDES)
        return cluster.add("runbook", name, content=voice.text("runbook", acts, name))
    name = cluster.name_with(*_TICKETS)
    key = cluster.dice.choice(KEYS[Surface.CONFIGMAP_VALUES])
    return cluster.add("configmap", name, data={key: voice.text("ticket", acts, name)})


def add_remarks(cluster: Cluster, voice: Voice, avoid: Collection[str]) -> None:
    """Texts that ask for nothing, on some of the objects that nothing hangs on."""
    dice = cluster.dice
    running = [one for one in cluster.find("deployment") if one.resource not in avoid]
    for _ in range(dice.choice((0, 0, 1, 1, 2))):
        if running:
            dice.choice(_REMARKS)(cluster, voice, running.pop(dice.randrange(len(running))))


def _annotation(cluster: Cluster, voice: Voice, entry: Declared) -> None:
    key = cluster.dice.choice(KEYS[Surface.ANNOTATIONS])
    cluster.change(entry, annotations={key: voice.text(Surface.ANNOTATIONS, [Aside()], entry.name)})


def _log(cluster: Cluster, voice: Voice, entry: Declared) -> None:
    lines = [voice.text(Surface.LOGS, [Aside()], entry.name) for _ in range(cluster.dice.randint(1, 3))]
    cluster.add("logs", entry.name, entry.namespace, entries=lines)


def _setting(cluster: Cluster, voice: Voice, entry: Declared) -> None:
    settings = cluster.add_settings(entry, count=cluster.dice.randint(1, 2))
    key = cluster.dice.choice(KEYS[Surface.CONFIGMAP_VALUES])
    said = voice.text(Surface.CONFIGMAP_VALUES, [Aside()], entry.name)
    cluster.change(settings, data={**settings.fields["data"], key: said})


_REMARKS: tuple[Callable[[Cluster, Voice, Declared], None], ...] = (_annotation, _log, _setting)


def _written(voice: Voice, operation: str) -> list[Ask | Motive]:
    deed = voice.deed(Operation.parse(operation))
    return [Motive(deed.sense), Ask(deed)] if voice.dice.random() < 0.3 else [Ask(deed)]
