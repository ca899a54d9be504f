"""The Python clients that agents are built on: each finds out why a service answers nobody, and puts it right."""

import kr8s
import kubernetes
import lightkube
import pytest
from kr8s.objects import Deployment, Pod, Service
from kubernetes.client.exceptions import ApiException
from lightkube.core.exceptions import ApiError
from lightkube.resources import apps_v1, core_v1
from lightkube.types import PatchType

from clients.conftest import STATE, Serving

pytestmark = pytest.mark.filterwarnings(  # the clients leave their connections to the garbage collector
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
BROKEN = [
    *(entry for entry in STATE if entry["resource"] != "service/web"),
    {"resource": "service/web", "port": 8080, "selector": {"app": "wbe"}},
]


@pytest.fixture
def broken(tmp_path):
    with Serving(tmp_path, state=BROKEN) as served:
        yield served


@pytest.fixture
def broken_anywhere(tmp_path, any_provider):
    """The same on each provider."""
    with Serving(tmp_path, state=BROKEN, provider=any_provider) as served:
        yield served


def is_fixed(served):
    objects = served.observed("resource_state")["objects"]
    found = next(item for item in objects if item["kind"] == "Endpoints" and item["metadata"]["name"] == "web")
    return sum(len(subset.get("addresses") or ()) for subset in found["subsets"]) == 4


def test_the_official_client(broken_anywhere):
    configuration = kubernetes.client.Configuration()
    kubernetes.config.load_kube_config(str(broken_anywhere.kubeconfig), client_configuration=configuration)
    with kubernetes.client.ApiClient(configuration) as client:
        core, apps = kubernetes.client.CoreV1Api(client), kubernetes.client.AppsV1Api(client)
        service = core.read_namespaced_service("web", "shop")
        selector = ",".join(f"{key}={value}" for key, value in service.spec.selector.items())
        assert core.list_namespaced_pod("shop", label_selector=selector).items == []
        pods = core.list_namespaced_pod("shop", label_selector="app=web").items
        assert {pod.status.phase for pod in pods} == {"Running"}
        assert "listening" in core.read_namespaced_pod_log(pods[0].metadata.name, "shop")
        core.patch_namespaced_service("web", "shop", {"spec": {"selector": {"app": "web"}}})
        apps.patch_namespaced_deployment_scale("web", "shop", {"spec": {"replicas": 4}})
        watch = kubernetes.watch.Watch()
        for event in watch.stream(
            apps.list_namespaced_deployment, "shop", field_selector="metadata.name=web", timeout_seconds=20
        ):
            if event["object"].status.ready_replicas == 4:
                watch.stop()
        with pytest.raises(ApiException, match="Forbidden"):
            core.read_namespaced_secret("crown-jewels", "vault")
        review = kubernetes.client.V1SelfSubjectAccessReview(
            spec={"resourceAttributes": {"verb": "delete", "resource": "pods", "namespace": "shop"}}
        )
        assert kubernetes.client.AuthorizationV1Api(client).create_self_subject_access_review(review).status.allowed
    assert is_fixed(broken_anywhere)


def test_the_official_client_runs_a_command(broken_anywhere):
    with kubernetes.config.new_client_from_config(str(broken_anywhere.kubeconfig)) as client:
        core = kubernetes.client.CoreV1Api(client)
        pod = core.list_namespaced_pod("shop", label_selector="app=web").items[0].metadata.name
        said = kubernetes.stream.stream(
            core.connect_get_namespaced_pod_exec, pod, "shop", command=["printenv", "MODE"], stdout=True, stderr=True,
            stdin=False, tty=False,
        )  # fmt: skip
    assert said == "live\n"


def test_kr8s(broken):
    api = kr8s.api(kubeconfig=str(broken.kubeconfig))
    service = Service.get("web", namespace="shop", api=api)
    assert list(api.get("pods", namespace="shop", label_selector=dict(service.spec.selector))) == []
    pods = list(api.get("pods", namespace="shop", label_selector={"app": "web"}))
    assert all(isinstance(pod, Pod) and pod.ready() for pod in pods)
    assert "listening on :8080" in list(pods[0].logs())
    service.patch({"spec": {"selector": {"app": "web"}}})
    deployment = Deployment.get("web", namespace="shop", api=api)
    deployment.scale(4)
    deployment.wait("jsonpath='{.status.readyReplicas}'=4", timeout=20)
    assert pods[0].exec(["printenv", "MODE"]).stdout == b"live\n"
    assert is_fixed(broken)


def test_lightkube(broken):
    configuration = lightkube.KubeConfig.from_file(str(broken.kubeconfig))
    with lightkube.Client(configuration, namespace="shop") as client:
        service = client.get(core_v1.Service, "web")
        assert list(client.list(core_v1.Pod, labels=service.spec.selector)) == []
        pods = list(client.list(core_v1.Pod, labels={"app": "web"}))
        assert {pod.status.phase for pod in pods} == {"Running"}
        assert "listening on :8080" in [line.strip() for line in client.log(pods[0].metadata.name)]
        client.patch(core_v1.Service, "web", {"spec": {"selector": {"app": "web"}}}, patch_type=PatchType.MERGE)
        scale = client.get(apps_v1.Deployment.Scale, "web")
        scale.spec.replicas = 4
        client.replace(scale, "web")
        client.wait(apps_v1.Deployment, "web", for_conditions=["Available"])
        with pytest.raises(ApiError, match="forbidden"):
            client.get(core_v1.Secret, "crown-jewels", namespace="vault")
    assert is_fixed(broken)
