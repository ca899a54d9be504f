"""What a request means and in which form it is answered: paths, methods, media types, and what the audit log keeps."""

import json
from contextlib import suppress
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesim.access import AUTHENTICATED, MASTERS, Principal
from kubesim.audit_log import AuditLog
from kubesim.bare import bare_api
from kubesim.handling.negotiation import for_errors, negotiate_form
from kubesim.handling.request import Request, parse_call
from kubesim.handling.watches import whole_response
from kubesim.status import ApiError

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def call(target, method="GET"):
    path, _, query = target.partition("?")
    return parse_call(Request.from_network(method, path, query, {}, b"", ""))


@pytest.mark.parametrize(
    ("method", "target", "expected"),
    [
        ("GET", "/api/v1/pods", ("list", "", "pods", "", "", "")),
        ("GET", "/api/v1/pods/", ("list", "", "pods", "", "", "")),
        ("GET", "/api/v1/namespaces/a/pods/b/log", ("get", "", "pods", "a", "b", "log")),
        ("GET", "/api/v1/namespaces/a%2Fpods%2Fb", ("get", "", "pods", "a", "b", "")),
        ("GET", "/api/v1/namespaces//pods", ("list", "", "pods", "", "", "")),
        ("PUT", "/api/v1/namespaces/a/finalize", ("update", "", "namespaces", "a", "a", "finalize")),
        ("DELETE", "/apis/apps/v1/namespaces/a/deployments", ("deletecollection", "apps", "deployments", "a", "", "")),
        ("GET", "/api/v1/watch/namespaces/a/pods/b", ("watch", "", "pods", "a", "b", "")),
        ("GET", "/api/v1/pods?watch=", ("watch", "", "pods", "", "", "")),
        ("GET", "/api/v1/pods?watch=0", ("list", "", "pods", "", "", "")),
        ("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dx", ("list", "", "pods", "", "x", "")),
        ("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dx,,y", ("list", "", "pods", "", "", "")),
        ("HEAD", "/api/v1/pods/x", ("get", "", "pods", "", "x", "")),
        ("OPTIONS", "/api/v1/pods", ("", "", "pods", "", "", "")),
    ],
)
def test_a_path_and_method_mean_a_verb_on_a_resource(method, target, expected):
    found = call(target, method)
    assert (found.verb, found.group, found.resource, found.namespace, found.name, found.subresource) == expected


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1", "/apis/apps/v1", "/version"])
def test_other_paths_are_no_resource(path):
    assert not call(path).is_resource


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", ("application/json", "")),
        ("*/*", ("application/json", "")),
        ("application/vnd.kubernetes.protobuf,application/json", ("application/json", "")),
        ("application/json;q=0.1,application/yaml", ("application/yaml", "")),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", ("application/json", "Table")),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", ("application/json", "")),
    ],
)
def test_the_best_form_that_there_is_wins(accept, expected):
    found = negotiate_form(accept)
    assert (found.media_type, found.kind) == expected


@pytest.mark.parametrize("accept", ["text/html", "application/*", "application/json;as=Nope;v=v1;g=meta.k8s.io"])
def test_a_form_that_there_is_not_is_refused(accept):
    with pytest.raises(ApiError) as refused:
        negotiate_form(accept)
    assert refused.value.code == 406


@given(accept=st.text(alphabet="aplictonj/sy;=*,q.019 Tbe", max_size=60))
def test_any_accept_header_is_read(accept):
    plain = for_errors(accept)
    with suppress(ApiError):
        assert negotiate_form(accept) == plain or negotiate_form(accept).kind


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", CONFIGMAPS, 405),
        ("OPTIONS", CONFIGMAPS, 405),
        ("HEAD", f"{CONFIGMAPS}/a", 405),
        ("GET", "/api/v1/nonsense", 404),
        ("GET", "//api/v1/pods", 404),
        ("GET", "/apis/none/v1/things", 404),
        ("GET", f"{CONFIGMAPS}/..", 400),
        ("GET", f"{CONFIGMAPS}/a%252Fb", 400),
        ("POST", "/api/v1/configmaps", 405),
        ("GET", "/api/v1/configmaps/a", 404),
    ],
)
def test_what_is_not_served_gets_its_code(bare, method, path, status):
    assert bare.send(method, path).status == status


def test_a_body_beyond_the_limit_is_refused(bare):
    response = bare.send("POST", CONFIGMAPS, b" " * (3 * 1024 * 1024 + 1))
    assert (response.status, response.body["reason"]) == (413, "RequestEntityTooLarge")


def test_capitals_count_in_the_type_of_a_patch_only(bare):
    bare.send("POST", CONFIGMAPS, {"metadata": {"name": "a"}}, "APPLICATION/JSON")
    assert bare.send("PATCH", f"{CONFIGMAPS}/a", {}, "application/merge-patch+json; charset=utf-8").status == 200
    assert bare.send("PATCH", f"{CONFIGMAPS}/a", {}, "Application/merge-patch+json").status == 415


