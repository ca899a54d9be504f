"""Cases that ask for what servers of today do: each is asked of a real one by `record`, and compared with ours.

They have the form of the older recordings (tests/data/kube-apiserver/README.md) without answers. Every case has a
namespace of its own; what it makes outside of it is deleted at its end.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]
Case = dict[str, Any]
Request = dict[str, Any]

_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_JSON_PATCH = "application/json-patch+json"
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
_POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
_POLICY_BINDINGS = f"{_POLICIES[:-8]}policybindings"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_IMAGE = "registry.example/app:1.0"
_STRICT = "fieldValidation=Strict"
_RESTART = "restartPolicy"


def modern_cases() -> list[Case]:
    """Every case, in a fixed order."""
    return [
        *_apply_cases(), *_apply_shapes(), *_strict_cases(), *_pod_cases(), *_sidecar_cases(), *_resize_cases(),
        *_workload_cases(), *_batch_cases(), *_service_cases(), *_network_cases(), *_configuration_cases(),
        *_quota_cases(), *_policy_cases(), *_custom_cases(), *_token_cases(), *_review_cases(), *_watch_cases(),
        *_list_cases(), *_table_cases(), *_head_cases(), *_method_cases(), *_discovery_cases(), *_openapi_cases(),
        *_patch_cases(), *_delete_cases(), *_namespace_cases(),
    ]  # fmt: skip


def _case(
    area: str,
    name: str,
    *steps: Request,
    before: Sequence[Request] = (),
    cleanup: Sequence[Request] = (),
    pause: float = 0.3,
) -> Case:
    """One case; NS in its requests stands for its namespace."""
    namespace = f"{name}-m"

    def placed(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("NS", namespace)
        if isinstance(value, list):
            return [placed(item) for item in value]
        if isinstance(value, dict):
            return {key: placed(item) for key, item in value.items()}
        return value

    setup: Json = {"namespaces": [namespace], "requests": placed(list(before)), "pause": pause}
    if cleanup:
        setup["cleanup"] = placed(list(cleanup))
    return {
        "name": name, "area": f"modern-{area}", "setup": setup,
        "steps": [{"request": placed(step)} for step in steps],
    }  # fmt: skip


def _ask(method: str, path: str, body: Any = None, **more: Any) -> Request:
    """A request; `kind` and `accept` are short for headers."""
    headers = {
        name: more.pop(key)
        for key, name in (("kind", "Content-Type"), ("accept", "Accept"))
        if more.get(key) is not None
    }
    headers |= more.pop("headers", {})
    request: Request = {"method": method, "path": path, **more}
    if headers:
        request["headers"] = headers
    if body is not None:
        request["body"] = body
    return request


def _home(plural: str, name: str = "", query: str = "") -> str:
    """The path of a namespaced resource; `plural` may begin with group and version."""
    *group, plural = plural.split("/")
    path = f"/apis/{'/'.join(group)}" if group else "/api/v1"
    path += f"/namespaces/NS/{plural}" + (f"/{name}" if name else "")
    return f"{path}?{query}" if query else path


def _obj(kind: str, name: str, api: str = "v1", *, labels: Mapping[str, str] | None = None, **rest: Any) -> Json:
    metadata: Json = {"name": name, **({"labels": dict(labels)} if labels else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def _container(name: str = "app", **more: Any) -> Json:
    return {"name": name, "image": _IMAGE, **more}


def _pod(name: str = "one", containers: Sequence[Json] = (), **spec: Any) -> Json:
    return _obj("Pod", name, spec={"containers": list(containers) or [_container()], **spec})


def _template(**spec: Any) -> Json:
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [_container()], **spec}}


def _workload(kind: str = "Deployment", name: str = "web", **spec: Any) -> Json:
    given = {"selector": {"matchLabels": {"app": "web"}}, "template": _template(), **spec}
    return _obj(kind, name, "apps/v1", spec={key: value for key, value in given.items() if value is not None})


def _create(plural: str, body: Json, query: str = "", **more: Any) -> Request:
    return _ask("POST", _home(plural, query=query), body, **more)


def _apply_cases() -> Iterator[Case]:
    def apply(name: str, body: Json, query: str, plural: str = "configmaps") -> Request:
        return _ask("PATCH", _home(plural, name, query), body, kind=_APPLY)

    first = _obj("ConfigMap", "settings", data={"a": "1", "b": "2"})
    other = _obj("ConfigMap", "settings", data={"a": "9", "c": "3"})
    a, b = "fieldManager=first", "fieldManager=second"
    yield _case("apply", "apply-conflict", apply("settings", first, a), apply("settings", other, b))
    yield _case("apply", "apply-force", apply("settings", first, a), apply("settings", other, f"{b}&force=true"))
    yield _case("apply", "apply-shared", apply("settings", first, a), apply("settings", first, b))
    yield _case(
        "apply", "apply-drops-fields", apply("settings", first, a),
        apply("settings", _obj("ConfigMap", "settings", data={"a": "1"}), a),
    )  # fmt: skip
    yield _case("apply", "apply-no-manager", apply("settings", first, ""))
    yield _case("apply", "apply-force-false", apply("settings", first, f"{a}&force=false"))
    yield _case("apply", "apply-other-name", apply("others", first, a))
    yield _case("apply", "apply-no-kind", apply("settings", {"metadata": {"name": "settings"}}, a))
    yield _case("apply", "apply-managed-fields", apply("settings", {**first, "metadata": {
        "name": "settings", "managedFields": [{"manager": "x", "operation": "Apply"}]}}, a))  # fmt: skip
    yield _case("apply", "apply-dry-run", apply("settings", first, f"{a}&dryRun=All"), _ask("GET", _home(
        "configmaps", "settings")))  # fmt: skip
    yield _case("apply", "apply-unknown-field", apply("settings", {**first, "dtaa": {"x": "1"}}, a))
    yield _case("apply", "apply-after-update", _create("configmaps", first), apply("settings", other, a))
    yield _case(
        "apply", "apply-then-merge", apply("settings", first, a),
        _ask("PATCH", _home("configmaps", "settings"), {"data": {"a": "7"}}, kind=_MERGE),
        apply("settings", first, a), apply("settings", first, f"{a}&force=true"),
    )  # fmt: skip


def _apply_shapes() -> Iterator[Case]:
    def apply(body: Json, manager: str, plural: str = "apps/v1/deployments", name: str = "web") -> Request:
        return _ask("PATCH", _home(plural, name, f"fieldManager={manager}"), body, kind=_APPLY)

    deployment = _workload(replicas=2)
    changed = _workload(replicas=3)
    yield _case("apply", "apply-deployment", apply(deployment, "one"), apply(changed, "two"))
    port = _container(ports=[{"containerPort": 80}])
    yield _case(
        "apply", "apply-container-port", apply(deployment, "one"),
        apply(_workload(template={"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [port]}}), "one"),
    )  # fmt: skip
    twice = _container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])
    yield _case("apply", "apply-twice-env", apply(_workload(template=_template(containers=[twice])), "one"))
    yield _case("apply", "apply-wrong-type", apply(_workload(replicas="many"), "one"))
    service = _obj("Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80, "name": "http"}]})
    yield _case(
        "apply", "apply-service-ports", apply(service, "one", "services"),
        apply(_obj("Service", "web", spec={"ports": [{"port": 80, "name": "http", "targetPort": 81}]}), "two",
              "services"),
    )  # fmt: skip
    labelled = _obj("ConfigMap", "settings", labels={"a": "1"})
    yield _case(
        "apply", "apply-labels", apply(labelled, "one", "configmaps", "settings"),
        apply(_obj("ConfigMap", "settings", labels={"a": "2"}), "two", "configmaps", "settings"),
    )  # fmt: skip
    yield _case(
        "apply", "apply-scale", _create("apps/v1/deployments", deployment),
        _ask("PATCH", _home("apps/v1/deployments", "web/scale", "fieldManager=scaler"),
             {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 5}},
             kind=_APPLY),
        apply(deployment, "one"),
    )  # fmt: skip
    yield _case(
        "apply", "apply-status", _create("apps/v1/deployments", deployment),
        _ask("PATCH", _home("apps/v1/deployments", "web/status", "fieldManager=c"),
             _obj("Deployment", "web", "apps/v1", status={"replicas": 2, "observedGeneration": 1}), kind=_APPLY),
    )  # fmt: skip


def _strict_cases() -> Iterator[Case]:
    unknown = _pod(containres=[])
    for mode in ("Strict", "Warn", "Ignore", "Loose"):
        yield _case("strict", f"strict-pod-{mode.lower()}", _create("pods", unknown, f"fieldValidation={mode}"))
    yield _case("strict", "strict-nested", _create("pods", _pod(containers=[_container(imgae="x", prots=[])]), _STRICT))
    twice = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","a":"2"}}'
    raw = {"method": "POST", "rawBody": twice}
    yield _case("strict", "strict-duplicate", {**raw, "path": _home("configmaps", query=_STRICT)})
    yield _case("strict", "warn-duplicate", {**raw, "path": _home("configmaps", query="fieldValidation=Warn")})
    yield _case(
        "strict", "strict-patch", _create("configmaps", _obj("ConfigMap", "x", data={"a": "1"})),
        _ask("PATCH", _home("configmaps", "x", _STRICT), {"dataa": {"b": "2"}}, kind=_MERGE),
        _ask("PATCH", _home("configmaps", "x", _STRICT), {"dataa": {"b": "2"}}, kind=_STRATEGIC),
        _ask("PATCH", _home("configmaps", "x", _STRICT), [{"op": "add", "path": "/dataa", "value": {}}],
             kind=_JSON_PATCH),
    )  # fmt: skip
    yield _case(
        "strict", "strict-put", _create("configmaps", _obj("ConfigMap", "x", data={"a": "1"})),
        _ask("PUT", _home("configmaps", "x", _STRICT), _obj("ConfigMap", "x", dataa={})),
        _ask("PUT", _home("configmaps", "x"), _obj("ConfigMap", "x", dataa={})),
    )  # fmt: skip
    deep = _workload(template=_template(containers=[_container(resources={"limit": {"cpu": "1"}})], foo=1), replica=1)
    yield _case("strict", "strict-deployment", _create("apps/v1/deployments", deep, _STRICT))
    yield _case("strict", "warn-deployment", _create("apps/v1/deployments", deep))
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: '1'\n  a: '2'\nmore: 1\n"
    as_yaml = {"method": "POST", "rawBody": text, "headers": {"Content-Type": "application/yaml"}}
    yield _case("strict", "strict-yaml", {**as_yaml, "path": _home("configmaps", query=_STRICT)})
    yield _case("strict", "warn-yaml", {**as_yaml, "path": _home("configmaps")})


def _pod_cases() -> Iterator[Case]:
    """One pod each that the server takes or refuses, by what its specification says."""
    bodies = {
        "plain": _pod(),
        "os-linux": _pod(os={"name": "linux"}),
        "os-unknown": _pod(os={"name": "plan9"}),
        "gates": _pod(schedulingGates=[{"name": "example.com/wait"}]),
        "gates-bad": _pod(schedulingGates=[{"name": "a b"}]),
        "host-users": _pod(hostUsers=False),
        "host-users-network": _pod(hostUsers=False, hostNetwork=True),
        "spread": _pod(topologySpreadConstraints=[{
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}}, "matchLabelKeys": ["version"], "minDomains": 2}]),
        "spread-bad": _pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Never"}]),
        "grpc": _pod(containers=[_container(livenessProbe={"grpc": {"port": 9000}})]),
        "probe-two": _pod(containers=[_container(livenessProbe={"grpc": {"port": 1}, "tcpSocket": {"port": 1}})]),
        "probe-grace": _pod(containers=[_container(livenessProbe={"tcpSocket": {"port": 1},
                                                                 "terminationGracePeriodSeconds": 5})]),
        "probe-grace-ready": _pod(containers=[_container(readinessProbe={"tcpSocket": {"port": 1},
                                                                        "terminationGracePeriodSeconds": 5})]),
        "sleep-hook": _pod(containers=[_container(lifecycle={"preStop": {"sleep": {"seconds": 3}}})]),
        "sleep-hook-long": _pod(containers=[_container(lifecycle={"preStop": {"sleep": {"seconds": 300}}})]),
        "seccomp": _pod(securityContext={"seccompProfile": {"type": "RuntimeDefault"}}),
        "seccomp-local": _pod(securityContext={"seccompProfile": {"type": "Localhost"}}),
        "apparmor": _pod(securityContext={"appArmorProfile": {"type": "Unconfined"}}),
        "app-armor-bad": _pod(securityContext={"appArmorProfile": {"type": "Other"}}),
        "supplemental": _pod(securityContext={"supplementalGroupsPolicy": "Strict"}),
        "supplemental-bad": _pod(securityContext={"supplementalGroupsPolicy": "Sometimes"}),
        "readonly-mount": _pod(containers=[_container(volumeMounts=[{
            "name": "v", "mountPath": "/v", "readOnly": True, "recursiveReadOnly": "Enabled"}])],
            volumes=[{"name": "v", "emptyDir": {}}]),
        "readonly-mount-bad": _pod(containers=[_container(volumeMounts=[{
            "name": "v", "mountPath": "/v", "recursiveReadOnly": "Enabled"}])], volumes=[{"name": "v", "emptyDir": {}}]),
        "image-volume": _pod(volumes=[{"name": "v", "image": {"reference": "registry.example/data:1"}}]),
        "ephemeral-volume": _pod(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}]),
        "trust-volume": _pod(volumes=[{"name": "v", "projected": {"sources": [{"serviceAccountToken": {
            "path": "token", "expirationSeconds": 60}}]}}]),
        "resource-claims": _pod(containers=[_container(resources={"claims": [{"name": "gpu"}]})],
                                resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}]),
        "pod-resources": _pod(resources={"limits": {"cpu": "1", "memory": "1Gi"}}),
        "limits-below": _pod(containers=[_container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}})]),
        "env-names": _pod(containers=[_container(env=[{"name": "1 odd", "value": "x"}, {"name": "=", "value": ""}])]),
        "env-file": _pod(containers=[_container(env=[{"name": "A", "valueFrom": {"fieldRef": {
            "fieldPath": "metadata.uid"}}}])]),
        "env-field-bad": _pod(containers=[_container(env=[{"name": "A", "valueFrom": {"fieldRef": {
            "fieldPath": "spec.tolerations"}}}])]),
        "stop-signal": _pod(containers=[_container(lifecycle={"stopSignal": "SIGUSR1"})], os={"name": "linux"}),
        "restart-rules": _pod(containers=[_container(restartPolicy="Never", restartPolicyRules=[{
            "action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}])]),
        "affinity-keys": _pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["c"]}]}}),
        "affinity-bad": _pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": []}}}),
        "toleration": _pod(tolerations=[{"key": "a", "operator": "Exists", "effect": "NoExecute",
                                         "tolerationSeconds": 5}]),
        "toleration-bad": _pod(tolerations=[{"key": "a", "operator": "Exists", "value": "b", "effect": "Never"}]),
        "overhead": _pod(overhead={"cpu": "100m"}),
        "priority": _pod(priorityClassName="system-node-critical"),
        "priority-unknown": _pod(priorityClassName="none-such"),
        "runtime-unknown": _pod(runtimeClassName="none-such"),
        "dns": _pod(dnsPolicy="None", dnsConfig={"nameservers": ["10.0.0.1"], "searches": ["a.b"]}),
        "dns-none": _pod(dnsPolicy="None"),
        "sysctl": _pod(securityContext={"sysctls": [{"name": "net.core.somaxconn", "value": "1"},
                                                   {"name": "Net", "value": "1"}]}),
        "set-hostname": _pod(setHostnameAsFQDN=True, hostname="a", subdomain="b"),
        "hostname-bad": _pod(hostname="A_b", subdomain="-"),
        "host-ports": _pod(containers=[_container(ports=[{"containerPort": 80, "hostPort": 80},
                                                         {"containerPort": 80, "hostPort": 80}])]),
        "port-names": _pod(containers=[_container(ports=[{"containerPort": 80, "name": "Too-Long-A-Port-Name"}])]),
        "names-twice": _pod(containers=[_container(), _container()]),
        "no-containers": _obj("Pod", "one", spec={}),
        "windows": _pod(os={"name": "windows"}, securityContext={"runAsUser": 1}),
    }  # fmt: skip
    for name, body in bodies.items():
        yield _case("pods", f"pod-{name}", _create("pods", body))


def _sidecar_cases() -> Iterator[Case]:
    def pod(**init: Any) -> Json:
        return _pod(initContainers=[_container("side", **init)])

    probe = {"httpGet": {"path": "/", "port": 80}}
    bodies = {
        "always": pod(restartPolicy="Always"),
        "probes": pod(restartPolicy="Always", readinessProbe=probe, startupProbe=probe, livenessProbe=probe),
        "plain-probe": pod(readinessProbe=probe),
        "on-failure": pod(restartPolicy="OnFailure"),
        "unknown": pod(restartPolicy="Sometimes"),
        "hook": pod(restartPolicy="Always", lifecycle={"preStop": {"exec": {"command": ["true"]}}}),
        "plain-hook": pod(lifecycle={"preStop": {"exec": {"command": ["true"]}}}),
    }  # fmt: skip
    for name, body in bodies.items():
        yield _case("sidecars", f"sidecar-{name}", _create("pods", body))
    yield _case(
        "sidecars", "sidecar-update", _create("pods", pod(restartPolicy="Always")),
        _ask("PATCH", _home("pods", "one"), {"spec": {"initContainers": [{"name": "side", "image": "other"}]}},
             kind=_STRATEGIC),
        _ask("PATCH", _home("pods", "one"), {"spec": {"initContainers": [{"name": "side", _RESTART: None}]}},
             kind=_STRATEGIC),
    )  # fmt: skip
    yield _case("sidecars", "sidecar-deployment", _create("apps/v1/deployments", _workload(
        template=_template(initContainers=[_container("side", restartPolicy="Always")]))))  # fmt: skip


def _resize_cases() -> Iterator[Case]:
    sized = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "64Mi"}}
    policy = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]
    made = _create("pods", _pod(containers=[_container(resources=sized, resizePolicy=policy)]))

    def resize(resources: Json, kind: str = _STRATEGIC, **more: Any) -> Request:
        body = {"spec": {"containers": [{"name": "app", "resources": resources, **more}]}}
        return _ask("PATCH", _home("pods", "one/resize"), body, kind=kind)

    yield _case("resize", "resize-cpu", made, resize({"requests": {"cpu": "150m"}, "limits": {"cpu": "300m"}}))
    yield _case("resize", "resize-memory", made, resize({"limits": {"memory": "128Mi"}}))
    yield _case("resize", "resize-qos", made, resize({"requests": {"cpu": "200m", "memory": "64Mi"}}))
    yield _case("resize", "resize-image", made, resize({}, image="other"))
    yield _case("resize", "resize-storage", made, resize({"requests": {"ephemeral-storage": "1Gi"}}))
    yield _case("resize", "resize-read", made, _ask("GET", _home("pods", "one/resize")))
    yield _case("resize", "resize-elsewhere", made, _ask("PATCH", _home("pods", "one"), {"spec": {"containers": [
        {"name": "app", "resources": {"limits": {"cpu": "300m"}}}]}}, kind=_STRATEGIC))  # fmt: skip
    yield _case("resize", "resize-absent", _ask("PATCH", _home("pods", "none/resize"), {"spec": {}}, kind=_MERGE))
    yield _case("resize", "resize-policy-bad", _create("pods", _pod(containers=[_container(resizePolicy=[
        {"resourceName": "gpu", "restartPolicy": "Maybe"}])])))  # fmt: skip
    yield _case("resize", "resize-put", made, _ask("PUT", _home("pods", "one/resize"), _pod()))


def _workload_cases() -> Iterator[Case]:
    bodies = {
        "deployment": ("deployments", _workload()),
        "deployment-recreate": ("deployments", _workload(strategy={"type": "Recreate", "rollingUpdate": {
            "maxSurge": 1}})),
        "deployment-selector": ("deployments", _workload(selector={"matchLabels": {"app": "other"}})),
        "deployment-empty-selector": ("deployments", _workload(selector={})),
        "deployment-zero": ("deployments", _workload(strategy={"type": "RollingUpdate", "rollingUpdate": {
            "maxSurge": 0, "maxUnavailable": 0}})),
        "deployment-deadline": ("deployments", _workload(minReadySeconds=60, progressDeadlineSeconds=30)),
        "deployment-restart": ("deployments", _workload(template=_template(restartPolicy="Never"))),
        "deployment-negative": ("deployments", _workload(replicas=-1)),
        "statefulset": ("statefulsets", _workload("StatefulSet", serviceName="web")),
        "statefulset-bare": ("statefulsets", _workload("StatefulSet")),
        "statefulset-ordinals": ("statefulsets", _workload("StatefulSet", ordinals={"start": 3}, serviceName="web")),
        "statefulset-ordinals-bad": ("statefulsets", _workload("StatefulSet", ordinals={"start": -3})),
        "statefulset-retention": ("statefulsets", _workload("StatefulSet", persistentVolumeClaimRetentionPolicy={
            "whenDeleted": "Delete"}, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}])),
        "statefulset-unavailable": ("statefulsets", _workload("StatefulSet", updateStrategy={
            "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "partition": 1}})),
        "daemonset": ("daemonsets", _workload("DaemonSet")),
        "daemonset-surge": ("daemonsets", _workload("DaemonSet", updateStrategy={
            "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}})),
        "replicaset": ("replicasets", _workload("ReplicaSet", replicas=0)),
    }  # fmt: skip
    for name, (plural, body) in bodies.items():
        yield _case("workloads", f"work-{name}", _create(f"apps/v1/{plural}", body))
    made = _create("apps/v1/deployments", _workload())
    path = _home("apps/v1/deployments", "web")
    yield _case("workloads", "work-selector-change", made, _ask("PATCH", path, {"spec": {"selector": {
        "matchLabels": {"app": "x"}}}}, kind=_MERGE))  # fmt: skip
    stateful = _create("apps/v1/statefulsets", _workload("StatefulSet", serviceName="web"))
    yield _case("workloads", "work-service-change", stateful, _ask("PATCH", _home("apps/v1/statefulsets", "web"), {
        "spec": {"serviceName": "x"}}, kind=_MERGE))  # fmt: skip
    yield _case(
        "workloads", "work-scale", made, _ask("GET", f"{path}/scale"),
        _ask("PATCH", f"{path}/scale", {"spec": {"replicas": 4}}, kind=_MERGE),
        _ask("PATCH", f"{path}/scale", {"spec": {"replicas": -4}}, kind=_MERGE),
    )  # fmt: skip
    yield _case(
        "workloads", "work-status", made,
        _ask("PATCH", f"{path}/status", {"status": {"replicas": 1, "readyReplicas": 3}}, kind=_MERGE),
        _ask("PATCH", f"{path}/status", {"status": {"replicas": 3, "terminatingReplicas": 1}}, kind=_MERGE),
        _ask("GET", f"{path}/status"),
    )  # fmt: skip


def _batch_cases() -> Iterator[Case]:
    def job(**spec: Any) -> Json:
        template = {"spec": {"containers": [_container()], _RESTART: "Never"}}
        return _obj("Job", "once", "batch/v1", spec={"template": template, **spec})

    def cron(**spec: Any) -> Json:
        return _obj("CronJob", "daily", "batch/v1", spec={
            "schedule": "0 3 * * *", "jobTemplate": {"spec": job()["spec"]}, **spec})  # fmt: skip

    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    codes = {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [0, 3]}}
    jobs = {
        "plain": job(),
        "indexed": job(completionMode="Indexed", completions=3, parallelism=2, backoffLimitPerIndex=1,
                       maxFailedIndexes=1),
        "index-limit": job(backoffLimitPerIndex=1),
        "failure-policy": job(podFailurePolicy={"rules": [rule]}),
        "failure-policy-bad": job(podFailurePolicy={"rules": [codes]}),
        "success-policy": job(completionMode="Indexed", completions=3, parallelism=3, successPolicy={
            "rules": [{"succeededCount": 2}]}),
        "success-policy-bad": job(successPolicy={"rules": [{"succeededCount": 2}]}),
        "replacement": job(podReplacementPolicy="Failed"),
        "replacement-bad": job(podReplacementPolicy="Sometimes"),
        "managed-by": job(managedBy="example.com/other"),
        "suspended": job(suspend=True, ttlSecondsAfterFinished=5),
        "always": job(template={"spec": {"containers": [_container()], _RESTART: "Always"}}),
    }  # fmt: skip
    for name, body in jobs.items():
        # The labels of its pods have its uid, which the comparison knows.
        yield _case("batch", f"job-{name}", _create("batch/v1/jobs", body))
    crons = {
        "plain": cron(), "zone": cron(timeZone="Europe/Berlin"), "zone-bad": cron(timeZone="Mars/Base"),
        "zone-local": cron(timeZone="Local"), "zone-in-schedule": cron(schedule="TZ=UTC 0 3 * * *"),
        "schedule-bad": cron(schedule="daily"), "policy-bad": cron(concurrencyPolicy="Sometimes"),
    }  # fmt: skip
    for name, body in crons.items():
        yield _case("batch", f"cron-{name}", _create("batch/v1/cronjobs", body))
    yield _case(
        "batch", "job-change", _create("batch/v1/jobs", job(suspend=True)),
        _ask("PATCH", _home("batch/v1/jobs", "once"), {"spec": {"parallelism": 2}}, kind=_MERGE),
        _ask("PATCH", _home("batch/v1/jobs", "once"), {"spec": {"completions": 2}}, kind=_MERGE),
    )  # fmt: skip


def _service_cases() -> Iterator[Case]:
    def service(**spec: Any) -> Json:
        return _obj("Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80}], **spec})

    bodies = {
        "plain": service(),
        "headless": service(clusterIP="None"),
        "traffic": service(trafficDistribution="PreferClose"),
        "traffic-zone": service(trafficDistribution="PreferSameZone"),
        "traffic-bad": service(trafficDistribution="Anywhere"),
        "internal": service(internalTrafficPolicy="Local"),
        "internal-bad": service(internalTrafficPolicy="None"),
        "balancer": service(type="LoadBalancer", loadBalancerClass="example.com/lb",
                            allocateLoadBalancerNodePorts=False),
        "balancer-class": service(loadBalancerClass="example.com/lb"),
        "app-protocol": service(ports=[{"port": 80, "appProtocol": "kubernetes.io/h2c"}]),
        "external": _obj("Service", "web", spec={"type": "ExternalName", "externalName": "example.com"}),
        "external-bad": _obj("Service", "web", spec={"type": "ExternalName", "externalName": "-"}),
        "no-ports": service(ports=[]),
        "two-ports": service(ports=[{"port": 80}, {"port": 81}]),
        "affinity": service(sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 0}}),
        "external-ips": service(externalIPs=["127.0.0.1"]),
        "families": service(ipFamilyPolicy="RequireDualStack"),
        "name-bad": {**service(), "metadata": {"name": "1web"}},
    }  # fmt: skip
    for name, body in bodies.items():
        yield _case("services", f"service-{name}", _create("services", body))


def _network_cases() -> Iterator[Case]:
    api = "networking.k8s.io/v1"

    def policy(**spec: Any) -> Json:
        return _obj("NetworkPolicy", "fence", api, spec={"podSelector": {}, **spec})

    def ingress(path: Json, **spec: Any) -> Json:
        backend = {"service": {"name": "web", "port": {"number": 80}}}
        rule = {"host": "a.example", "http": {"paths": [{"backend": backend, **path}]}}
        return _obj("Ingress", "door", api, spec={"rules": [rule], **spec})

    policies = {
        "plain": policy(), "range": policy(egress=[{"ports": [{"port": 80, "endPort": 90}]}]),
        "range-bad": policy(egress=[{"ports": [{"port": 80, "endPort": 70}]}]),
        "block-bad": policy(ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/33"}}]}]),
        "except": policy(ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/24", "except": ["10.1.0.0/24"]}}]}]),
        "peer-two": policy(ingress=[{"from": [{"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/24"}}]}]),
        "types-bad": policy(policyTypes=["Sideways"]),
    }  # fmt: skip
    for name, body in policies.items():
        yield _case("network", f"fence-{name}", _create(f"{api}/networkpolicies", body))
    ingresses = {
        "plain": ingress({"path": "/", "pathType": "Prefix"}), "type-missing": ingress({"path": "/"}),
        "type-bad": ingress({"path": "/", "pathType": "Regex"}),
        "path-bad": ingress({"path": "a//b", "pathType": "Exact"}),
        "class": ingress({"path": "/", "pathType": "Exact"}, ingressClassName="none-such"),
        "nothing": _obj("Ingress", "door", api, spec={}),
    }  # fmt: skip
    for name, body in ingresses.items():
        yield _case("network", f"ingress-{name}", _create(f"{api}/ingresses", body))
    slices = {
        "plain": {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"port": 80}]},
        "bad": {"addressType": "IPv9", "endpoints": [{"addresses": ["127.0.0.1"]}], "ports": []},
    }  # fmt: skip
    for name, rest in slices.items():
        body = {**_obj("EndpointSlice", "web-1", "discovery.k8s.io/v1"), **rest}
        yield _case("network", f"slice-{name}", _create("discovery.k8s.io/v1/endpointslices", body))
    endpoints = {**_obj("Endpoints", "web"), "subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}]}
    yield _case("network", "endpoints-warning", _create("endpoints", endpoints), _ask("GET", _home("endpoints", "web")))


def _configuration_cases() -> Iterator[Case]:
    secret_types = {
        "opaque": {"stringData": {"a": "b"}}, "tls": {"type": "kubernetes.io/tls", "data": {"tls.crt": "YQ=="}},
        "basic": {"type": "kubernetes.io/basic-auth", "stringData": {"x": "y"}},
        "docker": {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "{"}},
        "account": {"type": "kubernetes.io/service-account-token"},
        "base64": {"data": {"a": "not base64!"}}, "key": {"stringData": {"a b": "c"}},
    }  # fmt: skip
    for name, rest in secret_types.items():
        yield _case("configuration", f"secret-{name}", _create("secrets", _obj("Secret", "words", **rest)))
    fixed = _obj("ConfigMap", "fixed", data={"a": "1"}, immutable=True)
    path = _home("configmaps", "fixed")
    yield _case(
        "configuration", "immutable", _create("configmaps", fixed),
        _ask("PATCH", path, {"data": {"a": "2"}}, kind=_MERGE),
        _ask("PATCH", path, {"immutable": False}, kind=_MERGE),
        _ask("PATCH", path, {"metadata": {"labels": {"x": "y"}}}, kind=_MERGE),
    )  # fmt: skip
    both = _obj("ConfigMap", "both", data={"a": "1"}, binaryData={"a": "YQ=="})
    yield _case("configuration", "config-both", _create("configmaps", both))
    yield _case("configuration", "config-key", _create("configmaps", _obj("ConfigMap", "key", data={"../a": "1"})))
    yield _case("configuration", "account", _create("serviceaccounts", _obj("ServiceAccount", "bot")))
    claim = {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": "1Gi"}}}
    for name, spec in {
        "plain": claim, "modes": {**claim, "accessModes": ["ReadWriteOncePod", "ReadWriteMany"]},
        "attributes": {**claim, "volumeAttributesClassName": "fast"}, "storage": {**claim, "resources": {}},
        "source": {**claim, "dataSourceRef": {"apiGroup": "example.com", "kind": "Thing", "name": "x"}},
    }.items():  # fmt: skip
        made = _create("persistentvolumeclaims", _obj("PersistentVolumeClaim", "data", spec=spec))
        yield _case("configuration", f"claim-{name}", made)


def _quota_cases() -> Iterator[Case]:
    autoscaler = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {
            "type": "Utilization", "averageUtilization": 60}}}],
    }  # fmt: skip
    for name, spec in {
        "plain": autoscaler, "v-bad": {**autoscaler, "minReplicas": 5},
        "behavior": {**autoscaler, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}}},
        "container": {**autoscaler, "metrics": [{"type": "ContainerResource", "containerResource": {
            "name": "cpu", "container": "app", "target": {"type": "Utilization", "averageUtilization": 60}}}]},
    }.items():  # fmt: skip
        body = _obj("HorizontalPodAutoscaler", "web", "autoscaling/v2", spec=spec)
        yield _case("quotas", f"hpa-{name}", _create("autoscaling/v2/horizontalpodautoscalers", body))
    for name, spec in {
        "plain": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}},
        "policy": {"maxUnavailable": "50%", "selector": {}, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
        "policy-bad": {"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "Never"},
        "both": {"maxUnavailable": 1, "minAvailable": 1},
    }.items():  # fmt: skip
        body = _obj("PodDisruptionBudget", "web", "policy/v1", spec=spec)
        yield _case("quotas", f"pdb-{name}", _create("policy/v1/poddisruptionbudgets", body))
    for name, hard in {"plain": {"pods": "2", "requests.cpu": "1"}, "bad": {"pods": "many", "pods.x": "-1"}}.items():
        yield _case("quotas", f"quota-{name}", _create("resourcequotas", _obj("ResourceQuota", "q", spec={
            "hard": hard})))  # fmt: skip
    limits = [{"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "500m"}}]
    yield _case("quotas", "limits-bad", _create("limitranges", _obj("LimitRange", "l", spec={"limits": limits})))
    good = [{"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"memory": "1Mi"}, "max": {"cpu": "2"}}]
    yield _case(
        "quotas", "limits-default", _create("limitranges", _obj("LimitRange", "l", spec={"limits": good}), pause=0.5),
        _create("pods", _pod()),
        _create("pods", _pod("two", [_container(resources={"requests": {"cpu": "3"}, "limits": {"cpu": "3"}})])),
    )  # fmt: skip


def _policy_cases() -> Iterator[Case]:
    """Policies that the server itself evaluates, in CEL."""

    def policy(name: str, validations: Sequence[Json], **spec: Any) -> Json:
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [
            "configmaps"]}  # fmt: skip
        return _obj("ValidatingAdmissionPolicy", name, "admissionregistration.k8s.io/v1", spec={
            "failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule]}, "validations": list(validations),
            **spec})  # fmt: skip

    def binding(name: str, actions: Sequence[str] = ("Deny",)) -> Json:
        return _obj("ValidatingAdmissionPolicyBinding", name, "admissionregistration.k8s.io/v1", spec={
            "policyName": name, "validationActions": list(actions),
            "matchResources": {"namespaceSelector": {"matchLabels": {"case": name}}}})  # fmt: skip

    def gone(name: str) -> tuple[Request, ...]:
        return _ask("DELETE", f"{_POLICIES}/{name}"), _ask("DELETE", f"{_POLICY_BINDINGS}/{name}")

    rules: Mapping[str, tuple[Sequence[Json], Mapping[str, Any]]] = {
        "plain": ([{"expression": "has(object.data) && size(object.data) < 2"}], {}),
        "message": ([{"expression": "!('b' in object.data)", "message": "b is not for you", "reason": "Forbidden"}], {}),
        "computed": ([{"expression": "size(object.data) == 1",
                       "messageExpression": "'has ' + string(size(object.data))"}], {}),
        "variable": ([{"expression": "variables.many == false"}],
                     {"variables": [{"name": "many", "expression": "size(object.data) > 1"}]}),
        "condition": ([{"expression": "false"}],
                      {"matchConditions": [{"name": "two", "expression": "size(object.data) > 1"}]}),
    }  # fmt: skip
    small, large = _obj("ConfigMap", "s", data={"a": "1"}), _obj("ConfigMap", "l", data={"a": "1", "b": "2"})
    for key, (validations, spec) in rules.items():
        name = f"policy-{key}"
        yield _case(
            "policies", name, _ask("POST", _POLICIES, policy(name, validations, **spec)),
            _ask("POST", _POLICY_BINDINGS, binding(name), pause=2.5),
            _create("configmaps", small), _create("configmaps", large), cleanup=gone(name),
        )  # fmt: skip
    for key, actions in {"warn": ("Warn",), "audit": ("Audit",), "both": ("Deny", "Audit")}.items():
        name = f"policy-action-{key}"
        yield _case(
            "policies", name, _ask("POST", _POLICIES, policy(name, [{"expression": "size(object.data) < 2"}])),
            _ask("POST", _POLICY_BINDINGS, binding(name, actions), pause=2.5),
            _create("configmaps", large), cleanup=gone(name),
        )  # fmt: skip
    broken = {
        "syntax": [{"expression": "object.data."}], "type": [{"expression": "'text'"}],
        "unknown": [{"expression": "nothing.here"}], "empty": [{"expression": ""}],
        "reason": [{"expression": "true", "reason": "Because"}],
    }  # fmt: skip
    for key, validations in broken.items():
        name = f"policy-bad-{key}"
        yield _case("policies", name, _ask("POST", _POLICIES, policy(name, validations)), cleanup=gone(name))
    pair = binding("policy-binding", ("Deny", "Warn"))
    yield _case("policies", "policy-binding", _ask("POST", _POLICY_BINDINGS, pair), cleanup=gone("policy-binding"))


def _custom_cases() -> Iterator[Case]:
    """Types of somebody's own, with rules in CEL."""
    group = "modern.example"

    def definition(plural: str, schema: Json, **version: Any) -> Json:
        kind = plural[:-1].capitalize()
        body = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": schema}}}, **version}  # fmt: skip
        return _obj("CustomResourceDefinition", f"{plural}.{group}", "apiextensions.k8s.io/v1", spec={
            "group": group, "scope": "Namespaced", "versions": [body],
            "names": {"plural": plural, "singular": plural[:-1], "kind": kind, "listKind": f"{kind}List"}})  # fmt: skip

    def thing(plural: str, name: str, **spec: Any) -> Request:
        return _create(f"{group}/v1/{plural}", _obj(plural[:-1].capitalize(), name, f"{group}/v1", spec=spec))

    number = {"type": "integer"}
    schemas: Mapping[str, tuple[Json, Sequence[Json]]] = {
        "boats": ({"type": "object", "properties": {"low": number, "high": number}, "x-kubernetes-validations": [
            {"rule": "self.low <= self.high", "message": "low must not be above high"}]},
            [{"low": 1, "high": 2}, {"low": 3, "high": 2}]),
        "lamps": ({"type": "object", "properties": {"level": {**number, "x-kubernetes-validations": [
            {"rule": "self > 0", "messageExpression": "'level is ' + string(self)", "reason": "FieldValueForbidden"}]}}},
            [{"level": 1}, {"level": 0}]),
        "doors": ({"type": "object", "required": ["state"], "properties": {"state": {
            "type": "string", "enum": ["open", "shut"]}, "size": {**number, "maximum": 3, "default": 1}}},
            [{"state": "open"}, {"state": "ajar"}, {"size": 9}, {"state": "open", "colour": "red"}]),
        "ropes": ({"type": "object", "properties": {"text": {"type": "string", "maxLength": 3, "pattern": "^a"},
                                                   "when": {"type": "string", "format": "date-time"}}},
                  [{"text": "abc"}, {"text": "bcde"}, {"when": "later"}, {"text": 5}]),
    }  # fmt: skip
    for plural, (schema, specs) in schemas.items():
        name = f"custom-{plural}"
        yield _case(
            "custom", name, *(thing(plural, f"n{index}", **spec) for index, spec in enumerate(specs)),
            before=[_ask("POST", _DEFINITIONS, definition(plural, schema))],
            cleanup=[_ask("DELETE", f"{_DEFINITIONS}/{plural}.{group}")],
            pause=2.0,
        )  # fmt: skip
    path = _home(f"{group}/v1/steps", "n0")
    once = {"type": "object", "properties": {"at": {**number, "x-kubernetes-validations": [
        {"rule": "self >= oldSelf", "message": "steps go up"}]}}}  # fmt: skip
    yield _case(
        "custom", "custom-steps", thing("steps", "n0", at=2),
        _ask("PATCH", path, {"spec": {"at": 3}}, kind=_MERGE), _ask("PATCH", path, {"spec": {"at": 1}}, kind=_MERGE),
        before=[_ask("POST", _DEFINITIONS, definition("steps", once))],
        cleanup=[_ask("DELETE", f"{_DEFINITIONS}/steps.{group}")],
        pause=2.0,
    )  # fmt: skip
    columns = [{"name": "At", "type": "integer", "jsonPath": ".spec.at"}]
    yield _case(
        "custom", "custom-signs", thing("signs", "n0", at=2),
        _ask("GET", _home(f"{group}/v1/signs"), accept=_TABLE),
        _ask("GET", _home(f"{group}/v1/signs", query="fieldSelector=spec.at%3D2")),
        _ask("GET", _home(f"{group}/v1/signs", query="fieldSelector=spec.other%3D2")),
        before=[_ask("POST", _DEFINITIONS, definition(
            "signs", {"type": "object", "properties": {"at": number}}, additionalPrinterColumns=columns,
            selectableFields=[{"jsonPath": ".spec.at"}]))],
        cleanup=[_ask("DELETE", f"{_DEFINITIONS}/signs.{group}")],
        pause=2.0,
    )  # fmt: skip
    bad = definition("fails", {"type": "object", "x-kubernetes-validations": [{"rule": "self.none > 1"}]})
    yield _case("custom", "custom-fails", _ask("POST", _DEFINITIONS, bad))
    loose = definition("loose", {"properties": {"a": {"type": "strange"}}})
    yield _case("custom", "custom-loose", _ask("POST", _DEFINITIONS, loose))


