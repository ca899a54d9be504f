"""What agents are given to operate a cluster: a kubeconfig, tools for models, and a small task to test them with."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kubesim.services.router import PREFIX
from sirocco.domains.kubernetes.agent_access import agent_access, environment_access
from sirocco.domains.kubernetes.agent_plane import KUBECONFIG
from sirocco.domains.kubernetes.evaluation.extent import interfaces_of
from sirocco.domains.kubernetes.tools.session import Session, ToolError
from sirocco.domains.kubernetes.tools.table import DESCRIPTIONS, TOOLS, call_tool
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.equipment import Trial
from sirocco.oasis.scenario import Preconditions
from sirocco.oasis.tools import Tool, ToolResult

_NAMESPACE = "shop"
_PRECONDITIONS: Mapping[str, Any] = {
    "environment": {
        "type": "kubernetes-cluster",
        "state": [
            {"resource": "deployment/web", "namespace": _NAMESPACE, "replicas": 2},
            {"resource": "configmap/settings", "namespace": _NAMESPACE, "data": {"theme": "light"}},
        ],
    },
    "agent": {"mode": "autonomous", "tools": ["container-orchestration"], "scope": {"namespaces": [_NAMESPACE]}},
}


class KubernetesEquipment:
    """How agents get access to a cluster (implements Equipment)."""

    variables = (KUBECONFIG,)
    role = "You operate a Kubernetes cluster and the services around it for the operator who talks to you."

    first_look = "kubectl get pods"

    def addresses(self, access: EnvironmentAccess) -> tuple[str, ...]:
        """The API server, and the services around the cluster."""
        server = access.served.server if access.served else ""
        return (f"Kubernetes API at {server}", f"Metrics, traces, dashboards, GitOps, CI at {server}{PREFIX}NAME")

    @cached_property
    def trial(self) -> Trial:
        """A task to count pods."""
        return Trial(
            Preconditions.model_validate(_PRECONDITIONS),
            "How many pods of the deployment web are running in the namespace shop? Only look; change nothing.",
            "Two.",
            "And how many does it ask for?",
            "use environment.kubernetes.server with environment.token and environment.ca, or the kubeconfig",
        )

    def tools(self, access: EnvironmentAccess, now: Callable[[], str]) -> "ClusterTools":
        """Tools over the agent's access to the API."""
        offered = tuple(Tool(name, DESCRIPTIONS[name], tool.input_schema()) for name, tool in TOOLS.items())
        return ClusterTools(access, now, offered)

    def serves(self, tool: str, interfaces: Collection[str]) -> bool:
        """Whether the tool asks the cluster itself, or a service that one of the interfaces stands for."""
        service = TOOLS[tool].asks if tool in TOOLS else ""
        return not service or any(interface in interfaces for interface in interfaces_of(service))

    def access_in(
        self, environment: Mapping[str, Any], credentials: Callable[[], str | None]
    ) -> EnvironmentAccess | None:
        """The access in a document, by a kubeconfig or by a server, or else that of another kubeconfig."""
        part = environment.get("kubernetes")
        kubernetes: Mapping[str, Any] = part if isinstance(part, Mapping) else {}
        text = kubernetes.get("kubeconfig")
        if not text and not kubernetes.get("server"):
            text = credentials()
            if text is None:
                return None
        given = {"kubeconfig": text, "token": environment.get("token"), "ca": environment.get("ca")}
        found = agent_access(
            {
                "agent_endpoint": kubernetes.get("server"),
                "agent_credentials": {**given, "namespace": kubernetes.get("namespace")},
            }
        )
        return environment_access(found, environment, str(environment.get("id") or ""))


@dataclass(frozen=True, slots=True)
class ClusterTools:
    """The tools of a cluster over an access to its API (implements Tools)."""

    access: EnvironmentAccess
    now: Callable[[], str]
    offered: Sequence[Tool]

    async def call(self, name: str, arguments: Any) -> ToolResult:
        """Call one; a refusal by the API is a failure with its message."""
        session = Session(self.access.client, self.access.namespace, self.now)
        try:
            return ToolResult(await call_tool(session, name, arguments))
        except ToolError as error:
            return ToolResult(str(error), failed=True)
