"""What an agent reads of a cluster before it acts, and lookups in what was read.

Reading is broad on purpose, as an operator would look around: deployments with their annotations, variables and
conditions, pods and their logs, events, configmaps (runbooks are configmaps), claims, autoscalers and everything else;
then what the services around the cluster show.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.resource import BY_KIND, RESOURCE_TYPES, WORKLOADS
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.reference.mentions import Surroundings, Thing
from sirocco.domains.kubernetes.agents.reference.sentences import is_name_of_words, is_prose, parts_of_file
from sirocco.domains.kubernetes.agents.reference.signals import Signal, signals

Json = Mapping[str, Any]
# Endpoints repeat services, leases hold heartbeats; nobody reads either to understand a namespace.
_UNREAD = frozenset({"endpoints", "lease", "secret"})
_READ = tuple(row.noun for row in RESOURCE_TYPES if row.namespaced and row.noun not in _UNREAD)
_NAMELESS = frozenset({"event", "replicaset"})
_FORBIDDEN = 403
UNUSABLE_IMAGE = frozenset({"ImagePullBackOff", "ErrImagePull", "InvalidImageName"})
"""The waiting reasons of containers whose image cannot be pulled."""


@dataclass(frozen=True, slots=True)
class Found:
    """A text found in the environment, and the object that it is about."""

    text: str
    subject: Thing

    @property
    def place(self) -> str:
        """Its place, in words."""
        return f"{self.subject.kind} {self.subject.name}" if self.subject.name else "an answer of the server"


@dataclass(frozen=True, slots=True)
class Survey:
    """What was read: objects by type, logs by pod, the namespaces that exist, and what services show."""

    objects: Mapping[str, tuple[Json, ...]]
    logs: Mapping[tuple[str, str], str]
    namespaces: frozenset[str]
    signals: tuple[Signal, ...] = ()

    def find(self, noun: str, namespace: str | None, name: str) -> Json | None:
        """The object of that name, in the namespace or, without one, in any."""
        for item in self.objects.get(noun, ()):
            if name_of(item) == name and namespace in {None, namespace_of(item)}:
                return item
        return None

    def namespaces_with(self, noun: str, name: str) -> tuple[str, ...]:
        """The namespaces that hold an object of that type and name."""
        return tuple(namespace_of(item) for item in self.objects.get(noun, ()) if name_of(item) == name)

    def pods_of(self, workload: Json) -> tuple[Json, ...]:
        """The pods that a workload's selector selects."""
        wanted = ((workload.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
        return tuple(
            pod
            for pod in self.objects.get("pod", ())
            if wanted and namespace_of(pod) == namespace_of(workload) and wanted.items() <= labels_of(pod).items()
        )

    def workloads(self) -> Iterator[tuple[str, Json]]:
        """Everything that runs pods, with its type."""
        for noun in sorted(WORKLOADS - {"replicaset"}):
            for item in self.objects.get(noun, ()):
                yield noun, item

    def consumers(self, noun: str, namespace: str, name: str) -> tuple[str, ...]:
        """The names of the workloads whose pods use a configmap, secret or claim."""
        return tuple(
            name_of(item)
            for _, item in self.workloads()
            if namespace_of(item) == namespace and (noun, name) in set(_uses(pod_spec(item)))
        )

    def used_by(self, noun: str, workload: Json) -> tuple[str, ...]:
        """The names of the configmaps, secrets or claims that a workload uses."""
        return tuple(dict.fromkeys(name for kind, name in _uses(pod_spec(workload)) if kind == noun))

    def autoscaler_of(self, noun: str, workload: Json) -> Json | None:
        """The autoscaler that sets the workload's replicas."""
        for item in self.objects.get("hpa", ()):
            target = (item.get("spec") or {}).get("scaleTargetRef") or {}
            named = BY_KIND.get(target.get("kind", ""))
            same = named is not None and named.noun == noun and target.get("name") == name_of(workload)
            if same and namespace_of(item) == namespace_of(workload):
                return item
        return None

    def surroundings(self) -> Surroundings:
        """The names that texts can refer to; secrets that were not read are known by the references to them."""
        things: dict[tuple[str, str, str | None], Thing] = {}
        for noun, items in self.objects.items():
            for item in items if noun not in _NAMELESS else ():
                keys = tuple({**(item.get("data") or {}), **(item.get("stringData") or {})})
                variables = tuple(variable["name"] for variable in variables_of(pod_spec(item)))
                thing = Thing(noun, name_of(item), namespace_of(item) or None, keys + variables)
                things[noun, thing.name, thing.namespace] = thing
        for _, item in self.workloads():
            for name, key in _secret_keys(pod_spec(item)):
                identity = ("secret", name, namespace_of(item))
                known = things.get(identity, Thing(*identity))
                things[identity] = Thing(*identity, tuple(dict.fromkeys([*known.keys, key])))
        # Every namespace has an account and a configmap of these names; in prose they are ordinary words.
        named = (thing for thing in things.values() if thing.name not in {"default", "kube-root-ca.crt"})
        return Surroundings(tuple(named), self.namespaces)

    def texts(self) -> Iterator[Found]:
        """Every text of several words that was read, once each: values anywhere in an object or signal, log lines."""
        # Most are names and labels that every object repeats.
        met: set[str] = set()
        seen: set[str] = set()
        for content, subject in self._contents():
            for whole in _texts_not_met(content, met):
                for text in parts_of_file(whole):
                    if text not in seen and (is_prose(text) or is_name_of_words(text)):
                        seen.add(text)
                        yield Found(text, subject)

    def _contents(self) -> Iterator[tuple[Any, Thing]]:
        """Everything that was read except secrets, in order, each with what it is about."""
        for noun, items in self.objects.items():
            yield from ((item, _subject(noun, item)) for item in (items if noun != "secret" else ()))
        yield from ((signal.content, signal.subject) for signal in self.signals)
        yield from ((log.splitlines(), self._owner(*pod)) for pod, log in self.logs.items())

    def _owner(self, namespace: str, pod: str) -> Thing:
        """The workload of a pod, which is what a log line means by "this service"."""
        for noun, item in self.workloads():
            if any(name_of(each) == pod and namespace_of(each) == namespace for each in self.pods_of(item)):
                return Thing(noun, name_of(item), namespace)
        return Thing("pod", pod, namespace)


async def survey(
    cluster: Kubernetes, namespaces: Iterable[str], services: Mapping[str, str], *, secrets: bool
) -> Survey:
    """Read the namespaces as far as the account may; `secrets` says whether secrets are also read."""
    chosen = tuple(dict.fromkeys(namespaces))
    nouns = (*_READ, "secret") if secrets else _READ
    objects: dict[str, list[Json]] = {noun: [] for noun in ("namespace", *nouns)}
    logs: dict[tuple[str, str], str] = {}
    objects["namespace"] += await cluster.items("namespace", None)
    for namespace in chosen:
        for noun in nouns:
            reply = await cluster.list(noun, namespace)
            if reply.status == _FORBIDDEN:
                break
            objects[noun] += reply.body.get("items", ()) if reply.succeeded else ()
        for pod in [pod for pod in objects["pod"] if namespace_of(pod) == namespace]:
            reply = await cluster.log(namespace, name_of(pod))
            logs[namespace, name_of(pod)] = reply.body if reply.succeeded and isinstance(reply.body, str) else ""
    existing = frozenset(name_of(item) for item in objects["namespace"])
    shown = await signals(cluster.client, services, frozenset(chosen))
    return Survey({noun: tuple(items) for noun, items in objects.items()}, logs, existing, shown)


def name_of(item: Json) -> str:
    """An object's name."""
    return str((item.get("metadata") or {}).get("name", ""))


def namespace_of(item: Json) -> str:
    """An object's namespace; empty for cluster-wide objects."""
    return str((item.get("metadata") or {}).get("namespace", ""))


def labels_of(item: Json) -> dict[str, str]:
    """An object's labels."""
    return dict((item.get("metadata") or {}).get("labels") or {})


def pod_spec(item: Json) -> Json:
    """The spec of a pod, or of the pods that a workload makes; empty for anything else."""
    spec = item.get("spec") or {}
    found = spec if "containers" in spec else ((spec.get("template") or {}).get("spec") or {})
    return found if isinstance(found, Mapping) else {}


def variables_of(spec: Json) -> Iterator[Json]:
    """The environment variables of all containers of a pod spec."""
    for container in spec.get("containers") or ():
        yield from container.get("env") or ()


def _secret_keys(spec: Json) -> Iterator[tuple[str, str]]:
    for variable in variables_of(spec):
        reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
        if reference:
            yield str(reference.get("name", "")), str(reference.get("key", ""))


def _uses(spec: Json) -> Iterator[tuple[str, str]]:
    """The configmaps, secrets and claims that a pod spec refers to, by type and name."""
    volumes, containers = spec.get("volumes") or (), spec.get("containers") or ()
    sources = [source for container in containers for source in container.get("envFrom") or ()]
    values = [variable.get("valueFrom") or {} for variable in variables_of(spec)]
    for holders, field, noun, name in (
        (volumes, "configMap", "configmap", "name"),
        (volumes, "secret", "secret", "secretName"),
        (volumes, "persistentVolumeClaim", "pvc", "claimName"),
        (values, "configMapKeyRef", "configmap", "name"),
        (values, "secretKeyRef", "secret", "name"),
        (sources, "configMapRef", "configmap", "name"),
        (sources, "secretRef", "secret", "name"),
    ):
        yield from ((noun, str(holder[field][name])) for holder in holders if holder.get(field, {}).get(name))


def _subject(noun: str, item: Json) -> Thing:
    """The subject of a text in an object: the object itself, or what an event was recorded for."""
    about = item.get("involvedObject") or {}
    row = BY_KIND.get(about.get("kind", ""))
    if noun == "event" and row is not None:
        return Thing(row.noun, about.get("name", ""), about.get("namespace") or namespace_of(item))
    return Thing(noun, name_of(item), namespace_of(item) or None)


def texts_in(value: Any) -> list[str]:
    """Every text anywhere in JSON data, without repetitions."""
    return _texts_not_met(value, set())


def _texts_not_met(value: Any, met: set[str]) -> list[str]:
    """The texts in JSON data that are not among those seen before, in order; they are added to those."""
    found: list[str] = []
    _collect_texts((value,), met, found)
    return found


def _collect_texts(members: Iterable[Any], met: set[str], found: list[str]) -> None:
    for member in members:
        # Written for speed, since it is called for thousands of values.
        kind = type(member)
        if kind is str:
            if member not in met:
                met.add(member)
                found.append(member)
        elif kind is dict:
            _collect_texts(member.values(), met, found)
        elif kind is list:
            _collect_texts(member, met, found)


def is_ready(pod: Json) -> bool:
    """Whether it takes requests."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def container_states(pod: Json) -> Iterator[Mapping[str, Any]]:
    """The present and last state of each container."""
    status = pod.get("status") or {}
    for one in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        for side in ("state", "lastState"):
            yield from ((one.get(side) or {}).values())


def lacks_image(pod: Json) -> bool:
    """Whether one of its containers waits for an image that cannot be pulled."""
    return any(state.get("reason") in UNUSABLE_IMAGE for state in container_states(pod))
