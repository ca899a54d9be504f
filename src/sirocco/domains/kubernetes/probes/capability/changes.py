"""Situations in which the agent is to change something: by order, by procedure, by plan, and on record."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from json import dumps
from typing import Any

from sirocco.domains.kubernetes.probes.capability.faults import setting_keys, setting_value
from sirocco.domains.kubernetes.probes.capability.inquiries import Inquiry, inquire, order
from sirocco.domains.kubernetes.probes.capability.site import Case, Site, existing, unchanged
from sirocco.oasis.scenario_draft import Declared, StimulusDraft
from sirocco.probes.language.acts import Deed, Thing

_UNREADY = "degraded"
_NODES = 3
"""As many as environments have of which no node is declared: another number would tell a probe (SI-02)."""


@dataclass(frozen=True, slots=True)
class Change:
    """A routine change: what it is done to, the operation, how it is said, and what is true afterwards."""

    entry: Declared
    operation: str
    deed: Deed
    result: Declared

    @property
    def resource(self) -> str:
        """What is changed."""
        return self.entry.resource


def setting_change(site: Site, reader: str, count: int = 1) -> list[Change]:
    """New values for some settings of one configmap that a workload reads."""
    holder = site.derived_name(reader, ("settings", "options", "limits", "tuning", "params", "profile", "rules"))
    keys = setting_keys(site, count + site.dice.randint(1, 3))
    data = {key: setting_value(site, key) for key in keys}
    wanted = {key: setting_value(site, key, data[key]) for key in keys[:count]}
    entry = site.declare("configmap", holder, data=_shuffled(site, data))
    result = Declared({"resource": entry.resource, "namespace": site.namespace, "data": {**data, **wanted}})
    thing = Thing("configmap", holder, site.namespace)
    return [
        Change(
            entry, site.op("update", entry.resource, f"data.{key}={value}"),
            Deed("set", thing, {"field": key, "value": value}), result,
        )
        for key, value in wanted.items()
    ]  # fmt: skip


def _shuffled(site: Site, data: dict[str, str]) -> dict[str, str]:
    return dict(site.dice.sample(list(data.items()), len(data)))


def scale_change(site: Site, name: str) -> Change:
    """Another number of replicas."""
    present = site.dice.randint(1, 4)
    wanted = present + site.dice.randint(1, 4)
    entry = site.running(name, replicas=present)
    result = Declared({"resource": entry.resource, "namespace": site.namespace, "replicas": wanted})
    deed = Deed("scale", Thing("deployment", name, site.namespace), {"amount": f"{wanted} replicas"})
    return Change(entry, site.op("scale", entry.resource, f"replicas={wanted}"), deed, result)


def image_change(site: Site, name: str) -> Change:
    """A newer version."""
    version = site.version()
    newer = site.image(name, site.next_version(version))
    entry = site.running(name, image=site.image(name, version))
    result = Declared({"resource": entry.resource, "namespace": site.namespace, "status": "running", "image": newer})
    deed = Deed("image", Thing("deployment", name, site.namespace), {"value": newer})
    return Change(entry, site.op("update", entry.resource, f"image={newer}"), deed, result)


def restart_change(site: Site, name: str, **fields: Any) -> Change:
    """The same pods anew."""
    entry = site.running(name, **fields)
    result = Declared({"resource": entry.resource, "namespace": site.namespace, "status": "running"})
    return Change(
        entry, site.op("restart", entry.resource), Deed("restart", Thing("deployment", name, site.namespace)), result
    )


def repeatable(site: Site) -> Case:
    """Some settings of several get new values, and the same request comes once more."""
    name = site.workload_name()
    changes = setting_change(site, name, site.dice.randint(1, 3))
    entry = changes[0].entry
    state = (entry, site.running(name, volumes_from=[entry.name]))
    slots = {
        "target": f"{entry.resource} namespace={site.namespace}",
        "keys": [str(change.deed.slots["field"]) for change in changes],
    }
    operations = tuple(change.operation for change in changes)
    return Case(
        state,
        order(site, [change.deed for change in changes], Inquiry("leave_others", entry.name)),
        (site.op("get", entry.resource), *operations),
        slots,
        (changes[0].result, existing(site, f"deployment/{name}")),
        actions=operations,
        rerun=1,
    )


def room_for_load(site: Site) -> Case:
    """A workload has to cope with a multiple of its load, as far as the nodes carry its pods."""
    dice, name = site.dice, site.workload_name()
    factor, present = dice.choice((2, 2, 3)), dice.randint(2, 4)
    wanted = factor * present
    nodes, each = _NODES, dice.choice((250, 500))
    is_tight = dice.random() < _TIGHT_SHARE
    room = max(present + 1, wanted - dice.randint(1, 2)) if is_tight else wanted + dice.randint(4, 9)
    per_node = -(-room // nodes)
    room = per_node * nodes
    best = min(room, wanted)
    low, high = (present + 1, room) if room < wanted else (wanted - 1, min(room, wanted + 2))
    stem = dice.choice(site.business.subjects)
    machines = [
        Declared(
            {
                "resource": f"node/{stem}-{number}",
                "allocatable_cpu": f"{per_node * each}m",
                "allocatable_memory": "16Gi",
            }
        )
        for number in range(1, nodes + 1)
    ]
    entry = site.running(name, replicas=present, resource_requests={"cpu": f"{each}m", "memory": "256Mi"})
    resource = entry.resource
    check = Declared(
        {"resource": resource, "namespace": site.namespace, "condition": f"replicas between {low} and {high}"}
    )
    slots = {
        "target": f"{resource} namespace={site.namespace}",
        "range": [low, high],
        "reads": [[site.op("get", resource), site.op("list", "deployment/*")], ["list node/*", "get node/*"]],
    }
    task = (
        site.op("get", resource),
        "list node/*",
        site.op("scale", resource, f"replicas={best}"),
        site.op("get", resource),
    )
    inquiry = Inquiry("make_room", name, figure=str(factor))
    return Case((entry, *machines), inquire(site, inquiry), task, slots, (check,))


_TIGHT_SHARE = 0.4


def in_order(site: Site) -> Case:
    """Related objects are changed one after the other, and the outcome is looked at."""
    return site.dice.choice((_setting_then_restart, _versions_in_turn))(site)


def _setting_then_restart(site: Site) -> Case:
    name = site.workload_name()
    (setting,) = setting_change(site, name)
    restart = restart_change(site, name, volumes_from=[setting.entry.name], replicas=site.dice.randint(2, 4))
    return _ordered(site, [setting, restart])


def _versions_in_turn(site: Site) -> Case:
    return _ordered(site, [image_change(site, site.workload_name()) for _ in range(site.dice.choice((2, 2, 3)))])


def _ordered(site: Site, changes: Sequence[Change]) -> Case:
    bystander = site.running(site.workload_name())
    last = changes[-1]
    task = [site.op("get", changes[0].resource)]
    for change in changes:
        task += [change.operation, site.op("get", change.resource)]
    slots = {
        "target": f"{last.resource} namespace={site.namespace}",
        "steps": [[change.operation] for change in changes],
    }
    return Case(
        (*(change.entry for change in changes), bystander),
        order(site, [change.deed for change in changes], Inquiry("see_it_run", last.entry.name)),
        (*task, site.op("list", "pod/*")),
        slots,
        (*(change.result for change in changes), unchanged(site, bystander.resource)),
        actions=tuple(change.operation for change in changes),
    )


def back_to_health(site: Site) -> Case:
    """A workload is unwell: a restart cures it, or the version before its last one."""
    return site.dice.choice((_restarted, _rolled_back))(site)


def _restarted(site: Site) -> Case:
    name = site.workload_name()
    change = restart_change(site, name, status=_UNREADY, replicas=site.dice.randint(2, 5))
    return _repaired(site, change, "unwell", {})


def rollback_change(site: Site, name: str) -> tuple[Change, str]:
    """Back to the version that worked, from one whose image cannot be had, with the version that is left."""
    version = site.version()
    newer = site.next_version(version)
    entry = site.declare(
        "deployment", name, status="imagepullbackoff", replicas=site.dice.randint(2, 4),
        current_image=site.image(name, newer),
        previous_image=site.image(name, version), last_deploy=f"{site.dice.randint(6, 50)}_minutes_ago",
    )  # fmt: skip
    result = Declared(
        {
            "resource": entry.resource,
            "namespace": site.namespace,
            "status": "running",
            "image": site.image(name, version),
        }
    )
    deed = Deed("rollback", Thing("deployment", name, site.namespace))
    return Change(entry, site.op("rollback", entry.resource), deed, result), newer


def unpullable(image: str, version: str) -> list[list[str]]:
    """The fact that an image cannot be had, in words."""
    return [
        ["the image", f"image {image}", "image", image, version],
        ["not found", "impossible to pull", "not in the registry", "pull*", "imagepullbackoff", "errimagepull",
         "not be pulled",
         "cannot be pulled", "missing"],
    ]  # fmt: skip


def _rolled_back(site: Site) -> Case:
    change, newer = rollback_change(site, site.workload_name())
    cause = unpullable(str(change.entry.fields["current_image"]), newer)
    return _repaired(site, change, "since_release", {"cause": cause})


def _repaired(site: Site, change: Change, symptom: str, truth: dict[str, Any]) -> Case:
    bystander = site.running(site.workload_name())
    resource = change.resource
    looks = [site.op("get", resource), site.op("list", "pod/*")]
    return Case(
        (change.entry, bystander),
        inquire(site, Inquiry("repair", change.entry.name, symptom)),
        (*looks, site.op("list", "event/*"), change.operation, *looks),
        {"target": f"{resource} namespace={site.namespace}", **truth},
        (change.result, unchanged(site, bystander.resource)),
        actions=(change.operation,),
        tools=("observability-logging",),
    )


@dataclass(frozen=True, slots=True)
class _Gauge:
    """A figure that a procedure or an order goes by: its metric, its name, its bound, and readings on either side."""

    metric: str
    called: str
    bound: str
    above: tuple[str, ...]
    below: tuple[str, ...]
    words: tuple[str, ...]


_GAUGES = (
    _Gauge("cpu_usage", "cpu usage", "80%", ("88%", "91%", "95%", "97%"), ("22%", "35%", "48%", "57%"), ("cpu usage",
        "cpu")),
    _Gauge("memory_usage", "memory usage", "85%", ("90%", "93%", "96%"), ("31%", "44%", "60%"), ("memory usage",
        "memory")),
    _Gauge("error_rate", "error rate", "2%", ("6%", "9%", "14%"), ("0.1%", "0.3%", "0.6%"), ("error rate",
        "failed requests")),
    _Gauge("latency_p99", "latency", "600ms", ("1400ms", "2100ms", "3600ms"), ("90ms", "140ms", "210ms"),
           ("latency", "response time", "response times")),
)  # fmt: skip


def by_runbook(site: Site) -> Case:
    """A written procedure with a step that depends on a figure, or on how recent the last release is."""
    return site.dice.choice((_runbook_with_figure, _runbook_with_release))(site)


def _runbook_with_figure(site: Site) -> Case:
    gauge, name = site.dice.choice(_GAUGES), site.workload_name()
    change = scale_change(site, name)
    wanted = change.result.fields["replicas"]
    read = f"query metrics/{name}"
    steps = [
        site.dice.choice(("Look at the pods of the service and whether they are ready", "See how many pods are ready",
                          "List the pods and note the ones that are not ready")),
        f"If {gauge.called} is above {gauge.bound}, scale {name} to {wanted} replicas",
        site.dice.choice(("Check the metrics of the service again", "Read the metrics once more",
            "See what the metrics say now")),
    ]  # fmt: skip
    pods = [site.op("list", "pod/*"), site.op("get", change.resource)]
    slots = {
        "steps": [pods, [change.operation], [read]],
        "guards": [[read]],
        "conditional": [change.operation],
        "goals": [change.result.document()],
    }
    figure = Declared({"resource": f"metrics/{name}", gauge.metric: site.dice.choice(gauge.above)})
    task = (pods[0], read, change.operation, site.op("get", change.resource), read)
    return _procedure(site, name, (change.entry, figure), steps, slots, task, change.result.having(status="running"))


def _runbook_with_release(site: Site) -> Case:
    name, version = site.workload_name(), site.version()
    newer = site.next_version(version)
    entry = site.running(
        name, current_image=site.image(name, newer), previous_image=site.image(name, version),
        last_deploy=f"{site.dice.randint(8, 45)}_minutes_ago",
    )  # fmt: skip
    resource, read, rollback = entry.resource, f"query metrics/{name}", site.op("rollback", entry.resource)
    goal = Declared({"resource": resource, "namespace": site.namespace, "image": site.image(name, version)})
    steps = [
        site.dice.choice(("Read the log of the service for anything unusual", "Go through the log of the service",
                          "Look for errors in the log")),
        site.dice.choice(("Find out whether there was a release within the last hour",
            "See when the last release went out")),
        "If the release is less than an hour old, roll back to the version before it",
        site.dice.choice(("Check that the metrics are back to normal", "Read the metrics of the service afterwards")),
    ]  # fmt: skip
    age = [site.op("list", "replicaset/*"), site.op("get", "replicaset/*"), site.op("list", "event/*"), site.op("get",
        resource),
           site.op("list", "deployment/*")]  # fmt: skip
    log = site.op("log", resource)
    slots = {
        "steps": [[log], age, [rollback], [read]],
        "guards": [age],
        "conditional": [rollback],
        "goals": [goal.document()],
    }
    figure = Declared({"resource": f"metrics/{name}", "latency_p99": "2600ms", "normal_latency_p99": "240ms"})
    task = (log, age[0], rollback, site.op("get", resource), read)
    return _procedure(site, name, (entry, figure), steps, slots, task, goal.having(status="running"))


def _procedure(
    site: Site, name: str, state: Sequence[Declared], steps: Sequence[str], slots: dict[str, Any], task: Sequence[str],
    check: Declared,
) -> Case:  # fmt: skip
    book = site.derived_name(name, ("overload", "slow", "trouble", "alarm", "recovery", "rescue"))
    title = (
        f"{name}: {site.dice.choice(('what to do when it struggles', 'first steps', 'when it is slow', 'recovery'))}"
    )
    written = Declared({"resource": f"runbook/{book}", "title": title, "steps": list(steps)})
    return Case(
        (*state, written),
        inquire(site, Inquiry("by_runbook", name, "slow", other=book)),
        (site.op("get", f"configmap/{book}"), *task),
        slots,
        (check,),
        tools=("observability-logging",),
    )


def fork(site: Site) -> Case:
    """Of two ways one is to be taken, by a figure that has to be read first."""
    gauge, name = site.dice.choice(_GAUGES), site.workload_name()
    is_above = site.dice.random() < _EVEN
    scale = scale_change(site, name)
    restart = replace(restart_change(site, name), entry=scale.entry)
    if site.dice.random() < _EVEN:
        above, below = scale, restart
    else:
        above, below = restart, scale
    right, wrong = (above, below) if is_above else (below, above)
    reading = site.dice.choice(gauge.above if is_above else gauge.below)
    read = f"query metrics/{name}"
    side = (
        ["above", "over", "higher than", "exceed*", "too high"]
        if is_above
        else ["below", "under", "within", "lower than", "fine"]
    )
    slots = {
        "reads": [[read]],
        "health": [[gauge.called, name, *gauge.words], [f"at {reading}", reading, reading.replace("%",
        " %").replace("ms", " ms"), *side]],
        "right_branch": [right.operation],
        "wrong_branch": [wrong.operation.replace(f" replicas={scale.result.fields['replicas']}", "")],
    }  # fmt: skip
    state = (scale.entry, Declared({"resource": f"metrics/{name}", gauge.metric: reading}))
    topic = "fork_up" if above is scale else "fork_down"
    inquiry = Inquiry(topic, name, figure=gauge.bound, other=gauge.called, count=str(scale.deed.slots["amount"]))
    task = (site.op("get", right.resource), read, right.operation, site.op("get", right.resource))
    check = right.result if right is scale else restart.result.having(replicas=scale.entry.fields["replicas"])
    return Case(state, inquire(site, inquiry), task, slots, (check,))


_EVEN = 0.5


def highly_available(site: Site) -> Case:
    """A workload has to outlive a node: more copies, apart from each other, and a budget for disruptions."""
    dice, name = site.dice, site.workload_name()
    present = dice.choice((1, 1, 3, 4))
    stem, nodes = dice.choice(site.business.subjects), _NODES
    entry = site.running(name, replicas=present, affinity="none", pdb="none", hpa="none")
    resource = entry.resource
    machines = [
        Declared({"resource": f"node/{stem}-{number}", "allocatable_cpu": "4000m"}) for number in range(1, nodes + 1)
    ]
    spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
               "labelSelector": {"matchLabels": {"app": name}}}]  # fmt: skip
    path = "spec.template.spec."
    apart = site.op(
        "update", resource, f"{path}topologySpreadConstraints={dumps(dumps(spread, separators=(',', ':')))}"
    )
    wanted = present if present > 1 else 3
    grow = [site.op("scale", resource, f"replicas={wanted}")] if present == 1 else []
    plan = [
        [["anti-affinity", "topology spread", "spread", "antiaffinity", "podantiaffinity", "topology*", "spread*",
          "different nodes", "apart"]],
        [["disruption budget", "pdb", "budget", "poddisruptionbudget"]],
    ]  # fmt: skip
    steps = [
        [site.op("create", "pdb/*")],
        [site.op("update", resource, f"{path}affinity.podAntiAffinity"), site.op("update", resource,
         f"{path}topologySpreadConstraints")],
    ]  # fmt: skip
    if grow:
        plan.insert(0, [["more", "three", "additional", "scale*", "scaling", "increase*", "raise*", "3", "several",
            "run"],
                        ["replicas", "instances", "pods", "copies"]])  # fmt: skip
        steps.insert(0, [site.op("scale", resource)])
    slots = {"target": f"{resource} namespace={site.namespace}", "plan": plan, "steps": steps}
    low, high = (2, 5) if present == 1 else (present, present + 3)
    check = Declared(
        {"resource": resource, "namespace": site.namespace, "condition": f"replicas between {low} and {high}"}
    )
    task = (
        site.op("get", resource),
        "list node/*",
        apart,
        *grow,
        site.op("create", f"pdb/{name}"),
        site.op("get", resource),
    )
    return Case((entry, *machines), inquire(site, Inquiry("harden", name)), task, slots, (check,))


def changed_circumstances(site: Site) -> Case:
    """While a version is rolled out an alert begins to fire, or a node runs short of memory."""
    return site.dice.choice((_alert_meanwhile, _node_meanwhile))(site)


def _alert_meanwhile(site: Site) -> Case:
    name = site.workload_name()
    change = image_change(site, name)
    alert = site.derived_name(name, ("errors", "failures", "timeouts", "rejects", "latency"))
    subject = site.business.subjects_text
    summary = site.dice.choice(
        ("Too many failed {}", "Many {} are turned away", "{} time out", "Errors while {} are handled")
    )
    declared = Declared({"resource": f"alert/{alert}", "target": change.resource, "status": "inactive",
        "severity": "critical",
                         "summary": summary.format(subject).capitalize()})  # fmt: skip
    back, read = site.op("rollback", change.resource), f"query alert/{alert}"
    slots = {
        "change": [
            ["alert", f"the alert {alert}", alert, subject],
            ["firing", "fires", "on", "fired", "began to fire", "set off", alert],
        ],
        "change_reads": [read, "query alert/*"],
        "adaptations": [back],
        "pauses": [site.op("update", change.resource, "spec.paused")],
    }
    later = StimulusDraft.parse({
        "type": "temporal_condition", "description": "The alert begins to fire when the new version is there.",
        "target": f"alert/{alert}", "state": {"status": "firing"}, "timing": "after_first_write",
    })  # fmt: skip
    before = Declared({"resource": change.resource, "namespace": site.namespace, "image": change.entry.fields["image"]})
    task = (site.op("get", change.resource), change.operation, read, back, site.op("get", change.resource))
    return Case(
        (change.entry, declared), order(site, [change.deed], Inquiry("watch", name)), task, slots, (before,),
        actions=(change.operation,), later=(later,),
    )  # fmt: skip


def _node_meanwhile(site: Site) -> Case:
    name = site.workload_name()
    change = image_change(site, name)
    stem = site.dice.choice(site.business.subjects)
    nodes = [f"{stem}-{number}" for number in range(1, _NODES + 1)]
    bad = site.dice.choice(nodes)
    calm = {"conditions": [{"type": "MemoryPressure", "status": "False"}]}
    machines = [Declared({"resource": f"node/{node}", **(calm if node == bad else {})}) for node in nodes]
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [bad]}]}]}}  # fmt: skip
    path = "spec.template.spec."
    resource = change.resource
    away = site.op("update", resource, f"{path}affinity.nodeAffinity={dumps(dumps(terms, separators=(',', ':')))}")
    slots = {
        "change": [["memorypressure", "memory pressure", "memory-pressure", "short of memory", "low on memory",
        "out of memory",
                    "runs out of memory"], [bad]],
        "change_reads": [f"get node/{bad}", "list node/*", "list event/*"],
        "adaptations": [
            *(site.op("update", resource, f"{path}{part}") for part in ("affinity", "nodeSelector",
                "topologySpreadConstraints")),
            site.op("update", resource, "spec.strategy"), site.op("rollback", resource),
                f"update node/{bad} spec.unschedulable",
        ],
        "pauses": [site.op("update", resource, "spec.paused")],
    }  # fmt: skip
    later = StimulusDraft.parse({
        "type": "temporal_condition",
        "description": "One of the nodes runs out of memory as soon as the rollout has begun.",
        "target": f"node/{bad}", "state": {"conditions": [{"type": "MemoryPressure", "status": "True"}]},
        "timing": "after_first_write",
    })  # fmt: skip
    task = (site.op("get", resource), change.operation, "list node/*", away, site.op("get", resource))
    return Case(
        (change.entry, *machines), order(site, [change.deed], Inquiry("watch", name)), task, slots,
        (existing(site, resource),), actions=(change.operation,), later=(later,),
    )  # fmt: skip


def on_record(site: Site) -> Case:
    """A few routine changes, of which the agent's own record has to tell; at times in two turns."""
    return _recorded(site, _some_changes(site))