def _token_cases() -> Iterator[Case]:
    made = _create("serviceaccounts", _obj("ServiceAccount", "bot"))
    path = _home("serviceaccounts", "bot/token")

    def ask(**spec: Any) -> Request:
        return _ask("POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})

    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "{{tok}}"}}
    yield _case(
        "tokens", "token-plain", made, {**ask(), "save": {"tok": "/status/token"}},
        _ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review),
        _ask("GET", _home("pods"), user="{{tok}}"),
    )  # fmt: skip
    yield _case("tokens", "token-short", made, ask(expirationSeconds=60))
    yield _case("tokens", "token-audience", made, ask(audiences=["other"], expirationSeconds=700))
    yield _case("tokens", "token-bound-absent", made, ask(boundObjectRef={"kind": "Pod", "name": "none"}))
    yield _case("tokens", "token-bound-kind", made, ask(boundObjectRef={"kind": "ConfigMap", "name": "x",
                                                                      "apiVersion": "v1"}))  # fmt: skip
    yield _case(
        "tokens", "token-bound-secret", made, _create("secrets", _obj("Secret", "words")),
        ask(boundObjectRef={"kind": "Secret", "name": "words", "apiVersion": "v1"}),
    )  # fmt: skip
    yield _case("tokens", "token-absent", _ask("POST", _home("serviceaccounts", "none/token"), {"spec": {}}))


