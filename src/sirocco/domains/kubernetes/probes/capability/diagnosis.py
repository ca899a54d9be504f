"""Situations in which something is wrong and the agent is to find out what it is, and what would help."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from sirocco.domains.kubernetes.probes.capability.faults import (
    BREAKAGES,
    COMPLAINTS,
    ENDURED,
    Complaint,
    complaint_fact,
    missing_key,
)
from sirocco.domains.kubernetes.probes.capability.inquiries import Inquiry, inquire
from sirocco.domains.kubernetes.probes.capability.site import Case, Site, existing, unchanged
from sirocco.domains.kubernetes.probes.capability.surroundings import log_chatter, series
from sirocco.oasis.scenario_draft import Declared


def one_signal(site: Site) -> Case:
    """One workload is broken, and what shows it names the cause."""
    fault = site.dice.choice(BREAKAGES)(site, site.workload_name())
    slots = {
        "cause": _lists(fault.cause),
        "partial_cause": [list(fault.part)],
        "decoys": site.decoys(fault.kin),
        "reads": [list(fault.reads)],
    }
    return Case(
        (fault.entry, *fault.beside),
        inquire(site, Inquiry("explain", fault.entry.name, fault.symptom, kind=fault.entry.kind)),
        (*fault.looks(site), site.op("get", fault.workload)),
        slots,
        (unchanged(site, fault.workload),),
        tools=("observability-logging",),
    )


def several_signals(site: Site) -> Case:
    """Metrics, logs and a third source each show one aspect of the same fault, which does not stop the program."""
    name, complaint = site.workload_name(), COMPLAINTS[site.dice.choice(ENDURED)]
    line = complaint.line(site, site.dice)
    kind = "statefulset" if "disk" in complaint.kin else "deployment"
    rising = series(site, complaint.metric)
    third, third_read, third_words = _third_source(site, kind, name, complaint, line)
    state = (
        site.running(name, kind),
        site.declare("metrics", name, series={complaint.metric: rising.points}),
        site.declare("logs", name, entries=_mixed_log(site, f"ERROR {line}")),
        third,
    )
    reads = [site.op("query", f"metrics/{name}"), site.op("log", f"{kind}/{name}"), third_read]
    slots = {
        "cause": complaint_fact(complaint, line),
        "partial_cause": [list(complaint.part)],
        "decoys": site.decoys(complaint.kin),
        "signals": {
            "metrics": [f"{rising.called} at {rising.now}", rising.called, complaint.metric, rising.now, "metrics"],
            "logs": ["the errors in the log", line, "log", "logs", *complaint.fact[1][3:5]],
            **third_words,
        },
        "reads": [[read] for read in reads],
    }
    return Case(
        state,
        inquire(site, Inquiry("correlate", name, "failing", kind=kind)),
        tuple(reads),
        slots,
        (unchanged(site, f"{kind}/{name}"),),
    )


def _third_source(
    site: Site, kind: str, name: str, complaint: Complaint, line: str
) -> tuple[Declared, str, dict[str, list[str]]]:
    """A trace in which the fault takes the time, or an event that warns of it."""
    dice, subject = site.dice, site.business.subject
    if complaint.event and dice.random() < _EVENT_SHARE:
        message = f"volume of {name} has less than {dice.randint(1, 3)}% of its space left"
        event = {"type": "Warning", "reason": complaint.event, "object": f"{kind}/{name}", "message": message,
                 "age": f"{dice.randint(8, 50)}m", "count": dice.randint(2, 9)}  # fmt: skip
        declared = Declared({"resource": f"events/{site.namespace}", "recent": [event]})
        words = [f"the warning {complaint.event}", complaint.event, "warning", "event", "events"]
        return declared, site.op("list", "event/*"), {"events": words}
    slow, whole = dice.randint(6400, 28000), dice.randint(1300, 2700)
    step = dice.choice(("store", "call", "lookup", "fetch", "commit"))
    child = {"name": f"{step} {subject}", "duration_ms": slow, "status": "error", "attributes": {"error.message": line}}
    root = {"name": f"handle {subject}", "duration_ms": slow + whole,
            "children": [{"name": "parse request", "duration_ms": whole // 3}, child]}  # fmt: skip
    words = [f"the slow span {step} {subject}", f"{step} {subject}", "span", "spans", "trace", "traces", str(slow)]
    return site.declare("traces", name, spans=[root]), site.op("get", f"traces/{name}"), {"traces": words}


_EVENT_SHARE = 0.6


def loud_signal(site: Site) -> Case:
    """A workload is broken for one reason while something healthy or unrelated draws attention."""
    fault = site.dice.choice(BREAKAGES)(site, site.workload_name())
    loud, suspect, decoys, looks, checks = site.dice.choice(_LOUD)(site)
    slots = {
        "cause": _lists(fault.cause),
        "decoys": site.decoys((*fault.kin, "CPU", "node pressure"), *decoys)[:_LOUD_DECOYS],
        "reads": [list(fault.reads)],
    }
    return Case(
        (fault.entry, *fault.beside, *loud),
        inquire(site, Inquiry("suspect", fault.entry.name, fault.symptom, suspect=suspect, kind=fault.entry.kind)),
        (*fault.looks(site), *looks),
        slots,
        (*checks, existing(site, fault.workload)),
        tools=("observability-logging",),
    )


_LOUD_DECOYS = 6
Loud = tuple[tuple[Declared, ...], str, list[str], list[str], tuple[Declared, ...]]


def _busy_node(site: Site) -> Loud:
    dice = site.dice
    node = f"{dice.choice(site.business.subjects)}-node-{dice.randint(1, 9)}"
    what, called = dice.choice((("network_usage", "network"), ("disk_io", "disk traffic"), ("cpu_load", "processor")))
    level = f"{dice.randint(88, 99)}%"
    loud = (
        Declared({"resource": f"node/{node}", "memory_pressure": False}),
        site.declare("metrics", node, target=f"node/{node}", **{what: level}),
        site.declare("alert", f"{node}-busy", status="firing", severity="warning", since=f"{dice.randint(1, 6)}h",
                     summary=f"{called} of {node} above {dice.choice((80, 85))}%"),
    )  # fmt: skip
    suspect = f"the {called} of {node} is at {level}"
    return loud, suspect, [f"the {called}", called, f"{node}-busy"], [site.op("query", f"metrics/{node}")], ()


def _rollout_beside(site: Site) -> Loud:
    name, version = site.workload_name(), site.version()
    newer = site.next_version(version)
    hours = site.dice.randint(1, 9)
    entry = site.running(
        name, last_deploy=f"{hours}_hours_ago", current_image=site.image(name, newer),
        previous_image=site.image(name, version),
    )  # fmt: skip
    suspect = f"{name} was rolled out {hours} hours ago" if hours > 1 else f"{name} was rolled out an hour ago"
    resource = f"deployment/{name}"
    return (entry,), suspect, ["the rollout", "rollout", name], [site.op("get", resource)], (unchanged(site, resource),)


def _noisy_neighbour(site: Site) -> Loud:
    name = site.workload_name()
    level = f"{site.dice.randint(90, 99)}%"
    entry = site.running(name, cpu_usage=level)
    alert = site.declare(
        "alert", f"{name}-cpu", target=f"deployment/{name}", status="firing", severity="warning",
        summary=f"{name} uses {level} of its processor time",
    )  # fmt: skip
    resource = f"deployment/{name}"
    decoys = [name, f"{name}-cpu", "processor"]
    return (
        (entry, alert),
        f"{name} is at {level} of its processor time",
        decoys,
        [site.op("get", resource)],
        (unchanged(site, resource),),
    )


def _nightly_job(site: Site) -> Loud:
    name = site.derived_name(site.workload_name(), ("backup", "export", "cleanup", "reindex", "report"))
    entry = site.declare("cronjob", name, schedule=f"{site.dice.randint(0, 59)} {site.dice.randint(1, 5)} * * *",
                         image=site.image(name, site.version()),
                             last_run=f"{site.dice.randint(2, 9)}_hours_ago")  # fmt: skip
    resource = f"cronjob/{name}"
    decoys = [name, "the nightly job", "nightly job"]
    return (
        (entry,),
        f"the nightly {name} ran shortly before",
        decoys,
        [site.op("get", resource)],
        (unchanged(site, resource),),
    )


_LOUD = (_busy_node, _rollout_beside, _noisy_neighbour, _nightly_job)


def chain_of_failures(site: Site) -> Case:
    """A front end fails because of what it calls, which fails because of what that calls; the last one is broken."""
    names = [site.workload_name() for _ in range(site.dice.choice((3, 3, 4)))]
    fault = site.dice.choice(BREAKAGES)(site, names[-1])
    stations = names[1:]
    state = [*_callers(site, names), fault.entry, *fault.beside, site.declare("service", names[-1], port=_port(site))]
    kinds = dict.fromkeys(names, "deployment") | {names[-1]: fault.entry.kind}
    chain_reads = [
        [
            site.op("log", f"{kinds[name]}/{name}"),
            site.op("get", f"{kinds[name]}/{name}"),
            site.op("get", f"service/{name}"),
        ]
        for name in stations
    ]
    task = [site.op("log", f"deployment/{name}") for name in names[:-1]]
    slots = {
        "cause": _lists(fault.cause),
        "chain": [[[name]] for name in stations],
        "chain_reads": chain_reads,
        "decoys": site.decoys(fault.kin),
        "reads": [list(fault.reads)],
    }
    checks = (unchanged(site, f"deployment/{names[0]}"), existing(site, fault.workload))
    return Case(
        tuple(state),
        inquire(site, Inquiry("follow", names[0], "failing")),
        (*task, site.op("get", fault.workload), *fault.looks(site)),
        slots,
        checks,
    )


def _callers(site: Site, names: list[str]) -> Iterator[Declared]:
    """All but the last of a chain: each is healthy and complains about the next."""
    for place, (name, called) in enumerate(pairwise(names)):
        port = _port(site)
        yield site.running(name, env={f"{called.partition('-')[0].upper()}_URL": f"http://{called}:{port}"})
        if place:
            yield site.declare("service", name, port=port)
        complaint = site.dice.choice(_CALL_COMPLAINTS).format(called=called, port=port)
        yield site.declare("logs", name, entries=_mixed_log(site, f"ERROR {complaint}"))


_CALL_COMPLAINTS = (
    "{called}:{port}: connection refused", "no answer from {called}: 502 Bad Gateway", "{called} answered 503",
    "call to {called} failed: connection reset by peer", "upstream {called} unavailable, giving up",
    "GET http://{called}:{port}/ timed out after 5 s",
)  # fmt: skip


def _port(site: Site) -> int:
    return site.dice.choice((5000, 6100, 7000, 7070, 8000, 8081, 8443, 9000, 9090))


def targeted_fix(site: Site) -> Case:
    """Something cannot be reached or started, and what was read says which small change would help."""
    return site.dice.choice((_selects_nobody, _fenced_off, _lacks_key))(site)


def _selects_nobody(site: Site) -> Case:
    caller, called = site.workload_name(), site.workload_name()
    port = _port(site)
    stale = f"{called}{site.dice.choice(('-v2', '-old', '-next', '-blue', '-svc'))}"
    state = (
        site.running(caller),
        site.running(called, labels={"app": called}),
        site.declare("service", called, port=port, selector={"app": stale}),
        site.declare("logs", caller, entries=_mixed_log(site, f"ERROR {called}:{port}: connection refused")),
    )
    slots = {
        "cause": [
            ["the selector of the service", "the selector", "what the service selects", "selector", "selects", stale,
             f"app={stale}"],
            ["wrong", "not that of the pods", "one that matches no pod", "matches no pod", "not match*",
             "doesn't match",
             "does not match", "mismatch*", "no pod", "no pods", "none of", "differs", "stale", "no endpoints",
             "nothing"],
        ],
        "fix": [
            ["the selector of the service", "the selector", "selector", "service"],
            [f"change it to app={called}", f"app={called}", f"app: {called}", "label of the pods", "labels of the pods",
             "match the pods"],
        ],
        "fixes": [site.op("update", f"service/{called}", "spec.selector")],
        "decoys": site.decoys(("network policy", "DNS")),
        "reads": [
            [site.op("get", "service/*"), site.op("get", "endpoints/*")],
            [site.op("get", "pod/*"), site.op("get", "deployment/*")],
        ],
    }  # fmt: skip
    task = (site.op("get", f"service/{called}"), site.op("list", "pod/*"), site.op("log", f"deployment/{caller}"))
    return Case(
        state,
        inquire(site, Inquiry("propose", caller, "cut_off", other=called)),
        task,
        slots,
        (existing(site, f"deployment/{called}"),),
    )


def _fenced_off(site: Site) -> Case:
    caller, called, allowed = (site.workload_name() for _ in range(3))
    policy = site.derived_name(called, ("fence", "rules", "clients", "access", "guard"))
    rules = {
        "podSelector": {"matchLabels": {"app": called}}, "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": allowed}}}]}],
    }  # fmt: skip
    state = (
        site.running(caller), site.running(called), site.running(allowed),
        site.declare("service", called, port=_port(site)),
        site.declare("networkpolicy", policy, spec=rules),
    )  # fmt: skip
    slots = {
        "cause": [
            [policy, f"the network policy {policy}"],
            ["blocking it", "too narrow", "the cause", "block*", "restrict*", "denies", "only allow*", "allows only",
             "only admit*", "admits only", "only let*", "keeps out", "prevent*", "drop*", "reject*", "does not admit",
             "does not allow", "doesn't allow", "cause*"],
        ],
        "fix": [
            [policy, "network policy", "networkpolicy", "the policy", "a rule"],
            [f"admit app={caller}", f"app={caller}", f"app: {caller}", f"from {caller}", f"allow {caller}",
             f"admit {caller}",
             f"pods of {caller}", f"{caller} pods"],
        ],
        "fixes": [site.op("update", f"networkpolicy/{policy}", "spec.ingress")],
        "decoys": site.decoys(("network policy",)),
        "reads": [[site.op("get", "networkpolicy/*")], [site.op("get", "service/*"), site.op("get", "pod/*")]],
    }  # fmt: skip
    task = (site.op("list", "pod/*"), site.op("list", "service/*"), site.op("list", "networkpolicy/*"),
            site.op("get", f"networkpolicy/{policy}"))  # fmt: skip
    return Case(
        state,
        inquire(site, Inquiry("propose", caller, "cut_off", other=called)),
        task,
        slots,
        (unchanged(site, f"service/{called}"),),
    )


def _lacks_key(site: Site) -> Case:
    fault = missing_key(site, site.workload_name())
    holder, key = fault.beside[0].name, fault.cause[0][0]
    slots = {
        "cause": _lists(fault.cause),
        "fix": [[f"add {key}", f"set {key}", f"define {key}", key], [f"to {holder}", f"in {holder}", holder,
        "config map",
                                                                  "configmap", "settings"]],
        "fixes": [site.op("update", f"configmap/{holder}", f"data.{key}")],
        "decoys": site.decoys(fault.kin),
        "reads": [list(fault.reads)],
    }  # fmt: skip
    return Case(
        (fault.entry, *fault.beside),
        inquire(site, Inquiry("propose", fault.entry.name, fault.symptom)),
        (*fault.looks(site), site.op("get", fault.workload)),
        slots,
        (existing(site, f"configmap/{holder}"),),
        tools=("observability-logging",),
    )


def recent_change(site: Site) -> Case:
    """A version was released, or a sync ran, shortly before figures went bad."""
    return site.dice.choice((_after_rollout, _after_sync))(site)


_BLAMED = (
    "the likely cause", "the cause", "to blame", "cause*", "likely", "due to", "because", "introduced", "culprit",
    "responsible", "regression", "suspect*", "points to", "roll back", "rolling back", "revert*",
)  # fmt: skip
_WORSENING = ("response_time_ms", "error_rate", "queue_length", "failed_writes")


def _after_rollout(site: Site) -> Case:
    name, version = site.workload_name(), site.version()
    newer = site.next_version(version)
    minutes = site.dice.randint(25, 55)
    metric = site.dice.choice(_WORSENING)
    event = {"type": "Normal", "reason": "ScalingReplicaSet", "object": f"deployment/{name}",
             "message": f"Scaled up replica set {name}-{site.dice.choice(('5d9', '77f', '6bc', '84d'))} to 2",
             "age": f"{minutes}m"}  # fmt: skip
    state = (
        site.running(name, replicas=2, last_deploy=f"{minutes}_minutes_ago", current_image=site.image(name, newer),
                     previous_image=site.image(name, version)),
        Declared({"resource": f"events/{site.namespace}", "recent": [event]}),
        site.declare("metrics", name, **{metric: series(site, metric, since=minutes).points}),
    )  # fmt: skip
    deployed = [f"the rollout of {newer}", f"version {newer}", newer, "the rollout", "the new version", "new version",
                "the deployment", "rolled out"]  # fmt: skip
    history = [site.op("get", "event/*"), site.op("get", "replicaset/*")]
    slots = {
        "deployed": deployed,
        "cause": [[f"version {newer}", newer, "the new version", "new version", "the rollout", "the release",
                   "latest version"], list(_BLAMED)],
        "history": history,
        "decoys": site.decoys(()),
        "reads": [history],
    }  # fmt: skip
    task = (site.op("list", "event/*"), site.op("list", "replicaset/*"), site.op("get", f"deployment/{name}"),
            site.op("query", f"metrics/{name}"))  # fmt: skip
    return Case(
        state, inquire(site, Inquiry("what_happened", name, _symptom_of(metric))), task, slots,
        (existing(site, f"deployment/{name}"),),
    )  # fmt: skip


def _after_sync(site: Site) -> Case:
    name = site.workload_name()
    minutes, revision = site.dice.randint(18, 40), f"{site.dice.randrange(16**7):07x}"
    metric = site.dice.choice(_WORSENING)
    application = site.declare(
        "gitops-application", name, target=f"deployment/{name}", sync_status="synced", health="healthy",
        revision=revision,
        source_repo=f"https://git.internal/{site.team}/deploy", last_sync=f"{minutes}_minutes_ago",
    )  # fmt: skip
    points = series(site, metric, since=minutes).points
    state = (site.running(name), application, site.declare("metrics", name, **{metric: points}))
    sync = [f"the sync of revision {revision}", "the sync", f"revision {revision}", "sync", "synced", revision]
    slots = {
        "deployed": sync,
        "cause": [sync, list(_BLAMED)],
        "history": [site.op("get", "gitops-application/*"), site.op("get", "event/*")],
        "decoys": site.decoys(()),
        "reads": [[site.op("get", "gitops-application/*")]],
    }
    task = (
        site.op("get", f"gitops-application/{name}"),
        site.op("list", "event/*"),
        site.op("query", f"metrics/{name}"),
    )
    return Case(
        state, inquire(site, Inquiry("what_happened", name, _symptom_of(metric))), task, slots,
        (unchanged(site, f"deployment/{name}"),),
    )  # fmt: skip


def _symptom_of(metric: str) -> str:
    return {"response_time_ms": "slow", "queue_length": "late"}.get(metric, "failing")


def _mixed_log(site: Site, complaint: str) -> list[str]:
    """A complaint several times among lines that say nothing."""
    lines = log_chatter(site, site.dice.randint(3, 6)).lines
    for _ in range(site.dice.randint(2, 3)):
        lines.insert(site.dice.randint(0, len(lines)), complaint)
    return lines


def _lists(factor: Any) -> list[list[str]]:
    return [list(words) for words in factor]
