"""The services over TLS, as a client in another process reaches them: the URLs that an agent is handed, and its token."""

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request

import pytest


def ask(served, service, path, query=None, form=None, token=None, method=None):
    """Status and body of an answer; what is no JSON comes as text."""
    document = served.access.document()
    url = document["services"][service] + path + (f"?{urllib.parse.urlencode(query)}" if query else "")
    content = urllib.parse.urlencode(form).encode() if form is not None else None
    request = urllib.request.Request(
        url, content, {"Authorization": f"Bearer {token or document['token']}"}, method=method
    )
    context = ssl.create_default_context(cadata=document["ca"])
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as response:
            status, text = response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


def test_queries_come_as_a_url_or_as_a_form(looked_at):
    query = {"query": 'up{service="web"}'}
    status, body = ask(looked_at, "metrics", "/api/v1/query", query)
    assert (status, [one["value"][1] for one in body["data"]["result"]]) == (200, ["1"] * 3)
    assert ask(looked_at, "metrics", "/api/v1/query", form=query)[0] == 200
    assert [(event["verb"], event["objectRef"]["name"]) for event in looked_at.audit()[-2:]] == [("get", "web")] * 2
    assert ask(looked_at, "metrics", "/api/v1/query", {"query": "up{"})[1]["errorType"] == "bad_data"


@pytest.mark.parametrize(
    ("service", "path"),
    [
        ("metrics", "/api/v1/alerts"), ("traces", "/api/services"), ("dashboards", "/api/search"),
        ("gitops", "/api/v1/applications"), ("ci", "/api/v1/pipelines"), ("databases", "/api/v1/migrations"),
    ],
)  # fmt: skip
def test_every_service_is_where_the_agent_is_told(looked_at, service, path):
    assert ask(looked_at, service, path)[0] == 200
    assert ask(looked_at, service, path, token="wrong")[0] == 401
    assert ask(looked_at, service, "/nowhere")[0] == 404


def test_odd_paths_and_methods_are_answered(looked_at):
    assert ask(looked_at, "ci", "/api/v1/pipelines/..%2f..%2fsecrets/logs")[0] == 404
    assert ask(looked_at, "traces", "/api/traces/%00%ff")[0] == 404
    assert ask(looked_at, "dashboards", "/api/search", method="PURGE")[0] == 405