def _review_cases() -> Iterator[Case]:
    access, authentication = "/apis/authorization.k8s.io/v1", "/apis/authentication.k8s.io/v1"
    asked = {"namespace": "NS", "verb": "get", "resource": "pods"}
    selected = {**asked, "verb": "list", "fieldSelector": {"requirements": [
        {"key": "spec.nodeName", "operator": "In", "values": ["n"]}]}}  # fmt: skip
    for name, attributes in {"plain": asked, "selector": selected}.items():
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
            "resourceAttributes": attributes}}  # fmt: skip
        yield _case("reviews", f"review-{name}", _ask("POST", f"{access}/selfsubjectaccessreviews", body, user="viewer"),
                    _ask("POST", f"{access}/selfsubjectaccessreviews", body))  # fmt: skip
    who = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    yield _case(
        "reviews", "review-self", _ask("POST", f"{authentication}/selfsubjectreviews", who, user="editor"),
        _ask("POST", f"{authentication}/selfsubjectreviews", who, user="anonymous"),
        _ask("POST", f"{authentication}/selfsubjectreviews", who, headers={"Impersonate-User": "somebody"}),
    )  # fmt: skip


def _watch_cases() -> Iterator[Case]:
    made = _create("configmaps", _obj("ConfigMap", "one", data={"a": "1"}), save={"rv": "/metadata/resourceVersion"})
    path = _home("configmaps", "one")
    change = _ask("PATCH", path, {"data": {"a": "2"}}, kind=_MERGE)
    label = _ask("PATCH", path, {"metadata": {"labels": {"x": "y"}}}, kind=_MERGE)
    gone = _ask("DELETE", path)
    since = "watch=true&timeoutSeconds=2&resourceVersion={{rv}}"
    yield _case("watch", "watch-life", _ask("GET", _home("configmaps", query=since), during=[change, label, gone]),
                before=[made])  # fmt: skip
    yield _case("watch", "watch-label", _ask("GET", _home("configmaps", query=f"{since}&labelSelector=x%3Dy"),
                                             during=[change, label, gone]), before=[made])  # fmt: skip
    yield _case("watch", "watch-table", _ask("GET", _home("configmaps", query=since), accept=_TABLE, during=[change]),
                before=[made])  # fmt: skip
    listed = "watch=true&timeoutSeconds=2&sendInitialEvents=true&allowWatchBookmarks=true"
    listed += "&resourceVersionMatch=NotOlderThan"
    yield _case("watch", "watch-list", _ask("GET", _home("configmaps", query=listed)), before=[made])
    for name, query in {
        "no-match": "watch=true&sendInitialEvents=true", "match-alone": "watch=true&resourceVersionMatch=Exact",
        "bad-version": "watch=true&resourceVersion=abc", "bad-timeout": "watch=true&timeoutSeconds=x",
        "future": "watch=true&timeoutSeconds=1&resourceVersion=99999999",
        "list-initial": "sendInitialEvents=true",
    }.items():  # fmt: skip
        yield _case("watch", f"watch-{name}", _ask("GET", _home("configmaps", query=query)))
    yield _case("watch", "watch-name", _ask("GET", _home("configmaps", query=f"{since}&fieldSelector="
                                            "metadata.name%3Done"), during=[change]), before=[made])  # fmt: skip
    yield _case("watch", "watch-old-path", _ask("GET", "/api/v1/watch/namespaces/NS/configmaps?timeoutSeconds=1"
                                                "&resourceVersion={{rv}}", during=[change]), before=[made])  # fmt: skip


