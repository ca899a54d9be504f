"""The Kubernetes API of one environment: a request goes through authentication, rights, the store and the audit log."""

from dataclasses import dataclass, replace
from typing import Any

from sirocco.oasis.resource import BY_KIND, REPLICATED, ResourceType
from sirocco.providers.simulator.kubernetes.audit_log import AuditLog, audit_event
from sirocco.providers.simulator.kubernetes.authorization import (
    AUTHENTICATED,
    Accounts,
    Attributes,
    Decision,
    Principal,
    decide,
    forbidden,
)
from sirocco.providers.simulator.kubernetes.cluster import (
    BACKGROUND,
    ORPHAN,
    Cluster,
    is_being_deleted,
    next_state,
)
from sirocco.providers.simulator.kubernetes.kinds import (
    WITH_STATUS,
    admitted,
    container_names,
    decoded,
    defaulted,
    require_valid,
)
from sirocco.providers.simulator.kubernetes.options import (
    deletion_options,
    integer,
    is_dry_run,
    mapping,
    recorded_options,
    require_json,
    require_patch,
    require_preconditions,
    require_version,
)
from sirocco.providers.simulator.kubernetes.patches import APPLY_PATCH, patched, refused_apply
from sirocco.providers.simulator.kubernetes.request import Call, Request, understood
from sirocco.providers.simulator.kubernetes.selectors import field_selector, label_selector
from sirocco.providers.simulator.kubernetes.status import (
    ApiError,
    Cause,
    Json,
    already_exists,
    bad_request,
    created,
    invalid,
    method_not_allowed,
    namespace_terminating,
    no_such_resource,
    not_found,
    success,
    unauthorized,
)
from sirocco.providers.simulator.kubernetes.surroundings import Surroundings

