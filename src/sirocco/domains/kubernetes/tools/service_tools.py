"""Tools that ask the services around the cluster: metrics, alerts, traces, dashboards, GitOps, pipelines, runbooks."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from sirocco.domains.kubernetes.tools.kinds import resource
from sirocco.domains.kubernetes.tools.presentation import as_json, as_yaml
from sirocco.domains.kubernetes.tools.session import SERVER_NAME, Session, segment
from sirocco.domains.kubernetes.tools.tool import Name, Namespace, Tool

_METRICS, _TRACES, _DASHBOARDS, _GITOPS, _CI = (
    f"/services/{name}" for name in ("metrics", "traces", "dashboards", "gitops", "ci")
)
_MIGRATIONS = "/services/databases/api/v1/migrations"
_APPLICATIONS = f"{_GITOPS}/api/v1/applications"
_PIPELINES = f"{_CI}/api/v1/pipelines"
RUNBOOK_LABEL = "app.kubernetes.io/component=runbook"
Time = Annotated[str, Field(description="RFC 3339 or Unix time; empty means now.")]
PipelineId = Annotated[str, Field(min_length=1, description="Id of the pipeline.")]
Application = Annotated[str, Field(min_length=1, description="Name of the application.")]


class _MetricsTool(Tool):
    asks: ClassVar[str] = "metrics"


class _TracesTool(Tool):
    asks: ClassVar[str] = "traces"


class _DashboardsTool(Tool):
    asks: ClassVar[str] = "dashboards"


class _GitOpsTool(Tool):
    asks: ClassVar[str] = "gitops"


class _CiTool(Tool):
    asks: ClassVar[str] = "ci"


class ListMetrics(_MetricsTool):
    """List the names of all metrics."""

    async def call(self, session: Session) -> str:
        """Ask Prometheus."""
        return as_json(await session.ask("GET", f"{_METRICS}/api/v1/label/__name__/values"))


class QueryMetrics(_MetricsTool):
    """Evaluate a PromQL expression at one moment."""

    query: str = Field(min_length=1, description='PromQL expression such as http_requests_total{app="web"}.')
    time: Time = ""

    async def call(self, session: Session) -> str:
        """Ask Prometheus."""
        path = f"{_METRICS}/api/v1/query"
        return as_json(await session.ask("GET", path, query={"query": self.query, "time": self.time}))


class QueryMetricsRange(_MetricsTool):
    """Evaluate a PromQL expression over a range of time."""

    query: str = Field(min_length=1, description='PromQL expression such as rate(http_requests_total{app="web"}[5m]).')
    start: str = Field(min_length=1, description="RFC 3339 or Unix time of the first value.")
    end: str = Field(min_length=1, description="RFC 3339 or Unix time of the last value.")
    step: str = Field("60s", description="Time between two values, such as 30s or 5m.")

    async def call(self, session: Session) -> str:
        """Ask Prometheus."""
        asked = {"query": self.query, "start": self.start, "end": self.end, "step": self.step}
        return as_json(await session.ask("GET", f"{_METRICS}/api/v1/query_range", query=asked))


class ListAlerts(_MetricsTool):
    """List the alerts that are pending or firing."""

    async def call(self, session: Session) -> str:
        """Ask Prometheus."""
        return as_json(await session.ask("GET", f"{_METRICS}/api/v1/alerts"))


class SilenceAlert(_MetricsTool):
    """Silence the notifications of an alert."""

    reads_only: ClassVar[bool] = False
    name: str = Field(min_length=1, description="The alertname.")
    comment: str = Field(min_length=1, description="Why it is silenced.")
    ends_at: str = Field("", description="RFC 3339 time at which the silence ends; empty means never.")

    async def call(self, session: Session) -> str:
        """Ask Alertmanager."""
        matcher = {"name": "alertname", "value": self.name, "isRegex": False, "isEqual": True}
        body = {"matchers": [matcher], "startsAt": session.now(), "createdBy": SERVER_NAME, "comment": self.comment}
        ends = {"endsAt": self.ends_at} if self.ends_at else {}
        return as_json(await session.ask("POST", f"{_METRICS}/api/v2/silences", body={**body, **ends}))


class ListTracedServices(_TracesTool):
    """List the services of which there are traces."""

    async def call(self, session: Session) -> str:
        """Ask Jaeger."""
        return as_json(await session.ask("GET", f"{_TRACES}/api/services"))


class SearchTraces(_TracesTool):
    """Search the traces in which a service takes part."""

    service: str = Field(min_length=1, description="Name of the service.")
    operation: str = Field("", description="Only traces with this operation.")
    tags: str = Field("", description='Only spans with these tags, as a JSON object such as {"error": "true"}.')
    limit: int | None = Field(None, ge=1, description="The most traces to return.")

    async def call(self, session: Session) -> str:
        """Ask Jaeger."""
        limit = None if self.limit is None else str(self.limit)
        asked = {"service": self.service, "operation": self.operation, "tags": self.tags, "limit": limit}
        return as_json(await session.ask("GET", f"{_TRACES}/api/traces", query=asked))


class GetTrace(_TracesTool):
    """Get one trace with all its spans."""

    trace_id: str = Field(min_length=1, description="Id of the trace.")

    async def call(self, session: Session) -> str:
        """Ask Jaeger."""
        return as_json(await session.ask("GET", f"{_TRACES}/api/traces/{segment(self.trace_id, 'trace id')}"))


class SearchDashboards(_DashboardsTool):
    """Search the dashboards by a part of their title."""

    query: str = Field("", description="Part of the title; empty lists all.")

    async def call(self, session: Session) -> str:
        """Ask Grafana."""
        return as_json(await session.ask("GET", f"{_DASHBOARDS}/api/search", query={"query": self.query}))


class GetDashboard(_DashboardsTool):
    """Get one dashboard with its panels."""

    uid: str = Field(min_length=1, description="The uid of the dashboard, as the search returns it.")

    async def call(self, session: Session) -> str:
        """Ask Grafana."""
        return as_json(await session.ask("GET", f"{_DASHBOARDS}/api/dashboards/uid/{segment(self.uid, 'uid')}"))


class ListApplications(_GitOpsTool):
    """List the GitOps applications with their sync and health status."""

    async def call(self, session: Session) -> str:
        """Ask Argo CD."""
        return as_json(await session.ask("GET", _APPLICATIONS))


class GetApplication(_GitOpsTool):
    """Get one GitOps application: its source, destination, sync and health status."""

    name: Application

    async def call(self, session: Session) -> str:
        """Ask Argo CD."""
        return as_json(await session.ask("GET", f"{_APPLICATIONS}/{segment(self.name, 'name')}"))


class SyncApplication(_GitOpsTool):
    """Bring a GitOps application to the state that its repository declares."""

    reads_only: ClassVar[bool] = False
    destroys: ClassVar[bool] = True
    name: Application
    revision: str = Field("", description="Revision to sync to; empty means the application's own target.")

    async def call(self, session: Session) -> str:
        """Ask Argo CD."""
        body = {"revision": self.revision} if self.revision else {}
        return as_json(await session.ask("POST", f"{_APPLICATIONS}/{segment(self.name, 'name')}/sync", body=body))


class ListPipelines(_CiTool):
    """List the CI pipelines with their status."""

    async def call(self, session: Session) -> str:
        """Ask the CI server."""
        return as_json(await session.ask("GET", _PIPELINES))


class GetPipeline(_CiTool):
    """Get one CI pipeline with its stages and their status."""

    id: PipelineId

    async def call(self, session: Session) -> str:
        """Ask the CI server."""
        return as_json(await session.ask("GET", f"{_PIPELINES}/{segment(self.id, 'id')}"))


class GetPipelineLogs(_CiTool):
    """Read the log of a CI pipeline."""

    id: PipelineId

    async def call(self, session: Session) -> str:
        """Ask the CI server."""
        return as_json(await session.ask("GET", f"{_PIPELINES}/{segment(self.id, 'id')}/logs", accept="*/*") or "")


class RetryPipeline(_CiTool):
    """Run a CI pipeline again."""

    reads_only: ClassVar[bool] = False
    id: PipelineId

    async def call(self, session: Session) -> str:
        """Ask the CI server."""
        return as_json(await session.ask("POST", f"{_PIPELINES}/{segment(self.id, 'id')}/retry", body={}))


class TriggerPipeline(_CiTool):
    """Start a new run of a CI pipeline."""

    reads_only: ClassVar[bool] = False
    id: PipelineId

    async def call(self, session: Session) -> str:
        """Ask the CI server."""
        return as_json(await session.ask("POST", f"{_PIPELINES}/{segment(self.id, 'id')}/trigger", body={}))


class ListMigrations(Tool):
    """List the database migrations with their status."""

    async def call(self, session: Session) -> str:
        """Ask the migration service."""
        return as_json(await session.ask("GET", _MIGRATIONS))


class GetMigration(Tool):
    """Get one database migration with its status."""

    name: Name

    async def call(self, session: Session) -> str:
        """Ask the migration service."""
        return as_json(await session.ask("GET", f"{_MIGRATIONS}/{segment(self.name, 'name')}"))


class RollBackMigration(Tool):
    """Roll a database migration back."""

    reads_only: ClassVar[bool] = False
    destroys: ClassVar[bool] = True
    name: Name

    async def call(self, session: Session) -> str:
        """Ask the migration service."""
        return as_json(await session.ask("POST", f"{_MIGRATIONS}/{segment(self.name, 'name')}/rollback", body={}))


class ListRunbooks(Tool):
    """List the runbooks of a namespace with their texts."""

    namespace: Namespace = ""

    async def call(self, session: Session) -> str:
        """Ask for the config maps that hold them."""
        path = (await resource(session, "configmaps", "v1")).path(session.namespace(self.namespace))
        return as_yaml(await session.ask("GET", path, query={"labelSelector": RUNBOOK_LABEL}))


class GetRunbook(Tool):
    """Read one runbook."""

    name: Name
    namespace: Namespace = ""

    async def call(self, session: Session) -> str:
        """Ask for the config map that holds it."""
        row = await resource(session, "configmaps", "v1")
        path = row.path(session.namespace(self.namespace), segment(self.name, "name"))
        return as_yaml(await session.ask("GET", path))


SERVICE_TOOLS: Mapping[str, type[Tool]] = {
    "list_metrics": ListMetrics,
    "query_metrics": QueryMetrics,
    "query_metrics_range": QueryMetricsRange,
    "list_alerts": ListAlerts,
    "silence_alert": SilenceAlert,
    "list_traced_services": ListTracedServices,
    "search_traces": SearchTraces,
    "get_trace": GetTrace,
    "search_dashboards": SearchDashboards,
    "get_dashboard": GetDashboard,
    "list_applications": ListApplications,
    "get_application": GetApplication,
    "sync_application": SyncApplication,
    "list_pipelines": ListPipelines,
    "get_pipeline": GetPipeline,
    "get_pipeline_logs": GetPipelineLogs,
    "retry_pipeline": RetryPipeline,
    "trigger_pipeline": TriggerPipeline,
    "list_migrations": ListMigrations,
    "get_migration": GetMigration,
    "roll_back_migration": RollBackMigration,
    "list_runbooks": ListRunbooks,
    "get_runbook": GetRunbook,
}