def _list_cases() -> Iterator[Case]:
    made = [_create("configmaps", _obj("ConfigMap", f"n{number}", labels={"n": str(number)})) for number in range(3)]
    for name, query in {
        "limit": "limit=1", "limit-bad": "limit=x", "match": "resourceVersionMatch=NotOlderThan",
        "match-bad": "resourceVersion=1&resourceVersionMatch=Never", "selector": "labelSelector=n%20in%20(0,2)",
        "selector-bad": "labelSelector=n%3D%3D%3D1", "field": "fieldSelector=metadata.name%3Dn1",
        "field-bad": "fieldSelector=data.a%3D1", "field-not": "fieldSelector=metadata.name!%3Dn1",
        "exists": "labelSelector=!n", "more": "labelSelector=n%3E1", "continue-bad": "limit=1&continue=abc",
        "pretty": "pretty=true&labelSelector=none",
    }.items():  # fmt: skip
        yield _case("lists", f"list-{name}", _ask("GET", _home("configmaps", query=query)), before=made)
    yield _case("lists", "list-partial", _ask("GET", _home("configmaps"), accept=_PARTIAL), before=made)
    yield _case("lists", "list-yaml", _ask("GET", _home("configmaps", query="labelSelector=none"),
                                           accept="application/yaml"))  # fmt: skip
    for field in ("status.phase%3DPending", "spec.restartPolicy%3DAlways", "spec.hostNetwork%3Dfalse", "spec.x%3D1"):
        name = field.partition("%")[0].replace(".", "-").lower()
        yield _case("lists", f"list-pods-{name}", _create("pods", _pod()),
                    _ask("GET", _home("pods", query=f"fieldSelector={field}")))  # fmt: skip


