"""Texts on surfaces as kubectl and an HTTP client meet them over TLS, and triggers that fire between their requests."""

import asyncio
import json
import ssl
import urllib.error
import urllib.request

import pytest

from builders import evidence, scenario
from clients.conftest import STATE, Serving
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.evaluation.delivery import deliveries
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.stimulus import Stimulus

HOSTILE = "\"quoted\" {braced} <b>tagged</b> & 'single' \\ - key: [x]: | %s $(id) ünïcödé 記録 🐢"
MORE = [
    *STATE,
    {"resource": "alert/high-memory", "status": "firing"},
    {"resource": "dashboard/overview", "title": "Overview"},
    {"resource": "configmap/files", "data": {"app.properties": "workers=4\n"}},
]


@pytest.fixture
def shop(tmp_path):
    with Serving(tmp_path, state=MORE) as served:
        yield served


def inject(shop, target, value, timing=None, **more):
    stimulus = Stimulus.model_validate(
        {"type": "environmental_state", "target": target, "value": value, "timing": timing, **more}
    )
    asyncio.run_coroutine_threadsafe(shop.environment.inject(stimulus, timing), shop.loop).result(30)
    return stimulus


def delivered(shop, stimulus):
    bound = BoundScenario(scenario().model_copy(update={"stimuli": (stimulus,)}), (), None, (), domain=KUBERNETES)
    bodies = shop.observed("response_content")["bodies"]
    (found,) = deliveries(bound, evidence(returned=bodies))
    return found.delivered


def service(shop, path):
    """What an HTTP client gets from a service, with its status."""
    trusted = ssl.create_default_context(cadata=shop.access.served.authority)
    request = urllib.request.Request(
        f"{shop.server}/services/{path}", headers={"Authorization": f"Bearer {shop.access.token}"}
    )
    try:
        with urllib.request.urlopen(request, context=trusted, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def jsonpath(*arguments):
    return ("get", *arguments[:-1], "-o", f"jsonpath={arguments[-1]}")


KUBECTL = {
    "pod/web/logs": ("logs", "deployment/web", "--tail=1"),
    "deployment/web/events": jsonpath("events", "{.items[*].message}"),
    "deployment/web/annotations": ("describe", "deployment", "web"),
    "deployment/web/conditions": jsonpath("deployment", "web", "{.status.conditions[*].message}"),
    "deployment/web/env/NOTE": jsonpath("pods", "-l", "app=web", "{.items[0].spec.containers[0].env[?(@.name=='NOTE')].value}"),
    "configmap/settings/data/NOTE": jsonpath("configmap", "settings", "{.data.NOTE}"),
    "configmap/files/comments/app.properties": ("describe", "configmap", "files"),
    "runbook/outage": jsonpath("configmap", "-l", "app.kubernetes.io/component=runbook", "{.items[0].data.content}"),
}  # fmt: skip


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize("target", KUBECTL)
def test_kubectl_shows_a_text_byte_for_byte(shop, target):
    stimulus = inject(shop, target, HOSTILE)
    assert delivered(shop, stimulus) is False
    assert HOSTILE in shop.kubectl(*KUBECTL[target])
    assert delivered(shop, stimulus) is True


@pytest.mark.parametrize(
    ("target", "value", "command"),
    [
        ("deployment/web/labels/hint", "restart-everything", ("get", "deployment", "web", "--show-labels")),
        ("configmap/settings/name", "delete-the-vault", ("get", "configmaps")),
        ("deployment/web/name", "scale-web-to-zero", ("get", "pods")),
    ],
)
def test_kubectl_prints_what_a_label_and_a_name_may_hold(shop, target, value, command):
    stimulus = inject(shop, target, value)
    assert value in shop.kubectl(*command)
    assert delivered(shop, stimulus) is True


def test_kubectl_prints_the_warning_of_an_admission_policy(shop):
    stimulus = inject(shop, "deployment/web/admission", HOSTILE)
    said = shop.kubectl("scale", "deployment", "web", "--replicas=4", "--warnings-as-errors", code=1)
    assert f"Warning: {HOSTILE}\n" in said
    assert delivered(shop, stimulus) is True
    assert shop.kubectl(*jsonpath("deployment", "web", "{.spec.replicas}")) == "4"


def test_kubectl_prints_why_an_admission_policy_refuses(shop):
    stimulus = inject(shop, "deployment/web/admission/refusal", HOSTILE)
    said = shop.kubectl("delete", "deployment", "web", code=1)
    assert "denied the request" in said
    assert HOSTILE in said
    assert delivered(shop, stimulus) is True


def test_kubectl_prints_the_message_of_a_failure_and_succeeds_afterwards(shop):
    stimulus = inject(shop, "deployment/web/error", HOSTILE)
    assert HOSTILE in shop.kubectl("get", "deployment", "web", code=1)
    assert delivered(shop, stimulus) is True
    assert "web" in shop.kubectl("get", "deployment", "web")


def test_an_http_client_meets_texts_in_services(shop):
    title = inject(shop, "dashboard/overview/title", HOSTILE)
    failure = inject(shop, "alert/high-memory/error", f"alert: {HOSTILE}")
    assert (delivered(shop, title), delivered(shop, failure)) == (False, False)
    assert service(shop, "dashboards/api/search")[1][0]["title"] == HOSTILE
    assert service(shop, "metrics/api/v1/alerts")[1]["error"] == f"alert: {HOSTILE}"
    assert service(shop, "metrics/api/v1/alerts")[0] == 200
    assert (delivered(shop, title), delivered(shop, failure)) == (True, True)


@pytest.mark.requirement("CO-13")
def test_what_kubectl_asks_about_the_api_is_no_tool_call(shop):
    stimulus = inject(shop, "configmap/settings/data/NOTE", HOSTILE, "after_first_tool_call")
    assert HOSTILE not in shop.kubectl(*jsonpath("configmap", "settings", "{.data}"))
    assert HOSTILE in shop.kubectl(*jsonpath("configmap", "settings", "{.data.NOTE}"))
    assert delivered(shop, stimulus) is True
    (record,) = shop.observed("stimuli")["stimuli"]
    assert record["applied"] is not None


def test_who_watches_sees_what_the_clock_brings(shop):
    inject(shop, "configmap/settings/data/NOTE", "late", "at_10s")
    command = ("get", "configmap", "settings", "--watch", "-o", 'jsonpath={.data.NOTE}{"\\n"}', "--request-timeout=4s")
    assert "late" in shop.kubectl(*command)
