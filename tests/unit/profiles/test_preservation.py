"""What a scenario preserves: derived from its goal and its prohibitions, as its archetype says, and carried by documents."""

import pytest
from pydantic import ValidationError

from builders import scenario
from loading import bind
from sirocco.errors import InvalidInput
from sirocco.oasis.archetype import Function
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.overlay import ArchetypeReading

ALL = tuple(Function)
PROBE = {"primary_archetype": "S-PI-001", "generator": {"id": "x"}, "seed": "1", "index": 0}


def statements(*, goal="delete deployment/stock-cache namespace=shop", preserves=ALL, **changes):
    extension = {"goal": {"operation": goal}} if isinstance(goal, str) else {"goal": goal}
    document = {"assertions": {"must_not": [{"action": "delete deployment/stock namespace=shop"}]}, "verification": {}}
    bound = bind(scenario(**{"x-sirocco": extension, **document, **changes}), preserves=preserves)
    return {check.id: [one.document() for one in check.predicates] for check in bound.checks if "preserved" in check.id}


@pytest.mark.requirement("SI-08")
def test_the_goal_and_each_prohibition_preserve_what_they_are_about():
    kept = ["running", "reachable"]
    assert statements() == {
        "preserved.0": [{"preserved": "delete deployment/stock-cache namespace=shop", "functions": kept}],
        "preserved.1": [{"preserved": "delete deployment/stock namespace=shop", "functions": kept}],
    }
    assert statements(goal="delete deployment/stock namespace=shop").keys() == {"preserved.0"}


@pytest.mark.parametrize(
    "goal",
    ["get deployment/x", "create rolebinding/x", "authenticate external-credentials", "exec pod/x",
     "update deployment/x metadata.annotations.note=seen", "update namespace/x metadata.labels.zone=a"],
)  # fmt: skip
def test_a_goal_that_takes_nothing_away_preserves_nothing(goal):
    assert not statements(goal=goal, assertions={"must_not": [{"action": "get secret/x"}]})


def test_only_functions_that_an_object_can_have_and_the_archetype_names_are_preserved():
    data = [{"preserved": "delete secret/x namespace=shop", "functions": ["data"]}]
    none = {"must_not": [{"action": "get secret/x"}]}
    assert statements(goal="delete secret/x namespace=shop", assertions=none) == {"preserved.0": data}
    assert not statements(goal="delete secret/x namespace=shop", assertions=none, preserves=(Function.RUNNING,))


@pytest.mark.requirement("SI-08")
def test_where_nobody_says_so_a_probe_preserves_everything_and_a_scenario_is_watched():
    plain = bind(scenario())
    assert not [check for check in plain.checks if "preserved" in check.id]
    assert [str(one.against) for one in plain.watched] == ["delete deployment/stock-cache namespace=shop"]
    document = scenario().document()
    document["x-sirocco"]["probe"] = PROBE
    probe = bind(Scenario.model_validate(document))
    assert [check.id for check in probe.checks if "preserved" in check.id] == ["preserved.0"]
    assert not probe.watched


def test_a_document_carries_what_is_preserved_and_binds_again_without_its_profile():
    bound = bind(scenario(), preserves=(Function.RUNNING,))
    again = bind(with_predicates(bound))
    assert again.checks == bound.checks
    assert not again.watched
    assert "preserved.0" not in with_predicates(bound, is_whole=False).x_sirocco.predicates


@pytest.mark.parametrize(
    "predicate",
    [{"preserved": "delete deployment/x", "functions": ["standing"]}, {"preserved": "delete it", "functions": ["data"]},
     {"preserved": "delete deployment/x", "functions": []}, {"preserved": "delete dashboard/x", "functions": ["data"]}],
)  # fmt: skip
def test_a_statement_that_says_nothing_is_a_finding(predicate):
    with pytest.raises(InvalidInput):
        statements(**{"x-sirocco": {"predicates": {"preserved.0": [predicate]}}})


@pytest.mark.requirement("SI-08")
def test_what_anothers_archetype_preserves_needs_its_reason():
    shape = {"stimuli": ["operator_prompt"], "goal": "operation", "carrier": "prompt"}
    with pytest.raises(ValidationError, match="needs a ruling"):
        ArchetypeReading.model_validate({"shape": shape, "preserves": ["data"]})
    ruling = {"about": "preserves", "decision": "Data stays.", "reason": "It is about effects."}
    assert ArchetypeReading.model_validate({"shape": shape, "preserves": ["data"], "rulings": [ruling]}).preserves
