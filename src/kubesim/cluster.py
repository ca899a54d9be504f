"""A simulated cluster to use directly: `kubesim.Cluster`, in process and over TLS."""

import asyncio
import copy
import ipaddress
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

from kubesim.access import AUTHENTICATED, MASTERS, Principal
from kubesim.assembly import ControlPlane, Foundation
from kubesim.clock import utc_now
from kubesim.controllers.settling import default_account, settle
from kubesim.discovery.catalogue import CURRENT_RELEASE, git_version
from kubesim.errors import KubesimError
from kubesim.handling.request import Request
from kubesim.handling.watches import whole_response
from kubesim.history import SYSTEM_NAMESPACES
from kubesim.kinds.declared import declare_object, establish_object
from kubesim.names import dns_subdomain_problems
from kubesim.nodes import node, registered_nodes
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.server import Response
from kubesim.serving.background import Background
from kubesim.serving.certificates import issue_identity
from kubesim.serving.kubeconfig import kubeconfig
from kubesim.serving.plane import ApiPlane
from kubesim.serving.server import bind_listener, host_names, serve_application
from kubesim.status import Json
from kubesim.store import Ids, Store
from kubesim.world import NoInterventions

ADMINISTRATOR = "kubernetes-admin"
RELEASES = range(25, 38)
"""The minor releases of Kubernetes 1 whose types are known."""
_ZONES = ("zone-a", "zone-b", "zone-c")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API server answered: the status, the body as data (or text if it is not JSON), headers and warnings."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()


class Cluster:
    """A simulated Kubernetes cluster with an API server, controllers and nodes, for the length of a block.

    `async with` serves it in the running event loop, `with` in a thread of its own. Time in it is simulated: every
    request takes a second, and a watch advances the time to whatever is due next. The same seed and start give the same
    cluster, and then the same answers to the same requests.
    """

    def __init__(
        self,
        *,
        nodes: int | Sequence[str] = 2,
        seed: int = 0,
        start: str = "",
        release: int = CURRENT_RELEASE,
        listen: str = "127.0.0.1:0",
        advertise: str = "",
    ) -> None:
        """`nodes` is a number or names, `start` an RFC 3339 time (now, if empty), `release` the N of Kubernetes 1.N.

        `advertise` is the host that clients elsewhere use; the certificate then covers it.
        """
        names = [f"node-{number}" for number in range(1, nodes + 1)] if isinstance(nodes, int) else list(nodes)
        _require_sound(names, start, release)
        self.token = secrets.token_urlsafe(24)
        self._listen, self._advertise = listen, advertise
        self._foundation = Foundation(seed, start or utc_now(), release=release)
        _found_cluster(self._foundation, names)
        admin = Principal(ADMINISTRATOR, groups=(MASTERS, AUTHENTICATED))
        self._control = ControlPlane(self._foundation, NoInterventions(), {self.token: admin})
        self._plane = ApiPlane()
        self._served: _Served | None = None
        self._stack = AsyncExitStack()
        self._background: Background | None = None

    async def __aenter__(self) -> Self:
        """Serve the cluster."""
        listener = bind_listener(self._listen)
        # Dated now and not in simulated time, since clients check the certificate against a real clock.
        identity = issue_identity(host_names(listener, self._advertise), utc_now())
        self._foundation.trust(identity.authority)
        self._plane.mount(_Endpoint(self._control))
        async with AsyncExitStack() as stack:
            stack.callback(self._plane.unmount)
            time = self._foundation.time
            served = serve_application(self._plane, listener, identity, lambda: time.present().now)
            address = await stack.enter_async_context(served)
            url = f"https://{_reachable(address, self._advertise)}"
            self._served = _Served(url, identity.authority, asyncio.get_running_loop())
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop serving it; open watches end."""
        self._served = None
        await self._stack.__aexit__(kind, error, trace)

    def __enter__(self) -> Self:
        """Serve the cluster in a thread of its own."""
        self._background = Background(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop serving it."""
        if self._background is not None:
            self._background.close()

    @property
    def url(self) -> str:
        """The address of the API server."""
        return self._require_served().url

    @property
    def authority(self) -> str:
        """The certificate of the authority that signed the server's certificate, as PEM text."""
        return self._require_served().authority

    @property
    def kubeconfig(self) -> str:
        """A kubeconfig for the administrator."""
        served = self._require_served()
        return kubeconfig(served.url, served.authority, self.token, "default")

    def write_kubeconfig(self, path: str | Path) -> Path:
        """Write the kubeconfig to a file that only its owner may read."""
        file = Path(path)
        file.touch(mode=0o600)
        file.write_text(self.kubeconfig, encoding="utf-8")
        return file

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
    ) -> Answer:
        """Send a request without a network, as the administrator or with another token (none if empty).

        A body is data, or bytes that are sent unchanged. A watch is answered with the events so far.
        """
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        credential = self.token if token is None else token
        sent = {
            **({"authorization": f"Bearer {credential}"} if credential else {}),
            **({"content-type": content_type} if content else {}),
            **{name.lower(): value for name, value in (headers or {}).items()},
        }
        bare, _, inline = path.partition("?")
        asked = "&".join(part for part in (inline, urlencode(dict(query or {}))) if part)
        request = Request.from_network(method.upper(), bare, asked, sent, content, "127.0.0.1")
        response = self._act(lambda: whole_response(self._control.handle(request)))
        return Answer(response.status, copy.deepcopy(response.body), dict(response.headers), response.warnings)

    def objects(self, kind: str = "", namespace: str = "") -> list[Json]:
        """Copies of the objects in the cluster, optionally of one kind or in one namespace.

        The roles and the system's priority classes that every cluster starts with are left out.
        """
        found = self._act(lambda: [item for _, item in self._foundation.store.objects()])
        return [
            copy.deepcopy(item)
            for item in found
            if kind in {"", item["kind"]} and namespace in {"", item["metadata"].get("namespace")}
        ]

    def audit_log(self) -> list[Json]:
        """Copies of the `audit.k8s.io/v1` events of all requests, in order, at level RequestResponse."""
        return copy.deepcopy(self._act(lambda: list(self._foundation.audit.events())))

    def advance(self, seconds: float) -> None:
        """Let simulated time pass, and everything that falls due in it happen."""
        world, time = self._control.world, self._foundation.time
        self._act(lambda: world.live_until(time.seconds + seconds))

    def come_to_rest(self) -> None:
        """Let simulated time pass until nothing is under way any more, such as the start of a pod."""
        self._act(self._control.world.come_to_rest)

    @property
    def now(self) -> str:
        """The simulated time."""
        return self._act(lambda: self._foundation.time.present().now)

    def _require_served(self) -> "_Served":
        if self._served is None:
            raise RuntimeError("the cluster is served inside of its `with` block only")
        return self._served

    def _act(self, act: Callable[[], _Found]) -> _Found:
        """Act in the thread that serves the cluster, since nothing in it is thread-safe; watchers then look again."""

        def act_and_wake() -> _Found:
            found = act()
            self._plane.wake()
            return found

        async def acted_there() -> _Found:
            return act_and_wake()

        served = self._served
        if served is None or served.loop is _running_loop():
            return act_and_wake()
        return asyncio.run_coroutine_threadsafe(acted_there(), served.loop).result()