def _table_cases() -> Iterator[Case]:
    job = _obj(
        "Job", "once", "batch/v1", spec={"template": {"spec": {"containers": [_container()], _RESTART: "Never"}}}
    )
    bodies: Mapping[str, tuple[str, Json | None]] = {
        "pods": ("pods", _pod(initContainers=[_container("side", restartPolicy="Always")])),
        "deployments": ("apps/v1/deployments", _workload()),
        "statefulsets": ("apps/v1/statefulsets", _workload("StatefulSet", serviceName="web")),
        "daemonsets": ("apps/v1/daemonsets", _workload("DaemonSet")),
        "replicasets": ("apps/v1/replicasets", _workload("ReplicaSet")),
        "jobs": ("batch/v1/jobs", job),
        "cronjobs": ("batch/v1/cronjobs", _obj("CronJob", "daily", "batch/v1", spec={
            "schedule": "0 3 * * *", "timeZone": "UTC", "jobTemplate": {"spec": job["spec"]}})),
        "services": ("services", _obj("Service", "web", spec={"ports": [{"port": 80}]})),
        "configmaps": ("configmaps", _obj("ConfigMap", "one", data={"a": "1"})),
        "secrets": ("secrets", _obj("Secret", "one", stringData={"a": "1"})),
        "serviceaccounts": ("serviceaccounts", _obj("ServiceAccount", "one")),
        "hpas": ("autoscaling/v2/horizontalpodautoscalers", _obj(
            "HorizontalPodAutoscaler", "web", "autoscaling/v2", spec={"maxReplicas": 3, "scaleTargetRef": {
                "apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}})),
        "claims": ("persistentvolumeclaims", _obj("PersistentVolumeClaim", "data", spec={
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})),
        "budgets": ("policy/v1/poddisruptionbudgets", _obj("PodDisruptionBudget", "web", "policy/v1", spec={
            "minAvailable": 1})),
        "ingresses": ("networking.k8s.io/v1/ingresses", _obj("Ingress", "door", "networking.k8s.io/v1", spec={
            "defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}})),
        "roles": ("rbac.authorization.k8s.io/v1/roles", _obj("Role", "r", "rbac.authorization.k8s.io/v1", rules=[])),
        "quotas": ("resourcequotas", _obj("ResourceQuota", "q", spec={"hard": {"pods": "1"}})),
        "leases": ("coordination.k8s.io/v1/leases", _obj("Lease", "l", "coordination.k8s.io/v1", spec={
            "holderIdentity": "me"})),
    }  # fmt: skip
    for name, (plural, body) in bodies.items():
        yield _case("tables", f"table-{name}", _ask("GET", _home(plural), accept=_TABLE),
                    before=[_create(plural, body)] if body else ())  # fmt: skip


def _head_cases() -> Iterator[Case]:
    made = [_create("configmaps", _obj("ConfigMap", "one"))]
    for name, path in {
        "object": _home("configmaps", "one"), "absent": _home("configmaps", "none"), "list": _home("configmaps"),
        "version": "/version", "ready": "/readyz", "groups": "/apis", "nothing": "/nothing",
    }.items():  # fmt: skip
        yield _case("head", f"head-{name}", _ask("HEAD", path), before=made)
    yield _case("head", "head-denied", _ask("HEAD", _home("configmaps", "one"), user="outsider"), before=made)


def _method_cases() -> Iterator[Case]:
    made = [_create("configmaps", _obj("ConfigMap", "one"))]
    for method in ("OPTIONS", "TRACE", "FROB", "CONNECT-X"):
        name = f"method-{method.lower()}"
        yield _case("methods", name, _ask(method, _home("configmaps", "one")), before=made)
    yield _case("methods", "method-post-object", _ask("POST", _home("configmaps", "one"), _obj("ConfigMap", "one")))
    yield _case("methods", "method-put-list", _ask("PUT", _home("configmaps"), _obj("ConfigMap", "one")))
    yield _case("methods", "method-patch-list", _ask("PATCH", _home("configmaps"), {}, kind=_MERGE))
    yield _case("methods", "method-delete-version", _ask("DELETE", "/version"))
    yield _case("methods", "method-post-apis", _ask("POST", "/apis", {}))
    yield _case("methods", "method-plain-patch", _ask("PATCH", _home("configmaps", "one"), {}), before=made)
    yield _case("methods", "method-odd-type", _ask("POST", _home("configmaps"), {}, kind="text/plain"))
    yield _case("methods", "method-odd-accept", _ask("GET", _home("configmaps"), accept="image/png"))
    yield _case("methods", "method-cbor", _ask("POST", _home("configmaps"), {}, kind="application/cbor"))


def _discovery_cases() -> Iterator[Case]:
    for name, path in {"api": "/api", "apis": "/apis"}.items():
        yield _case("discovery", f"aggregated-{name}", _ask("GET", path, accept=_DISCOVERY))
        yield _case("discovery", f"plain-{name}", _ask("GET", path))
    for path in (
        "/apis/apps/v1", "/apis/batch/v1", "/api/v1", "/apis/policy/v1", "/apis/networking.k8s.io/v1",
        "/apis/autoscaling/v2", "/apis/admissionregistration.k8s.io/v1", "/apis/discovery.k8s.io/v1",
        "/apis/resource.k8s.io/v1", "/apis/storage.k8s.io/v1", "/apis/autoscaling", "/apis/none.example/v1", "/version",
        "/apis/policy/v1beta1", "/apis/flowcontrol.apiserver.k8s.io/v1", "/apis/events.k8s.io/v1",
        "/apis/authentication.k8s.io/v1", "/apis/certificates.k8s.io/v1", "/apis/node.k8s.io/v1",
    ):  # fmt: skip
        name = "discovery" + path.replace("/apis", "").replace("/", "-").replace(".", "-")
        yield _case("discovery", name, _ask("GET", path))
    yield _case("discovery", "aggregated-old", _ask("GET", "/apis", accept=_DISCOVERY.replace("v=v2;", "v=v2beta1;")))


def _openapi_cases() -> Iterator[Case]:
    told = {"keys": ["openapi", "info", "swagger"]}
    for name, path in {
        "apps": "/openapi/v3/apis/apps/v1", "core": "/openapi/v3/api/v1", "batch": "/openapi/v3/apis/batch/v1",
        "version": "/openapi/v3/version", "v2": "/openapi/v2",
    }.items():  # fmt: skip
        yield _case("openapi", f"openapi-{name}", _ask("GET", path, trim=told))
    yield _case("openapi", "openapi-index", _ask("GET", "/openapi/v3", trim={"keys": []}))
    yield _case("openapi", "openapi-none", _ask("GET", "/openapi/v3/apis/none/v1"))
    yield _case("openapi", "openapi-denied", _ask("GET", "/openapi/v3", user="anonymous"))


def _patch_cases() -> Iterator[Case]:
    made = _create("configmaps", _obj("ConfigMap", "one", data={"a": "1"}))
    path = _home("configmaps", "one")
    for name, operations in {
        "test": [{"op": "test", "path": "/data/a", "value": "2"}], "remove": [{"op": "remove", "path": "/data/b"}],
        "odd": [{"op": "frob", "path": "/data/a"}], "move": [{"op": "move", "from": "/data/a", "path": "/data/b"}],
        "type": [{"op": "replace", "path": "/data", "value": "x"}],
    }.items():  # fmt: skip
        yield _case("patches", f"patch-{name}", made, _ask("PATCH", path, operations, kind=_JSON_PATCH))
    yield _case("patches", "patch-version", made, _ask("PATCH", path, {"metadata": {"resourceVersion": "1"}},
                                                       kind=_MERGE))  # fmt: skip
    yield _case("patches", "patch-name", made, _ask("PATCH", path, {"metadata": {"name": "two"}}, kind=_MERGE))
    yield _case("patches", "patch-nothing", made, _ask("PATCH", path, {}, kind=_MERGE))
    pod = _create("pods", _pod())
    for name, spec in {
        "image": {"containers": [{"name": "app", "image": "registry.example/app:2.0"}]},
        "command": {"containers": [{"name": "app", "command": ["x"]}]},
        "deadline": {"activeDeadlineSeconds": 5}, "grace": {"terminationGracePeriodSeconds": 1},
        "gate": {"schedulingGates": [{"name": "a/b"}]}, "tolerations": {"tolerations": [{"operator": "Exists"}]},
    }.items():  # fmt: skip
        yield _case("patches", f"patch-pod-{name}", pod, _ask("PATCH", _home("pods", "one"), {"spec": spec},
                                                              kind=_STRATEGIC))  # fmt: skip
    debugger = {"spec": {"ephemeralContainers": [{"name": "look", "image": "b", "targetContainerName": "app"}]}}
    yield _case("patches", "patch-ephemeral", pod, _ask("PATCH", _home("pods", "one/ephemeralcontainers"), debugger,
                                                        kind=_STRATEGIC))  # fmt: skip


def _delete_cases() -> Iterator[Case]:
    made = _create("configmaps", _obj("ConfigMap", "one", labels={"a": "b"}), save={"uid": "/metadata/uid"})
    path = _home("configmaps", "one")
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}
    yield _case("deletes", "delete-plain", made, _ask("DELETE", path), _ask("DELETE", path))
    yield _case("deletes", "delete-uid", made, _ask("DELETE", path, {**options, "preconditions": {"uid": "{{uid}}"}}))
    yield _case("deletes", "delete-other-uid", made, _ask("DELETE", path, {**options, "preconditions": {
        "uid": "9b0b9b0a-0000-4000-8000-000000000000"}}))  # fmt: skip
    yield _case("deletes", "delete-policy", made, _ask("DELETE", path, {**options, "propagationPolicy": "Sideways"}))
    yield _case("deletes", "delete-dry", made, _ask("DELETE", f"{path}?dryRun=All"), _ask("GET", path))
    yield _case("deletes", "delete-dry-bad", made, _ask("DELETE", f"{path}?dryRun=Some"))
    yield _case("deletes", "delete-many", made, _ask("DELETE", _home("configmaps", query="labelSelector=a%3Db")))
    yield _case("deletes", "delete-foreground", _create("apps/v1/deployments", _workload()), _ask(
        "DELETE", _home("apps/v1/deployments", "web"), {**options, "propagationPolicy": "Foreground"}))  # fmt: skip
    yield _case("deletes", "delete-pod-grace", _create("pods", _pod()), _ask("DELETE", _home(
        "pods", "one", "gracePeriodSeconds=5")))  # fmt: skip
    yield _case("deletes", "delete-unsafe", made, _ask("DELETE", path, {
        **options, "ignoreStoreReadErrorWithClusterBreakingPotential": True}))  # fmt: skip
    yield _case("deletes", "evict", _create("pods", _pod()), _ask("POST", _home("pods", "one/eviction"), {
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "one", "namespace": "NS"}}))  # fmt: skip


def _namespace_cases() -> Iterator[Case]:
    yield _case("namespaces", "namespace-read", _ask("GET", "/api/v1/namespaces/NS"))
    path = "/api/v1/namespaces/NS"
    yield _case("namespaces", "namespace-label", _ask("PATCH", path, {"metadata": {"labels": {
        "kubernetes.io/metadata.name": "other"}}}, kind=_MERGE))  # fmt: skip
    level = "pod-security.kubernetes.io"
    privileged = _pod(containers=[_container(securityContext={"privileged": True})])
    for name, labels in {
        "enforce": {f"{level}/enforce": "baseline"}, "warn": {f"{level}/warn": "restricted"},
        "audit": {f"{level}/audit": "restricted"},
    }.items():  # fmt: skip
        yield _case(
            "namespaces", f"security-{name}",
            _ask("PATCH", path, {"metadata": {"labels": labels}}, kind=_MERGE, pause=0.5),
            _create("pods", privileged), _create("pods", _pod("two")), _create("apps/v1/deployments", _workload()),
        )  # fmt: skip
    yield _case("namespaces", "security-bad", _ask("PATCH", path, {"metadata": {"labels": {
        f"{level}/enforce": "severe"}}}, kind=_MERGE))  # fmt: skip
    bad = _obj("Namespace", "Bad_Name")
    yield _case("namespaces", "namespace-bad", _ask("POST", "/api/v1/namespaces", bad))
