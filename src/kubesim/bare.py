"""An API server alone: users from a file, a store with nothing but what every cluster starts with, no controllers."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kubesim.access import AUTHENTICATED, Authenticator, Principal, bootstrap_objects
from kubesim.audit_log import AuditLog
from kubesim.discovery.catalogue import RECORDED_RELEASE, catalogue
from kubesim.errors import KubesimError
from kubesim.fields import update_owners
from kubesim.handling.request import Request
from kubesim.resource import BY_NOUN
from kubesim.server import KubernetesApi, Response
from kubesim.serving.certificates import issue_identity
from kubesim.serving.plane import ApiPlane
from kubesim.serving.server import bind_listener, host_names, serve_application
from kubesim.status import Json
from kubesim.store import Ids, Store
from kubesim.surroundings import Execution, LogLine
from kubesim.types.definitions import definitions
from kubesim.world import NoInterventions

_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", "default")


class BareWorld(NoInterventions):
    """Real time, no controllers, nothing in any container."""

    def __init__(self, clock: Callable[[], str]) -> None:
        self._clock = clock

    def tick(self) -> tuple[str, str]:
        """The current time, twice."""
        now = self._clock()
        return now, now

    def settle(self) -> None:
        """No controllers act."""

    def log(self, pod: Json, container: str, *, previous: bool, follow: bool) -> Sequence[LogLine]:
        """Nothing was written."""
        del pod, container, previous, follow
        return ()

    def execute(self, pod: Json, container: str, command: Sequence[str]) -> Execution:
        """Nothing runs."""
        del pod, container, command
        return Execution()

    def attach(self, pod: Json, container: str) -> Execution:
        """Nothing runs."""
        del pod, container
        return Execution()

    def reaches(self, pod: Json, port: int) -> bool:
        """Nothing listens."""
        del pod, port
        return False


class FileAuditLog(AuditLog):
    """An audit log that also writes every event to a file, one JSON line each."""

    def __init__(self, file: TextIO) -> None:
        super().__init__()
        self._file = file

    def append(self, event: Json) -> None:
        """Record one request in the file only, since a bare server may run for a long time."""
        self._file.write(json.dumps(event, ensure_ascii=False) + "\n")


class BareEndpoint:
    """A bare server as the network sees it."""

    def __init__(self, api: KubernetesApi) -> None:
        self._api = api

    def serve(self, request: Request) -> Response:
        """Answer a request."""
        return self._api.handle(request)

    def advance(self, within: float) -> float | None:
        """Nothing is pending."""
        del within
        return None

    def record_sent(self, text: str) -> None:
        """Do nothing: answers of a bare server are not recorded."""


class User(BaseModel):
    """An account of a users file."""

    model_config = ConfigDict(frozen=True, strict=True)

    token: str = Field(min_length=1)
    username: str = Field(min_length=1)
    uid: str = ""
    groups: list[str] = []

    @property
    def principal(self) -> Principal:
        """The account as the server knows it."""
        return Principal(self.username, self.uid, (*self.groups, AUTHENTICATED))


_USERS = TypeAdapter(dict[str, User])


def read_users(path: Path) -> Mapping[str, Principal]:
    """The accounts of a users file by their tokens."""
    form = 'write JSON of the form {"name": {"token": "…", "username": "…", "uid": "…", "groups": ["…"]}}'
    try:
        users = _USERS.validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise KubesimError(path, f"not a users file: {place}: {first['msg']}", form) from error
    accounts = {user.token: user.principal for user in users.values()}
    if not accounts:
        raise KubesimError(path, "not a users file: it has no users", form)
    if len(accounts) < len(users):
        raise KubesimError(path, "two users have the same token", "give each its own token")
    return accounts


def bare_api(
    users: Mapping[str, Principal], audit: AuditLog, clock: Callable[[], str], release: int = RECORDED_RELEASE
) -> KubernetesApi:
    """A fresh API server of a release, for these users."""
    created = f"{clock()[:19]}Z"
    store = Store(Ids(0), bootstrap_objects(release, created, aggregated=False))
    for name in _NAMESPACES:
        store.create(BY_NOUN["namespace"], _namespace(name, created, release), created)
    return KubernetesApi(store, Authenticator(users), audit, BareWorld(clock), catalogue=catalogue(release))


@asynccontextmanager
async def served_bare(users: Path, listen: str, audit_file: Path, clock: Callable[[], str]) -> AsyncIterator[str]:
    """Run a bare server for the accounts of a users file and append its events to a file; yields its URL."""
    accounts = read_users(users)
    listener = bind_listener(listen)
    identity = issue_identity(host_names(listener), clock())
    plane = ApiPlane()
    with audit_file.open("a", encoding="utf-8", buffering=1) as file:
        plane.mount(BareEndpoint(bare_api(accounts, FileAuditLog(file), clock)))
        async with serve_application(plane, listener, identity, clock) as address:
            try:
                yield f"https://{address}"
            finally:
                plane.unmount()


def _namespace(name: str, created: str, release: int) -> Json:
    """A namespace as the server makes it at startup."""
    manifest = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}, "status": {"phase": "Active"}}
    types = definitions(release)
    owned = update_owners(
        types.of_kind("", "v1", "Namespace"), None, manifest, manager="kube-apiserver", api_version="v1", now=created,
        minor=release,
    )  # fmt: skip
    return {**owned, "spec": {"finalizers": ["kubernetes"]}}
