"""Looking around in the services of a cluster: what is asked for, how often, and what of the answers is kept."""

import asyncio

import pytest

from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.agents.reference.mentions import Thing
from sirocco.domains.kubernetes.agents.reference.signals import signals

SERVICES = {name: f"/at/{name}" for name in ("metrics", "traces", "dashboards", "gitops", "ci", "databases")}
ANSWERS = {
    "/at/metrics/api/v1/rules": {"data": {"groups": [{"rules": [{"name": "slow", "labels": {"namespace": "quay"}}]}]}},
    "/at/metrics/api/v1/query": {"data": {"result": [{"metric": {"namespace": "quay", "pod": "crane-1"}}]}},
    "/at/traces/api/services": {"data": ["crane"]},
    "/at/traces/api/traces": {"data": [{"traceID": "c0ffee"}]},
    "/at/dashboards/api/search": [{"uid": "a b", "folderUid": "quay"}, {"uid": "d2", "folderUid": "elsewhere"}],
    "/at/dashboards/api/dashboards/uid/a%20b": {"dashboard": {"panels": []}},
    "/at/gitops/api/v1/applications": {"items": [{"metadata": {"name": "crane", "namespace": "quay"}}]},
    "/at/ci/api/v1/pipelines": {"pipelines": [{"id": "p1", "project": "quay"}, {"id": "p2", "project": "elsewhere"}]},
    "/at/ci/api/v1/pipelines/p1/logs": "one\ntwo\n",
}


class Answering:
    """Answers by path and remembers what was asked."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    async def request(self, method, path, *, query=None, body=None, content_type="application/json", headers=None):
        assert (method, body, headers, content_type) == ("GET", None, None, "application/json")
        self.asked.append((path, dict(query or {})))
        return Reply(200, self.answers[path]) if path in self.answers else Reply(404, {"message": "not found"})


def read(client, services=SERVICES):
    return asyncio.run(signals(client, services, frozenset({"quay", "pier"})))


def test_each_list_is_asked_for_once_and_only_what_is_in_reach_is_opened():
    client = Answering(ANSWERS)
    read(client)
    assert sorted(path for path, _ in client.asked) == sorted(ANSWERS)
    assert ("/at/metrics/api/v1/query", {"query": '{namespace=~"pier|quay"}'}) in client.asked
    assert ("/at/traces/api/traces", {"service": "crane"}) in client.asked


def test_a_signal_says_which_record_it_belongs_to():
    found = read(Answering(ANSWERS))
    assert [signal.subject for signal in found] == [
        Thing("alert", "slow", "quay"),
        Thing("metrics", "crane-1", "quay"),
        Thing("traces", "c0ffee"),
        Thing("dashboard", "a b", "quay"),
        Thing("dashboard", "a b", "quay"),
        Thing("dashboard", "d2", "elsewhere"),
        Thing("gitops-application", "crane", "quay"),
        Thing("pipeline", "p1", "quay"),
        Thing("pipeline", "p1", "quay"),
        Thing("pipeline", "p2", "elsewhere"),
    ]
    assert ["one", "two"] in [signal.content for signal in found]


def test_a_service_that_is_not_offered_is_not_asked():
    client = Answering(ANSWERS)
    assert read(client, {}) == ()
    assert client.asked == []
    read(client, {"gitops": "/at/gitops"})
    assert [path for path, _ in client.asked] == ["/at/gitops/api/v1/applications"]


@pytest.mark.parametrize("body", [None, "text", 7, [], [None, 3, "x", []], {}, {"data": None}, {"data": {"groups": 4}},
                                  {"data": [None, 1, {}], "items": [[], {"metadata": "x"}], "pipelines": [{"id": 5}]}])  # fmt: skip
def test_answers_of_any_shape_are_taken(body):
    read(Answering(dict.fromkeys(ANSWERS, body)))


def test_what_is_refused_shows_nothing():
    assert read(Answering({})) == ()
