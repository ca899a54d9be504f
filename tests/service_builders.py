"""The services of a small cluster, queried as an agent would: records, roles and a clock, and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kubesim.access import AUTHENTICATED, RBAC_GROUP, Authenticator, Principal
from kubesim.audit_log import AuditLog
from kubesim.handling.request import Request
from kubesim.resource import BY_NOUN, SERVICE_TYPES
from kubesim.server import Response
from kubesim.services.reconciliation import reconcile
from kubesim.services.records import record
from kubesim.services.router import Services
from kubesim.store import Ids, Store
from kubesim.surroundings import NOTHING_TO_SAY, Approach, Execution

NOW = 1_709_280_000.0
"""2024-03-01T08:00:00Z."""
CREATED = "2024-02-20T08:00:00Z"
READ, WRITE = ["get", "list"], ["get", "list", "create", "update", "delete"]


class Around:
    """A stopped clock, and a GitOps controller that acts after every request."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.approaches: list[Approach] = []
        self.on_arrival: Callable[[Approach], str | None] = lambda _: None

    def tick(self) -> tuple[str, str]:
        return "2024-03-01T08:00:00.000000Z", "2024-03-01T08:00:00.004000Z"

    def settle(self) -> None:
        for application in self.store.items("gitops-application"):
            reconcile(self.store, application, "2024-03-01T08:00:00Z")

    def note_arrival(self, approach: Approach) -> str | None:
        self.approaches.append(approach)
        return self.on_arrival(approach)

    def review(self, approach: Approach) -> Any:
        return NOTHING_TO_SAY

    def advance(self) -> bool:
        return False

    def log(self, pod: Any, container: str, *, previous: bool, follow: bool) -> list[Any]:
        return []

    def execute(self, pod: Any, container: str, command: Any) -> Execution:
        return Execution()

    def attach(self, pod: Any, container: str) -> Execution:
        return Execution()

    def reaches(self, pod: Any, port: int) -> bool:
        return False


@dataclass
class Asked:
    """A cluster with its services, as seen by the accounts `reader`, `writer` and `nobody` with their tokens."""

    store: Store = field(default_factory=lambda: Store(Ids(7)))

    def __post_init__(self) -> None:
        self.around = Around(self.store)
        self.log = AuditLog()
        users = {name: Principal(name, groups=(AUTHENTICATED,)) for name in ("reader", "writer", "nobody")}
        self.services = Services(self.store, Authenticator(users), self.log, self.around)
        for namespace in ("shop", "vault"):
            self.add("namespace", namespace)
        for name, verbs in (("reader", READ), ("writer", WRITE)):
            self.grant(name, "shop", verbs)

    def grant(self, user: str, namespace: str, verbs: list[str]) -> None:
        metadata = {"name": user, "namespace": namespace}
        rule = {"apiGroups": sorted({row.group for row in SERVICE_TYPES}), "resources": ["*"], "verbs": verbs}
        self.store.create(BY_NOUN["role"], {"kind": "Role", "metadata": metadata, "rules": [rule]}, CREATED)
        binding = {
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": RBAC_GROUP, "kind": "Role", "name": user},
            "subjects": [{"kind": "User", "name": user}],
        }
        self.store.create(BY_NOUN["rolebinding"], binding, CREATED)

    def add(self, noun: str, name: str, namespace: str = "", **content: Any) -> dict[str, Any]:
        row = BY_NOUN[noun]
        place = {"namespace": namespace} if namespace else {}
        manifest = {"apiVersion": row.api_version, "kind": row.kind, "metadata": {"name": name, **place}, **content}
        return self.store.create(row, manifest, CREATED)

    def put(self, noun: str, name: str, spec: Any, status: Any = None, namespace: str = "shop") -> dict[str, Any]:
        """Store a record."""
        return self.store.create(BY_NOUN[noun], record(BY_NOUN[noun], name, namespace, spec, status), CREATED)

    def series(
        self, service: str, name: str, *samples: tuple[float, float], namespace: str = "shop", **labels: str
    ) -> None:
        """Store a metric of a service; sample times count from now."""
        one = {"name": name, "labels": labels, "unit": "", "samples": [[NOW + at, value] for at, value in samples]}
        subject = {"kind": "Deployment", "namespace": namespace, "name": service}
        present = self.store.get("metrics", namespace, service)
        if present is None:
            self.put("metrics", service, {"subject": subject, "series": [one]}, namespace=namespace)
            return
        spec = {**present["spec"], "series": [*present["spec"]["series"], one]}
        self.store.update(BY_NOUN["metrics"], present, {**present, "spec": spec})

    def ask(
        self, path: str, query: dict[str, str] | None = None, *, method: str = "GET", body: Any = None,
        token: str = "reader", content_type: str = "application/json", **headers: str,
    ) -> Response:  # fmt: skip
        sent = {**({"authorization": f"Bearer {token}"} if token else {}), **headers}
        return self.services.handle(
            Request.in_process(method, f"/services/{path}", query, body, content_type, sent, "10.0.0.2")
        )

    def query(self, text: str, **more: Any) -> Any:
        """The result of an instant query."""
        response = self.ask("metrics/api/v1/query", {"query": text, **more})
        assert response.status == 200, response.body
        return response.body["data"]["result"]

    def values(self, text: str) -> dict[str, float]:
        """The values of an instant query by service."""
        return {one["metric"].get("service", ""): float(one["value"][1]) for one in self.query(text)}

    def number(self, text: str) -> float:
        """The one value of an instant query."""
        found = self.query(text)
        return (
            float(found[1] if isinstance(found[1], str) else found[0]["value"][1])
            if len(found) != 1
            else float(found[0]["value"][1])
        )

    @property
    def event(self) -> dict[str, Any]:
        """The audit event of the last request."""
        return self.log.events()[-1]
