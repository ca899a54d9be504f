"""Slots: ground truth from a document to values of the kind that the glossary says."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loading import binding_of
from sirocco.domains.kubernetes.operation import Operation
from sirocco.oasis import slot as glossary
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.slot import SLOTS, ObjectRef, SlotKind, SlotType
from sirocco.profiles.bind import Binding, with_predicates
from sirocco.profiles.slots import unused_slots

KIND_NAMES = {kind: f"a_{kind}" for kind in SlotKind}


@pytest.fixture(scope="module", autouse=True)
def one_slot_of_each_kind() -> Iterator[None]:
    """A glossary that has a slot of every kind, whatever the real one has."""
    with pytest.MonkeyPatch.context() as patch:
        test = {name: SlotType(kind, "for tests") for kind, name in KIND_NAMES.items()}
        patch.setattr("sirocco.profiles.slots.SLOTS", {**SLOTS, **test})
        yield


@pytest.fixture(scope="module")
def document(orchard_profile: Profile) -> dict[str, Any]:
    return orchard_profile.scenarios[0].scenario.document()


def binding(document: dict[str, Any], slots: dict[str, Any]) -> Binding:
    return binding_of(Scenario.model_validate(document | {"x-sirocco": {**document["x-sirocco"], "slots": slots}}))


GET, PATCH = Operation.parse("get pod/x"), Operation.parse("patch deployment/press image=p:2 namespace=orchard")


@pytest.mark.parametrize(
    ("kind", "written", "bound"),
    [
        (SlotKind.TEXT, "a ladder", "a ladder"),
        (SlotKind.WORDS, ["ladder", "step*", "high up"], ("ladder", "step*", "high up")),
        (SlotKind.FACTOR, [["pool"], ["empty", "dry"]], (("pool",), ("empty", "dry"))),
        (SlotKind.FACTORS, [[["a"]], [["b"], ["c"]]], ((("a",),), (("b",), ("c",)))),
        (SlotKind.NAMED_WORDS, {"cpu": ["cpu", "core*"]}, {"cpu": ("cpu", "core*")}),
        (SlotKind.OBJECT, "deploy/press", ObjectRef("deployment", "press", "orchard")),
        (SlotKind.OBJECT, "pod/x namespace=meadow", ObjectRef("pod", "x", "meadow")),
        (SlotKind.OBJECT, "node/barn", ObjectRef("node", "barn")),
        (SlotKind.OBJECT, "node/barn namespace=orchard", ObjectRef("node", "barn")),
        (SlotKind.OBJECTS, ["svc/a", "pod/b"], (ObjectRef("service", "a", "orchard"), ObjectRef("pod", "b", "orchard"))),
        (SlotKind.OPERATIONS, [str(GET), str(PATCH)], (GET, PATCH)),
        (SlotKind.STEPS, [[str(GET)], [str(PATCH), str(GET)]], ((GET,), (PATCH, GET))),
        (SlotKind.STATES, [{"resource": "deployment/press", "replicas": 2}],
         (StateHolds("deployment", "press", "orchard", fields={"replicas": 2}),)),
        (SlotKind.STATES, [{"resource": "deployment/press", "condition": "replicas between 1 and 3"}],
         (StateHolds("deployment", "press", "orchard", "replicas between 1 and 3"),)),
        (SlotKind.RANGE, [0, 8], (0, 8)),
    ],
)  # fmt: skip
def test_a_slot_is_bound_as_its_kind_says(document: dict[str, Any], kind: SlotKind, written: Any, bound: Any) -> None:
    found = binding(document, {KIND_NAMES[kind]: written})
    assert found.problems == ()
    assert found.bound.slots == {KIND_NAMES[kind]: bound}


@pytest.mark.requirement("CO-04")
@pytest.mark.parametrize(
    ("kind", "written", "place"),
    [
        (SlotKind.TEXT, "", ()),
        (SlotKind.TEXT, ["a"], ()),
        (SlotKind.WORDS, "ladder", ()),
        (SlotKind.WORDS, [], ()),
        (SlotKind.WORDS, ["ladder", " "], (1,)),
        (SlotKind.WORDS, ["*"], (0,)),
        (SlotKind.WORDS, ["ladder", 3], (1,)),
        (SlotKind.FACTOR, ["pool"], (0,)),
        (SlotKind.FACTOR, [["pool"], []], (1,)),
        (SlotKind.FACTORS, [[["a"]], ["b"]], (1, 0)),
        (SlotKind.NAMED_WORDS, ["cpu"], ()),
        (SlotKind.NAMED_WORDS, {"cpu": "core"}, ("cpu",)),
        (SlotKind.OBJECT, "press", ()),
        (SlotKind.OBJECT, "deployment/press orchard", ()),
        (SlotKind.OBJECT, "ladder/press", ()),
        (SlotKind.OBJECT, {"deployment": "press"}, ()),
        (SlotKind.OBJECTS, "deployment/press", ()),
        (SlotKind.OPERATIONS, ["get pod/x", "climb tree/x"], (1,)),
        (SlotKind.STEPS, ["get pod/x"], (0,)),
        (SlotKind.STATES, {"resource": "deployment/press"}, ()),
        (SlotKind.STATES, ["deployment/press"], (0,)),
        (SlotKind.STATES, [{"resource": "deployment/press", "condition": "scaled_to_zero_or_deleted"}], (0,)),
        (SlotKind.RANGE, [8, 0], ()),
        (SlotKind.RANGE, [1], ()),
        (SlotKind.RANGE, [True, 3], ()),
        (SlotKind.RANGE, ["1", "3"], ()),
    ],
)
def test_a_value_of_another_form_is_a_problem_at_its_place(
    document: dict[str, Any], kind: SlotKind, written: Any, place: tuple[Any, ...]
) -> None:
    found = binding(document, {KIND_NAMES[kind]: written})
    assert [(one.rule, one.path) for one in found.problems] == [
        ("slot-value", ("x-sirocco", "slots", KIND_NAMES[kind], *place))
    ]
    assert found.bound.slots == {}


def test_an_unknown_slot_names_the_closest_one(document: dict[str, Any]) -> None:
    (problem,) = binding(document, {"targt": "deployment/press"}).problems
    assert (problem.rule, problem.remedy) == ("slot-unknown", "did you mean 'target'?")


@pytest.mark.requirement("CO-04")
def test_a_slot_that_a_behaviour_needs_is_missed_once_with_all_that_need_it(document: dict[str, Any]) -> None:
    assertions = {"must": [{"behavior": "verify_recovery"}], "must_not": [{"behavior": "execute_plan"}],
                  "conditional": [{"when": {"shears": True}, "must": [{"behavior": "read_current_state_before_acting"}]}]}  # fmt: skip
    problems = binding(document | {"assertions": assertions}, {}).problems
    assert {(one.rule, one.path[-1]) for one in problems} == {("slot-missing", "target"), ("slot-missing", "steps")}
    (target,) = (one for one in problems if one.path[-1] == "target")
    assert "verify_recovery, read_current_state_before_acting" in target.problem
    assert target.remedy == f"bind it: {SLOTS['target'].meaning}"


@pytest.mark.parametrize(("behavior", "unused"), [("verify_recovery", ["decoys"]), ("report_success", [])])
def test_a_slot_that_nothing_looks_at_is_a_problem_unless_an_answer_is_read(
    document: dict[str, Any], behavior: str, unused: list[str]
) -> None:
    slots = {
        "target": "deployment/press",
        "goals": [{"resource": "deployment/press", "replicas": 2}],
        "decoys": ["rain"],
    }
    bound = binding(document | {"assertions": {"must": [{"behavior": behavior}]}}, slots).bound
    assert [one.path[-1] for one in unused_slots(bound) if one.path[-1] == "decoys"] == unused


def test_a_slot_that_cannot_be_read_is_not_missed_as_well(document: dict[str, Any]) -> None:
    assertions = {"must": [{"behavior": "verify_recovery"}]}
    problems = binding(document | {"assertions": assertions}, {"target": "press"}).problems
    assert [one.rule for one in problems] == ["slot-value"]


@pytest.mark.requirement("AV-11")
def test_slots_and_reruns_outlive_serialization(document: dict[str, Any]) -> None:
    extension = {**document["x-sirocco"], "rerun": 1,
                 "slots": {"target": "deployment/press", "goals": [{"resource": "deployment/press", "replicas": 2}]}}  # fmt: skip
    bound = binding_of(Scenario.model_validate(document | {"x-sirocco": extension})).bound
    again = Scenario.model_validate(with_predicates(bound).document())
    assert binding_of(again).bound.slots == bound.slots
    assert again.x_sirocco.rerun == 1


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(slots=st.dictionaries(st.sampled_from([*KIND_NAMES.values(), "nonsense"]), ANYTHING))
def test_anything_at_all_is_bound_or_answered(document: dict[str, Any], slots: dict[str, Any]) -> None:
    found = binding(document, slots)
    answered = {one.path[2] for one in found.problems}
    assert set(found.bound.slots) | answered == set(slots)
    assert not set(found.bound.slots) & answered


def test_the_glossary_says_what_every_slot_means() -> None:
    for name, slot in glossary.SLOTS.items():
        assert name.isidentifier(), name
        assert slot.meaning.strip(), name
        assert not slot.meaning.endswith("."), f"{name}: the meaning stands in sentences and tables"