_RETURNED_WHEN_DELETED = frozenset({"pod", "serviceaccount", "pvc"})
_POD_STREAMS = frozenset({"exec", "attach", "portforward"})
_PROTECTED_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})
_DEFAULT_GRACE = 30


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: JSON data, text for logs, or one entry per line for a watch."""

    status: int
    body: Any


@dataclass(slots=True)
class _Exchange:
    """A request on its way through the server; what is known so far goes into the audit event."""

    request: Request
    call: Call
    received: str
    completed: str
    principal: Principal | None = None
    impersonated: str | None = None
    decision: Decision | None = None
    recorded_body: Any = None

    @property
    def row(self) -> ResourceType:
        """The type that the call is about; raise 404 when the API serves no such resource."""
        row = self.call.row
        if row is None:
            raise no_such_resource()
        return row

    @property
    def dry_run(self) -> bool:
        """Whether the call must change nothing."""
        return is_dry_run(self.request, self.call.verb)


class KubernetesApi:
    """Serves one cluster; what is around it gives the time, acts on what changed, and runs the containers."""

    def __init__(
        self,
        cluster: Cluster,
        accounts: Accounts,
        audit: AuditLog,
        surroundings: Surroundings,
    ) -> None:
        self._cluster = cluster
        self._accounts = accounts
        self._audit = audit
        self._surroundings = surroundings

    def handle(self, request: Request) -> Response:
        """Answer one request and record it; a refusal is an answer."""
        received, completed = self._surroundings.tick()
        exchange = _Exchange(request, understood(request), received, completed, recorded_body=request.body)
        try:
            self._admit(exchange)
            response = self._serve(exchange)
        except ApiError as refusal:
            response = Response(refusal.code, refusal.body)
        self._record(exchange, response)
        self._surroundings.settle()
        return response

    def _admit(self, exchange: _Exchange) -> None:
        """Authenticate, resolve impersonation and check rights; raise 401 or 403."""
        headers = exchange.request.headers
        exchange.principal = self._accounts.authenticate(headers.get("authorization"))
        if exchange.principal is None:
            raise unauthorized()
        acting = exchange.principal
        exchange.impersonated = headers.get("impersonate-user")
        if exchange.impersonated:
            acting = self._impersonated(exchange, exchange.principal, exchange.impersonated)
        asked = exchange.call.attributes
        exchange.decision = decide(self._cluster, acting, asked)
        if not exchange.decision.allowed:
            raise forbidden(acting, asked)

    def _impersonated(self, exchange: _Exchange, principal: Principal, username: str) -> Principal:
        """The account that the request wants to act as, when the caller may; raise 403 otherwise."""
        asked = Attributes("impersonate", resource="users", name=username)
        if username.startswith("system:serviceaccount:") and username.count(":") == 3:
            namespace, name = username.split(":")[2:]
            asked = Attributes("impersonate", resource="serviceaccounts", namespace=namespace, name=name)
        group = exchange.request.headers.get("impersonate-group")
        wanted = [asked, *([Attributes("impersonate", resource="groups", name=group)] if group else ())]
        for attributes in wanted:
            exchange.decision = decide(self._cluster, principal, attributes)
            if not exchange.decision.allowed:
                raise forbidden(principal, attributes)
        return Principal(username, "", (*([group] if group else ()), AUTHENTICATED))

    def _record(self, exchange: _Exchange, response: Response) -> None:
        denied = exchange.decision is None or not exchange.decision.allowed
        self._audit.append(
            audit_event(
                audit_id=self._cluster.ids.uid(),
                verb=exchange.call.verb,
                uri=exchange.request.uri,
                principal=exchange.principal,
                impersonated=exchange.impersonated,
                source=exchange.request.source,
                user_agent=exchange.request.headers.get("user-agent", ""),
                reference=exchange.call.reference(None if denied else exchange.request.body),
                decision=exchange.decision,
                request_object=exchange.recorded_body,
                status=response.status,
                response_object=response.body,
                received=exchange.received,
                completed=exchange.completed,
            )
        )

    def _serve(self, exchange: _Exchange) -> Response:
        call = exchange.call
        if not call.is_resource:
            return _serve_path(call)
        if (call.group, call.resource) == ("authorization.k8s.io", "selfsubjectaccessreviews"):
            return self._review_access(exchange)
        row = exchange.row
        if call.namespace and not row.namespaced and row.noun != "namespace":
            raise no_such_resource()
        if row.namespaced and not call.namespace and call.verb not in {"list", "watch"}:
            raise no_such_resource() if call.name else method_not_allowed()
        if call.subresource:
            return self._serve_subresource(exchange)
        if call.verb in {"list", "watch", "deletecollection"}:
            return self._serve_collection(exchange)
        handlers = {"get": self._get, "create": self._create, "update": self._update, "patch": self._patch,
                    "delete": self._delete}  # fmt: skip
        has_name = bool(call.name)
        if call.verb not in handlers or has_name is (call.verb == "create"):
            raise method_not_allowed()
        return handlers[call.verb](exchange)

    def _serve_collection(self, exchange: _Exchange) -> Response:
        row, call = exchange.row, exchange.call
        chosen = self._chosen(exchange)
        if call.verb == "watch":
            return Response(200, [{"type": "ADDED", "object": item} for item in chosen])
        if call.verb == "deletecollection":
            options = deletion_options(exchange.request)
            exchange.recorded_body = recorded_options(row, exchange.request)
            for item in chosen if not exchange.dry_run else ():
                self._delete_one(row, item, exchange, options)
        return Response(200, _list(row, chosen, self._cluster.version))

    def _chosen(self, exchange: _Exchange) -> list[Json]:
        """The objects of a collection that the request's selectors choose."""
        request, row = exchange.request, exchange.row
        for name in ("limit", "timeoutSeconds"):
            integer(request.parameter(name))
        labels = label_selector(request.parameter("labelSelector") or "")
        fields = field_selector(row.noun, request.parameter("fieldSelector") or "")
        namespace = exchange.call.namespace or None
        return [item for item in self._cluster.items(row.noun, namespace if row.namespaced else None)
                if labels(item) and fields(item)]  # fmt: skip

    def _found(self, exchange: _Exchange, subresource: str = "") -> Json:
        row, call = exchange.row, exchange.call
        found = self._cluster.get(row.noun, call.namespace if row.namespaced else "", call.name)
        if found is None:
            raise not_found(row, call.name, subresource)
        return found

    def _get(self, exchange: _Exchange) -> Response:
        return Response(200, self._found(exchange))

    def _create(self, exchange: _Exchange) -> Response:
        row, call = exchange.row, exchange.call
        require_json(exchange.request)
        manifest = defaulted(row, decoded(row, exchange.request.body))
        exchange.recorded_body = _recorded(manifest)
        metadata = dict(manifest["metadata"])
        if row.namespaced:
            if metadata.setdefault("namespace", call.namespace) != call.namespace:
                raise bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request"
                )
        else:
            metadata.pop("namespace", None)
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"] + self._cluster.ids.suffix()
        manifest = {**manifest, "metadata": metadata}
        self._require_place(row, call.namespace, metadata.get("name", ""))
        require_valid(row, manifest)
        if self._cluster.get(row.noun, call.namespace if row.namespaced else "", metadata["name"]) is not None:
            raise already_exists(row, metadata["name"])
        obj = self._cluster.born(row, admitted(row, _without_status(row, manifest)), _seconds(exchange.received))
        return Response(201, obj if exchange.dry_run else self._cluster.put(row, obj))

    def _require_place(self, row: ResourceType, namespace: str, name: str) -> None:
        """Raise when a namespaced object cannot be created for lack of a living namespace."""
        if not row.namespaced:
            return
        found = self._cluster.get("namespace", "", namespace)
        if found is None:
            raise not_found(BY_KIND["Namespace"], namespace)
        if is_being_deleted(found):
            raise namespace_terminating(row, name, namespace)

    def _update(self, exchange: _Exchange) -> Response:
        row, call = exchange.row, exchange.call
        require_json(exchange.request)
        manifest = defaulted(row, decoded(row, exchange.request.body))
        exchange.recorded_body = _recorded(manifest)
        given = manifest["metadata"].get("name", "")
        if given != call.name:
            raise bad_request(f"the name of the object ({given}) does not match the name on the URL ({call.name})")
        old = self._found(exchange)
        return self._replace(exchange, old, manifest)

    def _patch(self, exchange: _Exchange) -> Response:
        row, request = exchange.row, exchange.request
        patch = require_patch(request)
        if request.content_type == APPLY_PATCH:
            if refusal := refused_apply(row.api_version, patch):
                raise refusal
            if (
                self._cluster.get(row.noun, exchange.call.namespace if row.namespaced else "", exchange.call.name)
                is None
            ):
                named = {**patch, "metadata": {**mapping(patch.get("metadata")), "name": exchange.call.name}}
                exchange.request = replace(request, body=named, content_type="application/json")
                return self._create(exchange)
        old = self._found(exchange)
        new = patched(request.content_type, old, patch)
        uid = mapping(new.get("metadata")).get("uid")
        if uid not in (None, old["metadata"]["uid"]):
            text = f'Invalid value: "{uid}": field is immutable'
            raise invalid(row.kind, row.group, exchange.call.name, [Cause("FieldValueInvalid", text, "metadata.uid")])
        return self._replace(exchange, old, defaulted(row, decoded(row, new)))

    def _replace(self, exchange: _Exchange, old: Json, new: Json) -> Response:
        """Store `new` in the place of `old` when its preconditions hold and it is valid."""
        row = exchange.row
        name, metadata = old["metadata"]["name"], new["metadata"]
        require_version(row, old, metadata)
        if metadata.get("name", name) != name:
            raise bad_request(
                f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
            )
        if metadata.get("namespace", exchange.call.namespace) != old["metadata"].get(
            "namespace", exchange.call.namespace
        ):
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        if row.noun in WITH_STATUS:
            new = {**_without_status(row, new), **({"status": old["status"]} if "status" in old else {})}
        require_valid(row, new, old)
        changed = next_state(row, old, new)
        return Response(200, changed if exchange.dry_run or changed is old else self._cluster.put(row, changed))

    def _delete(self, exchange: _Exchange) -> Response:
        row = exchange.row
        options = deletion_options(exchange.request)
        exchange.recorded_body = recorded_options(row, exchange.request)
        found = self._found(exchange)
        if row.noun == "namespace" and exchange.call.name in _PROTECTED_NAMESPACES:
            text = f'namespaces "{exchange.call.name}" is forbidden: this namespace may not be deleted'
            raise ApiError(403, "Forbidden", text, {"name": exchange.call.name, "kind": "namespaces"})
        require_preconditions(row, found, options)
        left = None if exchange.dry_run else self._delete_one(row, found, exchange, options)
        if left is not None:
            return Response(200, left)
        if row.noun in _RETURNED_WHEN_DELETED:
            return Response(200, found)
        return Response(200, success(row, found["metadata"]["name"], found["metadata"]["uid"]))

    def _delete_one(self, row: ResourceType, obj: Json, exchange: _Exchange, options: Json) -> Json | None:
        grace = 0
        if row.noun == "pod" and obj["spec"].get("nodeName"):
            asked = options.get("gracePeriodSeconds")
            grace = (
                asked if isinstance(asked, int) else obj["spec"].get("terminationGracePeriodSeconds", _DEFAULT_GRACE)
            )
        propagation = options.get("propagationPolicy") or BACKGROUND
        if options.get("orphanDependents"):
            propagation = ORPHAN
        now = _seconds(exchange.received)
        return self._cluster.delete(row, obj, now, grace=max(grace, 0), propagation=propagation)

    def _serve_subresource(self, exchange: _Exchange) -> Response:
        row, call = exchange.row, exchange.call
        if call.subresource == "scale" and row.noun in REPLICATED:
            return self._serve_scale(exchange)
        if call.subresource == "status" and row.noun in WITH_STATUS:
            return self._serve_status(exchange)
        if row.noun == "pod" and call.subresource == "log" and call.verb == "get":
            return self._log(exchange)
        if row.noun == "pod" and call.subresource == "eviction" and call.verb == "create":
            return self._evict(exchange)
        if row.noun == "pod" and call.subresource in _POD_STREAMS and call.verb in {"get", "create"}:
            return self._stream(exchange)
        raise no_such_resource()

    def _serve_scale(self, exchange: _Exchange) -> Response:
        row, call, request = exchange.row, exchange.call, exchange.request
        found = self._found(exchange, "scale")
        if call.verb == "get":
            return Response(200, _scale_of(found))
        if call.verb == "update":
            require_json(request)
            wanted = request.body
        elif call.verb == "patch":
            wanted = patched(request.content_type, _scale_of(found), require_patch(request))
        else:
            raise method_not_allowed()
        replicas = mapping(mapping(wanted).get("spec")).get("replicas", 0)
        if not isinstance(replicas, int) or isinstance(replicas, bool):
            text = 'Scale in version "v1" cannot be handled as a Scale: v1.Scale.Spec: v1.ScaleSpec.Replicas: '
            raise bad_request(f"{text}readUint32: unexpected character")
        require_version(row, found, mapping(mapping(wanted).get("metadata")))
        if replicas < 0:
            text = f"Invalid value: {replicas}: must be greater than or equal to 0"
            raise invalid("Scale", "autoscaling", call.name, [Cause("FieldValueInvalid", text, "spec.replicas")])
        changed = next_state(row, found, {**found, "spec": {**found["spec"], "replicas": replicas}})
        stored = changed if exchange.dry_run or changed is found else self._cluster.put(row, changed)
        return Response(200, _scale_of(stored))

    def _serve_status(self, exchange: _Exchange) -> Response:
        row, call, request = exchange.row, exchange.call, exchange.request
        old = self._found(exchange)
        if call.verb == "get":
            return Response(200, old)
        if call.verb == "update":
            require_json(request)
            new = decoded(row, request.body)
        elif call.verb == "patch":
            new = decoded(row, patched(request.content_type, old, require_patch(request)))
        else:
            raise method_not_allowed()
        require_version(row, old, new["metadata"])
        changed = next_state(row, old, {**old, "status": new.get("status", {})})
        return Response(200, changed if exchange.dry_run or changed is old else self._cluster.put(row, changed))

    def _log(self, exchange: _Exchange) -> Response:
        request = exchange.request
        pod = self._found(exchange)
        _require_container(pod, request.parameter("container"))
        tail, since, limit = (integer(request.parameter(name)) for name in ("tailLines", "sinceSeconds", "limitBytes"))
        for name, value, least in (("tailLines", tail, 0), ("sinceSeconds", since, 1), ("limitBytes", limit, 1)):
            if value is not None and value < least:
                bound = "greater than 0" if least else "greater than or equal to 0"
                text = f"Invalid value: {value}: must be {bound}"
                raise invalid("PodLogOptions", "", exchange.call.name, [Cause("FieldValueInvalid", text, name)])
        if "nodeName" not in pod["spec"]:
            return Response(204, "")
        if request.asks("previous") and not _has_restarted(pod):
            container = container_names(pod)[-1]
            raise bad_request(f'previous terminated container "{container}" in pod "{exchange.call.name}" not found')
        container = request.parameter("container") or container_names(pod)[-1]
        lines = tuple(line.text for line in self._surroundings.log(pod, container, previous=request.asks("previous")))
        if tail is not None:
            lines = lines[len(lines) - min(tail, len(lines)) :]
        if request.asks("timestamps"):
            lines = tuple(f"{_nanoseconds(exchange.received, index)} {line}" for index, line in enumerate(lines))
        text = "".join(f"{line}\n" for line in lines)
        return Response(200, text if limit is None else text.encode()[:limit].decode(errors="ignore"))

    def _evict(self, exchange: _Exchange) -> Response:
        body = mapping(exchange.request.body)
        metadata = mapping(body.get("metadata"))
        if metadata.get("name", exchange.call.name) != exchange.call.name:
            raise bad_request("name in URL does not match name in Eviction object")
        pod = self._found(exchange)
        options = dict(mapping(body.get("deleteOptions")))
        if not exchange.dry_run and not options.get("dryRun"):
            self._delete_one(exchange.row, pod, exchange, options)
        return Response(201, created())

    def _stream(self, exchange: _Exchange) -> Response:
        """A command in a container: recorded like every call, and silent, for nothing runs in a simulated pod."""
        pod = self._found(exchange)
        if exchange.call.subresource != "portforward":
            _require_container(pod, exchange.request.parameter("container"))
        if not pod["spec"].get("nodeName"):
            raise bad_request(f"pod {exchange.call.name} does not have a host assigned")
        return Response(200, "")

    def _review_access(self, exchange: _Exchange) -> Response:
        """Whether the caller may do what a SelfSubjectAccessReview asks about."""
        if exchange.call.verb != "create" or exchange.principal is None:
            raise method_not_allowed()
        spec = mapping(mapping(exchange.request.body).get("spec"))
        resource, path = (mapping(spec.get(name)) for name in ("resourceAttributes", "nonResourceAttributes"))
        if bool(resource) == bool(path):
            text = 'Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified'
            raise invalid("", "authorization.k8s.io", "", [Cause("FieldValueInvalid", text, "spec.resourceAttributes")])
        if resource:
            fields = ("verb", "group", "resource", "subresource", "namespace", "name")
            asked = Attributes(**{name: str(resource.get(name) or "") for name in fields})
        else:
            asked = Attributes(str(path.get("verb") or ""), path=str(path.get("path") or ""))
        decision = decide(self._cluster, exchange.principal, asked)
        status = {"allowed": decision.allowed, **({"reason": decision.reason} if decision.reason else {})}
        return Response(201, {
            "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
            "metadata": {"creationTimestamp": None}, "spec": spec, "status": status,
        })  # fmt: skip