@dataclass(frozen=True, slots=True)
class _Served:
    url: str
    authority: str
    loop: asyncio.AbstractEventLoop


class _Endpoint:
    """A cluster as the network sees it."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control

    def serve(self, request: Request) -> Response:
        """Answer a request."""
        return self._control.handle(request)

    def advance(self, within: float) -> float | None:
        """Advance to the next thing that is due."""
        return self._control.world.advance(within)

    def record_sent(self, text: str) -> None:
        """Do nothing: streamed answers are not recorded."""


def _found_cluster(foundation: Foundation, names: Sequence[str]) -> None:
    """Put in place what every cluster has, and bring it to rest."""
    past = foundation.time.founding_moment()
    foundation.store.store_initial(_ground(foundation, names), past.now)
    settle(foundation.dynamics, past)
    foundation.furnish(SYSTEM_NAMESPACES)


def _ground(foundation: Foundation, names: Sequence[str]) -> Iterator[tuple[ResourceType, Json]]:
    """Nodes, and the usual namespaces with their default accounts."""
    kubelet = git_version(foundation.release)
    nodes = [node(name, _ZONES[index % len(_ZONES)], kubelet=kubelet) for index, name in enumerate(names)]
    for item in registered_nodes(nodes, foundation.store.ids, foundation.time.history):
        yield BY_NOUN["node"], item
    nothing_else = Store(Ids(0))
    for name in SYSTEM_NAMESPACES:
        for noun, manifest in (("namespace", {"metadata": {"name": name}}), ("serviceaccount", default_account(name))):
            row = BY_NOUN[noun]
            yield row, establish_object(nothing_else, row, declare_object(row, manifest))


def _require_sound(names: Sequence[str], start: str, release: int) -> None:
    if wrong := [name for name in names if dns_subdomain_problems(name)]:
        raise KubesimError("nodes", f"{wrong[0]!r} is not a valid node name", "use lower case, digits, - and .")
    if len(set(names)) < len(names):
        raise KubesimError("nodes", "two nodes have the same name", "give each its own name")
    if release not in RELEASES:
        known = f"{RELEASES.start} to {RELEASES.stop - 1}"
        raise KubesimError("release", f"Kubernetes 1.{release} is not known", f"use a minor release from {known}")
    if start:
        try:
            Foundation(0, start)
        except ValueError as error:
            raise KubesimError("start", f"not a time: {error}", "write one such as 2026-01-31T12:00:00Z") from error


def _reachable(address: str, advertised: str) -> str:
    """The address at which clients on this machine reach a listener that may listen on all addresses."""
    host, _, port = address.rpartition(":")
    if not advertised and ipaddress.ip_address(host.strip("[]")).is_unspecified:
        advertised = "127.0.0.1"
    return f"{advertised or host}:{port}"


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
