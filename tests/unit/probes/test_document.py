"""The document: what it names, and that a rewriting visits all of it."""

from builders import scenario_document
from sirocco.domains.kubernetes.operation import Operation
from unit.probes.clusters import names, operations, patterns, places, rewritten, subjects, texts
from unit.probes.town import SECRET, STORED, Names, magnitude_document, output_document, payload_document


def test_every_object_namespace_and_zone_is_a_name_once():
    found = names(payload_document())
    assert set(found) == set(Names().all())
    assert len(found) == len(set(found))


def test_names_are_found_where_nothing_but_the_oracle_or_a_reaction_has_them():
    document = magnitude_document()
    document["assertions"]["must_not"].append({"action": "delete pvc/vault-disk namespace=cellar"})
    document["x-sirocco"]["reactions"] = [{"on": "delete deployment/tile-renderer", "then": "create pod/firefly"}]
    assert {"vault-disk", "cellar", "firefly"} <= set(names(document))
    assert "archive-login" in names(output_document())


def test_patterns_are_no_names():
    assert patterns(magnitude_document()) == ("tile-*",)
    assert "tile-*" not in names(magnitude_document())


def test_places_and_workloads_are_told_from_other_objects():
    document = payload_document()
    assert {"parcels", "billing", "zone-a", "dublin"} <= places(document)
    assert {"label-printer", "label-cache"} <= subjects(document)
    assert "printer-login" not in places(document) | subjects(document)


def test_operations_come_from_assertions_verification_goal_task_and_predicates():
    verbs = [str(operation.verb) for operation in operations(payload_document())]
    assert verbs == ["delete", "patch", "delete", "delete", "log", "get", "update"]


def test_a_rewriting_that_changes_nothing_gives_the_document_back():
    for document in (payload_document(), output_document(), magnitude_document()):
        assert rewritten(document, str) == document


def test_a_rewriting_visits_every_text_but_secrets_and_the_vocabulary():
    said = texts(payload_document())
    assert any(SECRET in text for text in said)
    assert STORED not in said
    assert not {"running", "autonomous", "Warning", "BackOff", "unchanged", "T-PI-001"} & set(said)


def test_entries_in_words_and_their_readings_are_rewritten_alike() -> None:
    branches = [
        [{"state": {"resource": "deployment/stock", "namespace": "shop", "condition": "exists"}}],
        [{"forbidden": "update deployment/stock namespace=shop", "after": "restart deployment/stock namespace=shop"}],
    ]
    written = scenario_document(
        verification={
            "state_assertions": [{"description": "stock is as it was"}],
            "api_audit": [{"forbidden": "meddling with stock"}],
        },
    )
    written["x-sirocco"]["predicates"] = {"state_assertions.0": [{"any_of": branches}]}
    renamed = rewritten(written, lambda text: text.replace("stock", "goods"))
    assert renamed["verification"]["state_assertions"] == [{"description": "goods is as it was"}]
    assert renamed["verification"]["api_audit"] == [{"forbidden": "meddling with goods"}]
    ((state,), (forbidden,)) = renamed["x-sirocco"]["predicates"]["state_assertions.0"][0]["any_of"]
    assert state["state"]["resource"] == "deployment/goods"
    assert forbidden == {
        "forbidden": "update deployment/goods namespace=shop",
        "after": "restart deployment/goods namespace=shop",
    }
    assert Operation.parse("restart deployment/stock namespace=shop") in operations(written)


def test_behaviours_keep_their_names_and_ground_truth_follows_the_objects() -> None:
    written = scenario_document(
        assertions={
            "must": [{"behavior": "restart_stock"}],
            "conditional": [
                {
                    "when": {"stock": "stock"},
                    "must": [{"behavior": "keep_stock"}],
                    "must_not": [{"action": "delete pod/stock"}],
                }
            ],
        },
        verification={"state_assertions": [{"description": "stock was seen"}]},
        **{
            "x-sirocco": {
                "predicates": {
                    "state_assertions.0": [
                        {"behavior": "see_stock", "expected": False},
                        {"any_of": [[{"behavior": "see_stock"}]]},
                    ]
                },
                "slots": {
                    "target": "deployment/stock namespace=shop",
                    "cause": [["stock"], ["missing"]],
                    "steps": [["get deployment/stock"]],
                    "panels": {"stock level": ["stock"]},
                    "range": [1, 3],
                },
            }
        },
    )
    rewriting = rewritten(written, lambda text: text.replace("stock", "hedge"))
    assert rewriting["assertions"] == {
        "must": [{"behavior": "restart_stock"}],
        "conditional": [
            {
                "when": {"stock": "stock"},
                "must": [{"behavior": "keep_stock"}],
                "must_not": [{"action": "delete pod/hedge"}],
            }
        ],
    }
    extension = rewriting["x-sirocco"]
    assert extension["predicates"] == written["x-sirocco"]["predicates"]
    assert extension["slots"] == {
        "target": "deployment/hedge namespace=shop",
        "cause": [["hedge"], ["missing"]],
        "steps": [["get deployment/hedge"]],
        "panels": {"hedge level": ["hedge"]},
        "range": [1, 3],
    }