def test_an_answer_can_be_yaml(bare):
    response = bare.send("GET", "/api/v1/namespaces/default", accept="application/yaml")
    assert response.headers["Content-Type"] == "application/yaml"
    assert 'kind: Namespace\nmetadata:\n  creationTimestamp: "2026-01-05T09:00:00Z"\n' in response.body
    assert bare.send("GET", f"{CONFIGMAPS}/none", accept="application/yaml").body.startswith(
        "apiVersion: v1\ncode: 404"
    )


def test_a_deprecated_version_warns_and_is_noted(bare):
    response = bare.send("GET", "/apis/networking.k8s.io/v1beta1/namespaces/default/ingresses")
    assert "unavailable in v1.22+; use networking.k8s.io/v1 Ingress" in response.headers["Warning"]
    assert bare.events()[-1]["annotations"]["k8s.io/removed-release"] == "1.22"


def test_unknown_fields_are_refused_dropped_or_warned_about(server):
    current = server(33)
    body = {"metadata": {"name": "a"}, "bogus": 1}
    strict = current.send("POST", f"{CONFIGMAPS}?fieldValidation=Strict", body)
    assert (strict.status, 'unknown field "bogus"' in strict.body["message"]) == (400, True)
    warned = current.send("POST", CONFIGMAPS, body)
    assert (warned.status, warned.headers["Warning"]) == (201, '299 - "unknown field \\"bogus\\""')
    assert "bogus" not in warned.body
    assert "Warning" not in current.send("PUT", f"{CONFIGMAPS}/a?fieldValidation=Ignore", body).headers


def test_the_audit_log_takes_over_the_id_and_shows_what_was_refused(bare):
    response = bare.send("POST", CONFIGMAPS, {"metadata": {"name": "a"}}, token="other", audit_id="id-7")
    event = bare.events()[-1]
    assert (response.status, response.headers["Audit-Id"], event["auditID"]) == (403, "id-7", "id-7")
    assert event["unreadObject"] == {"metadata": {"name": "a"}}
    assert "requestObject" not in event
    assert event["objectRef"] == {"resource": "configmaps", "namespace": "default", "apiVersion": "v1"}
    unknown = bare.send("GET", CONFIGMAPS, token="wrong")
    event = bare.events()[-1]
    assert (unknown.status, event["stage"], event["user"], "annotations" in event) == (
        401,
        "ResponseStarted",
        {},
        False,
    )


_ADMIN = Principal("root", "", (MASTERS, AUTHENTICATED))
_SERVER = bare_api({"admin": _ADMIN}, AuditLog(), lambda: "2026-01-05T09:00:00.000000Z")
_PATHS = [CONFIGMAPS, f"{CONFIGMAPS}/a", "/api/v1/namespaces/default/pods/p/log", "/api/v1/namespaces/default/pods",
          "/api/v1/namespaces/default/pods/p/eviction", "/apis/apps/v1/namespaces/default/deployments/d/scale",
          "/api/v1/namespaces/default/status", "/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers",
          "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
          "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/openapi/v3", "/healthz"]  # fmt: skip
_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/merge-patch+json",
          "application/strategic-merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"]  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metadata", "spec", "name", "kind", "apiVersion", "labels", "data", "op"]), inner
        )
    ),
    max_leaves=12,
)
_CONTENT = st.binary(max_size=60) | _JSON.map(lambda value: json.dumps(value).encode())
_QUERY = st.lists(
    st.tuples(
        st.sampled_from(["limit", "continue", "resourceVersion", "labelSelector", "fieldSelector", "dryRun", "watch",
                         "fieldManager", "force", "gracePeriodSeconds", "timeoutSeconds", "tailLines", "pretty"]),
        st.text(max_size=12),
    ),
    max_size=3,
)  # fmt: skip


@settings(max_examples=2 * settings.default.max_examples)
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]),
    path=st.sampled_from(_PATHS) | st.text(max_size=20).map(lambda text: f"/api/v1/{quote(text)}"),
    query=_QUERY.map(urlencode),
    content=_CONTENT,
    content_type=st.sampled_from(_TYPES),
    accept=st.sampled_from(["", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/yaml"]),
)
def test_nothing_that_arrives_breaks_the_server(method, path, query, content, content_type, accept):
    headers = {"authorization": "Bearer admin", "content-type": content_type, "accept": accept}
    response = whole_response(_SERVER.handle(Request.from_network(method, path, query, headers, content, "")))
    assert 200 <= response.status < 600


@pytest.mark.requirement("CO-06")
@pytest.mark.parametrize("token", ["admin", "other"])
@pytest.mark.parametrize("content_type", ["application/yaml", "application/vnd.kubernetes.protobuf", "text/plain"])
def test_a_body_that_is_no_json_is_in_the_audit_log_as_text(bare, token, content_type):
    bare.send("POST", "/api/v1/namespaces/default/configmaps", b"k8s\0 gale-4711", content_type, token=token)
    if token == "other":
        assert "gale-4711" in bare.events()[-1]["unreadObject"]
    bare.send(
        "PATCH", "/api/v1/namespaces/default/configmaps/a", b"a: gale-4711", "application/apply-patch+yaml", token=token
    )
    event = bare.events()[-1]
    assert "gale-4711" in str(event.get("requestObject", event.get("unreadObject")))
