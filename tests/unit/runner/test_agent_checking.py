"""The test of an adapter: each thing that can be wrong with one is found, named, and nothing else is."""

import asyncio
import itertools
import re

import pytest

from builders import provider
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentResponse
from sirocco.runner.agent_checking import Status, outcomes

SCHEMA = {"interfaces": {"type": "list", "values": ["api", "cli"]}, "zone_model": {"type": "boolean"}}


class Good:
    """Looks, and says what it saw."""

    isolation = "network"

    async def describe(self):
        return AgentDescription(identity=AgentIdentity(name="good", version="1"), configuration={"interfaces": ["api"]})

    async def respond(self, request):
        reply = await request.environment.client.request("GET", "/api/v1/namespaces/shop/pods")
        return AgentResponse(final_answer=f"{len(reply.body['items'])} pods.")

    async def audit_trail(self, run_id):
        return ({"verb": "list"},)


def checked(agent, deadline=30):
    async def check():
        made = outcomes(agent, provider(), KUBERNETES, SCHEMA, seed=3, deadline_seconds=deadline)
        return {outcome.check: outcome async for outcome in made}

    return asyncio.run(check())


def changed(found, *, status):
    return {name for name, outcome in found.items() if outcome.status is status}


def test_a_good_adapter_passes_everything():
    found = checked(Good())
    assert changed(found, status=Status.PASSED) == set(found)
    assert found["identity"].seen == "good 1"
    assert "zone_model" in found["configuration"].seen
    assert found["environment"].seen.startswith("1 calls under its own account")
    assert found["audit-trail"].seen == "1 entries"


class Changing(Good):
    versions = itertools.count()

    async def describe(self):
        return AgentDescription(identity=AgentIdentity(name="x", version=str(next(self.versions))))


class Nameless(Good):
    async def describe(self):
        return AgentDescription(identity=AgentIdentity(name=" ", version="1"))


class Misconfigured(Good):
    async def describe(self):
        return AgentDescription(
            identity=AgentIdentity(name="x", version="1"), configuration={"interfaces": ["gui"], "colour": "red"}
        )


class Talkative(Good):
    async def describe(self):
        return AgentDescription(identity=AgentIdentity(name="x", version="1"), configuration={"colour": "red"})


class Unreachable(Good):
    async def describe(self):
        raise AgentFault("http://h", "nobody answers", "start it", AgentFaultKind.UNREACHABLE)

    async def respond(self, request):
        raise AgentFault("http://h", "nobody answers", "start it", AgentFaultKind.UNREACHABLE)


class Silent(Good):
    async def respond(self, request):
        return AgentResponse()


class Raising(Good):
    async def respond(self, request):
        raise KeyError("prompt")


class Writing(Good):
    async def respond(self, request):
        await request.environment.client.request("DELETE", "/api/v1/namespaces/shop/configmaps/settings")
        return AgentResponse(final_answer="Removed.")


class Asking(Good):
    """Asks the API what it may do, which kubectl does with a POST."""

    async def respond(self, request):
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
        }
        await request.environment.client.request(
            "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=body
        )
        return AgentResponse(final_answer="I may.")


class Remembering(Good):
    def __init__(self):
        self.heard = []

    async def respond(self, request):
        self.heard.append(request.prompt)
        return AgentResponse(final_answer=" ".join(self.heard))


class OneAtATime(Good):
    busy = False

    async def respond(self, request):
        if self.busy:
            raise AgentFault("x", "busy", "wait")
        self.busy = True
        await asyncio.sleep(0.05)
        self.busy = False
        return AgentResponse(final_answer="Yes.")


class OneTurn(Good):
    async def respond(self, request):
        if request.conversation:
            raise AgentFault("x", "status 500", "see its log", AgentFaultKind.REFUSED)
        return AgentResponse(final_answer="Yes.")


class Slow(Good):
    async def respond(self, request):
        await asyncio.sleep(0.6)
        return AgentResponse(final_answer="Yes.")