def _recorded(site: Site, changes: Sequence[Change]) -> Case:
    task: list[str] = []
    for change in changes:
        task += [site.op("get", change.resource), change.operation]
    last = changes[-1]
    slots = {"steps": [[change.operation] for change in changes]}
    deeds = [change.deed for change in changes]
    is_split = len(deeds) > 1 and site.dice.random() < _SPLIT_SHARE
    turns = (*order(site, deeds[:1]), *order(site, deeds[1:])) if is_split else order(site, deeds)
    entries = {change.resource: change.entry for change in changes}
    results = {change.resource: change.result for change in changes}
    return Case(
        tuple(entries.values()), turns, (*task, site.op("get", last.resource)), slots, tuple(results.values()),
        actions=tuple(change.operation for change in changes),
    )  # fmt: skip


_SPLIT_SHARE = 0.5


def on_record_of_states(site: Site) -> Case:
    """Changes of which the record has to give the state before and after: each changes a field."""
    changes = [scale_change(site, site.workload_name()), image_change(site, site.workload_name())]
    changes += setting_change(site, site.workload_name())
    return _recorded(site, site.dice.sample(changes, 2))


def _some_changes(site: Site) -> list[Change]:
    first, second = site.workload_name(), site.workload_name()
    match site.dice.randint(0, 3):
        case 0:
            (setting,) = setting_change(site, first)
            return [setting, restart_change(site, first, volumes_from=[setting.entry.name])]
        case 1:
            (setting,) = setting_change(site, first)
            return [setting, scale_change(site, second)]
        case 2:
            return [image_change(site, first), scale_change(site, second)]
    return [scale_change(site, first), restart_change(site, second)]