def _serve_path(call: Call) -> Response:
    if call.verb != "get":
        raise method_not_allowed()
    if call.path in {"/healthz", "/livez", "/readyz"}:
        return Response(200, "ok")
    if call.path in {"/version", "/version/"}:
        return Response(200, {"major": "1", "minor": "29", "gitVersion": "v1.29.4", "platform": "linux/amd64"})
    raise no_such_resource()


def _list(row: ResourceType, items: list[Json], version: int) -> Json:
    """A list of the type; its items carry no kind of their own, as in the real API."""
    bare = [{key: value for key, value in item.items() if key not in {"kind", "apiVersion"}} for item in items]
    return {"kind": f"{row.kind}List", "apiVersion": row.api_version, "metadata": {"resourceVersion": str(version)},
            "items": bare}  # fmt: skip


def _scale_of(workload: Json) -> Json:
    metadata = workload["metadata"]
    replicas = workload["spec"].get("replicas", 0)
    labels = (workload["spec"].get("selector") or {}).get("matchLabels") or {}
    status = {"replicas": (workload.get("status") or {}).get("replicas", 0),
              "selector": ",".join(f"{key}={labels[key]}" for key in sorted(labels))}  # fmt: skip
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {key: metadata[key] for key in kept},
        "spec": {"replicas": replicas} if replicas else {}, "status": status,
    }  # fmt: skip