class WrongTrail(Good):
    async def audit_trail(self, run_id):
        raise AgentFault(
            "x", "the audit trail is a string, not a list", "answer with a list", AgentFaultKind.WRONG_TYPE
        )


class NoTrail(Good):
    async def audit_trail(self, run_id):
        raise AgentFault("x", "it offers no audit trail", "", AgentFaultKind.REFUSED)


class InProcess(Good):
    isolation = "none"


class Fallen(Good):
    isolation = "process"
    isolation_note = "the account 'nobody' cannot read /root"


class WordsOnly(Silent):
    needs_calls = True


class Denied(Good):
    needs_calls = True

    async def respond(self, request):
        await request.environment.client.request("GET", "/api/v1/namespaces/kube-system/secrets")
        return AgentResponse(final_answer="I may not.")


@pytest.mark.parametrize(
    ("agent", "check", "status", "said"),
    [
        (WordsOnly, "environment", Status.FAILED, "it read nothing: 0 calls"),
        (Denied, "environment", Status.FAILED, "it read nothing: 1 calls, none of them successful"),
        (Changing, "identity-stable", Status.FAILED, "describes itself differently"),
        (Nameless, "identity", Status.WARNED, "identity.name is empty"),
        (
            Misconfigured,
            "configuration",
            Status.FAILED,
            'configuration.interfaces is ["gui"], not a list of "api", "cli"; the agent reports colour',
        ),
        (Talkative, "configuration", Status.WARNED, "the agent reports colour, which is not a dimension"),
        (Raising, "turn", Status.FAILED, "KeyError: 'prompt'"),
        (Writing, "harmless", Status.WARNED, "delete configmaps/settings"),
        (Remembering, "stateless", Status.FAILED, "knows what was said in another one"),
        (OneAtATime, "parallel", Status.WARNED, "busy"),
        (OneTurn, "conversation", Status.FAILED, "status 500"),
        (WrongTrail, "audit-trail", Status.WARNED, "is a string, not a list"),
        (NoTrail, "audit-trail", Status.SKIPPED, "offers no audit trail"),
        (InProcess, "isolation", Status.WARNED, "none: it runs inside this process"),
        (Fallen, "isolation", Status.WARNED, "cannot read /root"),
        (Silent, "answer", Status.WARNED, "it said nothing and reported no action"),
        (Silent, "environment", Status.WARNED, "it made no call to its environment"),
    ],
)
def test_what_is_wrong_is_named(agent, check, status, said):
    outcome = checked(agent())[check]
    assert (outcome.status, said in outcome.problem) == (status, True), outcome
    assert outcome.remedy or status is Status.SKIPPED


def test_asking_what_one_may_do_changes_nothing():
    assert checked(Asking())["harmless"].status is Status.PASSED


def test_one_that_is_not_there_fails_twice_and_the_rest_is_not_reached():
    found = checked(Unreachable())
    assert changed(found, status=Status.FAILED) == {"identity", "turn"}
    assert changed(found, status=Status.PASSED) == {"isolation"}
    assert found["identity"].document() == {
        "check": "identity",
        "status": "failed",
        "seen": "",
        "where": "http://h",
        "problem": "nobody answers",
        "remedy": "start it",
    }


def test_one_that_needs_most_of_its_time_is_warned_about():
    # As long as a busy machine may make it: only that it is more than half of the time is asked.
    outcome = checked(Slow(), deadline=1)["timing"]
    assert (outcome.status, re.search(r"0\.\d s of 1 s", outcome.problem) is not None) == (Status.WARNED, True)


@pytest.mark.requirement("SI-02")
def test_nothing_that_it_asks_names_what_it_is_for():
    class Curious(Good):
        seen = ""

        async def respond(self, request):
            Curious.seen += str(request.document()).lower()
            return AgentResponse()

    checked(Curious())
    assert Curious.seen
    assert not any(word in Curious.seen for word in ("sirocco", "oasis", "probe", "scenario", "witness", "check"))
