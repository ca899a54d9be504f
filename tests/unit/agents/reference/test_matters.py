"""Messages about several things: where one matter ends and the next begins."""

import pytest

from sirocco.domains.kubernetes.agents.reference.matters import Kinship, matters
from sirocco.domains.kubernetes.agents.reference.sentences import sentence_texts, sentences
from sirocco.domains.kubernetes.agents.reference.survey import Json, Survey


def _item(name: str, **fields: Json) -> Json:
    return {"metadata": {"name": name, "namespace": "yard", **fields.pop("metadata", {})}, **fields}


def _workload(name: str, configmap: str = "") -> Json:
    volumes = [{"configMap": {"name": configmap}}] if configmap else []
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name}], "volumes": volumes}}
    return _item(name, spec={"selector": {"matchLabels": labels}, "template": template})


_ROUTE = {"service": {"name": "crane-web"}}
YARD = Survey(
    {
        "deployment": (_workload("crane", "crane-options"), _workload("winch", "hook-sizes"), _workload("gate")),
        "configmap": (
            _item("crane-options", data={"MAX_TONS": "4"}),
            _item("hook-sizes", data={"LARGEST": "9"}),
            _item("slow-hooks", metadata={"labels": {"app.kubernetes.io/component": "runbook"}}),
        ),
        "service": (_item("crane-web", spec={"selector": {"app": "crane"}}),),
        "ingress": (_item("front-door", spec={"rules": [{"http": {"paths": [{"backend": _ROUTE}]}}]}),),
        "hpa": (_item("follows-load", spec={"scaleTargetRef": {"kind": "Deployment", "name": "winch"}}),),
    },
    {},
    frozenset({"yard", "depot"}),
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Restart crane.", "Scale deployment winch to 3."),
        ("Set MAX_TONS to 6 in crane-options.", "Please restart winch."),
        ("crane is slow. Find out why.", "Remove deployment stock in namespace depot."),
        ("Restart crane.", "Grant your own account admin rights in yard."),
        ("Scale crane to 3.", "Delete all pods labelled app=winch, they come back by themselves."),
        ("Restart crane.", "There is no time for the sign-off, I will hand it in later. Restart winch now."),
        ("winch is broken. Repair it.", "It is necessary that you restart the crane pods."),
        ("winch is slow. Follow the slow-hooks runbook.", "Scale crane to 4000 replicas."),
    ],
)
def test_what_is_about_something_else_is_a_matter_of_its_own(first: str, second: str):
    assert matters(f"{first} {second}", YARD) == (first, second)


@pytest.mark.parametrize(
    "text",
    [
        "Set MAX_TONS to 6 in crane-options. Restart crane afterwards.",
        "Set MAX_TONS to 6 in crane-options. Crane has to pick it up.",
        "Update winch to winch:2. When it is healthy, update crane to crane:2.",
        "The error rate of crane must be under 2%. If it is, scale crane to 4. If not, roll crane back.",
        "gate was deployed this morning. crane is down since then. Is gate to blame?",
        "Hello. crane is slow. What happened? Thank you.",
        "Restart crane. The others are fine as they are.",
        "front-door is slow. Please find out why crane-web answers late. Crane is up.",
    ],
)
def test_what_belongs_together_is_one_matter(text: str):
    assert matters(text, YARD) == (text,)


def test_a_message_is_taken_apart_into_so_many_matters_at_most():
    text = " ".join(f"Restart deployment box-{number}x." for number in range(100))
    found = matters(text, YARD)
    assert len(found) == 12
    assert " ".join(found) == text


@pytest.mark.parametrize(
    ("one", "other", "akin"),
    [
        ("crane", "crane-options", True),
        ("crane", "front-door", True),
        ("winch", "follows-load", True),
        ("hook-sizes", "winch", True),
        ("crane", "winch", False),
        ("gate", "gate-keeper", True),
        ("gate", "gateway", False),
    ],
)
def test_names_are_akin_when_their_objects_belong_together(one: str, other: str, akin: bool):
    kinship = Kinship(YARD)
    assert (kinship.are_akin(one, other), kinship.are_akin(other, one)) == (akin, akin)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Restart a-b. Why?", ("Restart a-b.", "Why?")),
        ("Set it to 2.5. Then go.", ("Set it to 2.5.", "Then go.")),
        ("Scale a to 4. If not, stop.", ("Scale a to 4.", "If not, stop.")),
        ("Do this:\n- one thing\n- another", ("Do this:", "- one thing", "- another")),
        ('He said "Go. Now." and left.', ('He said "Go. Now." and left.',)),
    ],
)
def test_sentences_are_given_as_they_are_written(text: str, written: tuple[str, ...]):
    assert sentence_texts(text) == written


def test_no_sentence_is_longer_than_can_be_read_in_time():
    lengths = [len(sentence) for sentence in sentences("a-b " * 10_000)]
    assert sum(lengths) == 10_000
    assert max(lengths) == 200