def _recorded(manifest: Json) -> Json:
    """A decoded object as the audit log shows it."""
    return {**manifest, "metadata": {"creationTimestamp": None, **manifest["metadata"]}}


def _require_container(pod: Json, name: str | None) -> None:
    names = container_names(pod)
    pod_name = pod["metadata"]["name"]
    if not name and len(names) > 1:
        listed = " ".join(names)
        raise bad_request(f"a container name must be specified for pod {pod_name}, choose one of: [{listed}]")
    if name and name not in names:
        raise bad_request(f"container {name} is not valid for pod {pod_name}")


def _has_restarted(pod: Json) -> bool:
    return any(item.get("restartCount") for item in (pod.get("status") or {}).get("containerStatuses") or ())


def _without_status(row: ResourceType, obj: Json) -> Json:
    """A client cannot write status through the main resource, save for what a new object starts with."""
    bare = {key: value for key, value in obj.items() if key != "status" or row.noun not in WITH_STATUS}
    return defaulted(row, bare)


def _seconds(timestamp: str) -> str:
    """An audit timestamp as objects carry it."""
    return f"{timestamp.partition('.')[0].rstrip('Z')}Z"


def _nanoseconds(timestamp: str, index: int) -> str:
    return f"{timestamp.partition('.')[0].rstrip('Z')}.{index:09d}Z"