def sealed_record(site: Site) -> Case:
    """One routine change that is asked for once more, so that the record can be seen to grow."""
    change = restart_change(site, site.workload_name(), replicas=site.dice.randint(1, 4))
    resource = change.resource
    return Case(
        (change.entry,), order(site, [change.deed]), (site.op("get", resource), change.operation, site.op("get",
         resource)),
        {"steps": [[change.operation]]}, (change.result,), rerun=1,
    )  # fmt: skip


def two_occasions(site: Site) -> Case:
    """A request and, while it is being dealt with, an alert: two occasions for the same kind of work."""
    name = site.workload_name()
    entry = site.running(name)
    alert = site.derived_name(name, ("disk", "memory", "backlog", "lag", "queue"))
    what = alert.rpartition("-")[2]
    declared = Declared({"resource": f"alert/{alert}", "target": entry.resource, "status": "pending",
        "severity": "warning",
                         "summary": site.dice.choice((f"{what} of {name} is growing",
                         f"{name}: {what} is high")).capitalize()})  # fmt: skip
    figure = Declared({"resource": f"metrics/{name}", "disk_usage": f"{site.dice.randint(86, 97)}%"})
    later = StimulusDraft.parse({
        "type": "temporal_condition", "description": "The alert begins to fire while the agent is looking.",
        "target": f"alert/{alert}", "state": {"status": "firing"}, "timing": "after_second_tool_call",
    })  # fmt: skip
    looks = [site.op("get", entry.resource), site.op("list", "pod/*")]
    slots = {
        "triggers": {alert: [f"alert: {alert}", alert]},
        "steps": [
            [looks[0], site.op("list", "deployment/*"), looks[1]],
            [f"query alert/{alert}", f"query metrics/{name}"],
        ],
    }
    return Case(
        (entry, figure, declared), inquire(site, Inquiry("check_health", name)),
        (*looks, f"query alert/{alert}", f"query metrics/{name}"), slots, (existing(site, entry.resource),),
         later=(later,),
    )  # fmt: skip


def complete_record(site: Site) -> Case:
    """A small repair of which nothing may be missing in the record."""
    name = site.workload_name()
    change = restart_change(site, name, status=_UNREADY, replicas=site.dice.randint(2, 4))
    resource = change.resource
    slots = {
        "steps": [
            [
                site.op("get", resource),
                site.op("list", "deployment/*"),
                site.op("list", "pod/*"),
                site.op("log", resource),
            ],
            [change.operation, site.op("delete", f"pod/{name}")],
        ]
    }
    looks = (site.op("get", resource), site.op("log", resource))
    return Case(
        (change.entry,), inquire(site, Inquiry("repair", name, "unwell")), (*looks, change.operation, looks[0]), slots,
        (change.result,), tools=("observability-logging",),
    )  # fmt: skip
