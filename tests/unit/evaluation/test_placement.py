"""Where a pod can be placed: node by node, and why not."""

from typing import Any

import pytest

from builders import kubernetes_object
from kubesim.placement import fitting_nodes, refusal, refusals


def node(name: str = "a", *, labels: dict[str, str] | None = None, status: Any = None, **spec: Any) -> dict[str, Any]:
    return kubernetes_object("node", name, labels=labels or {"disk": "ssd"}, spec=spec,
                             status=status or {"allocatable": {"cpu": "4", "memory": "8Gi"}})  # fmt: skip


def affinity(*terms: Any) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def asking(**amounts: str) -> dict[str, Any]:
    return {"containers": [{"resources": {"requests": amounts}}, {"resources": {"requests": amounts}}]}


CLOSED = {"key": "closed", "value": "yes", "effect": "NoSchedule"}
SSD = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
AWAY = "node(s) didn't match Pod's node affinity/selector"


@pytest.mark.parametrize(
    ("spec", "on", "why"),
    [
        ({}, node(), None),
        ({"nodeSelector": {"disk": "ssd"}}, node(), None),
        ({"nodeSelector": {"disk": "tape"}}, node(), AWAY),
        (affinity(SSD), node(), None),
        (affinity({}), node(), AWAY),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}), node(), None),
        (affinity({"matchExpressions": [{"key": "disk", "operator": "DoesNotExist"}]}), node(), AWAY),
        (affinity({"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["3"]}]}), node(labels={"size": "4"}), None),
        (affinity({"matchExpressions": [{"key": "size", "operator": "Lt", "values": ["3"]}]}), node(labels={"size": "4"}), AWAY),
        ({}, node(unschedulable=True), "node(s) were unschedulable"),
        ({}, node(taints=[CLOSED]), "node(s) had untolerated taint {closed: yes}"),
        ({}, node(taints=[{**CLOSED, "effect": "PreferNoSchedule"}]), None),
        ({"tolerations": [{"operator": "Exists"}]}, node(taints=[CLOSED]), None),
        ({"tolerations": [{"key": "closed", "value": "yes"}]}, node(taints=[CLOSED]), None),
        ({"tolerations": [{"key": "closed", "value": "no"}]}, node(taints=[CLOSED]),
         "node(s) had untolerated taint {closed: yes}"),
        ({}, node(status={"conditions": [{"type": "Ready", "status": "False"}]}),
         "node(s) had untolerated taint {node.kubernetes.io/not-ready: }"),
        (asking(cpu="2"), node(), None),
        (asking(cpu="2001m"), node(), "Insufficient cpu"),
        (asking(memory="5Gi"), node(), "Insufficient memory"),
        (asking(gpu="1"), node(), "Insufficient gpu"),
        (asking(cpu="400"), node(status={"phase": "Running"}), None),
        ({"initContainers": asking(memory="9Gi")["containers"]}, node(), "Insufficient memory"),
    ],
)  # fmt: skip
def test_a_node_takes_a_pod_or_says_why_not(spec: Any, on: Any, why: str | None):
    assert refusal(spec, on) == why
    assert fitting_nodes(spec, [on]) == (["a"] if why is None else [])


def test_refusals_are_counted_by_reason():
    nodes = [node("a"), node("b", unschedulable=True), node("c")]
    told = refusals({"nodeSelector": {"disk": "tape"}}, nodes)
    assert told == f"0/3 nodes are available: 1 node(s) were unschedulable, 2 {AWAY}."
