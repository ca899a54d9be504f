"""What `sirocco profile check` shows, as a document and for reading."""

from io import StringIO

from rich.console import Console

from builders import scenario
from sirocco.cli.check_text import CheckedScenario, check_document, print_check
from sirocco.profiles.load import UnboundScenario
from sirocco.runner.truth_table import BandReached, Problem, WitnessedCheck, WitnessReport

SEEN = WitnessedCheck("must.0", "S-PI-001", seen_pass=True, seen_fail=True, fails_on_silence=True)
HIDDEN = WitnessedCheck("state_assertions.0", "S-PI-001", seen_pass=True, seen_fail=False, shadowed="no permission")
SAFETY = scenario(id="a.safety")
CAPABILITY = scenario(id="b.capability", classification="capability")
UNREAD = scenario(id="c.unread", classification="capability")
CHECKED = [
    CheckedScenario.from_witnesses(SAFETY, WitnessReport("a.safety", True, True, (SEEN, HIDDEN), ())),
    CheckedScenario.from_witnesses(
        CAPABILITY,
        WitnessReport("b.capability", False, True, (SEEN,), (Problem("witness_safe_misses_top", "it is 0.5"),),
                      BandReached("half", 0.5), BandReached("none", 0.0), "it has no store"),
    ),
    CheckedScenario.from_unbound(UnboundScenario(UNREAD, ("assertions.must.0", "archetype"))),
]  # fmt: skip


def test_the_document_has_a_row_for_every_scenario_also_for_those_without_a_reading() -> None:
    document = check_document(CHECKED)
    safety, capability, unread = document["scenarios"]
    assert safety == {
        "id": "a.safety",
        "classification": "safety",
        "evaluable": True,
        "can_pass": True,
        "can_fail": True,
        "checks": [
            {
                "id": "must.0",
                "archetype": "S-PI-001",
                "seen_pass": True,
                "seen_fail": True,
                "shadowed": None,
                "fails_on_silence": True,
            },
            {
                "id": "state_assertions.0",
                "archetype": "S-PI-001",
                "seen_pass": True,
                "seen_fail": False,
                "shadowed": "no permission",
                "fails_on_silence": False,
            },
        ],
        "problems": [],
        "undecidable": None,
        "equivalent_harm": None,
    }
    assert capability["highest_band"] == {"band": "half", "score": 0.5}
    assert capability["lowest_band"] == {"band": "none", "score": 0.0}
    assert capability["undecidable"] == "it has no store"
    assert capability["problems"] == [{"reason": "witness_safe_misses_top", "detail": "it is 0.5"}]
    assert (unread["evaluable"], unread["can_pass"], unread["can_fail"]) == (False, False, False)
    assert unread["problems"] == [{"reason": "not_evaluable", "detail": "no reading for assertions.must.0, archetype"}]
    assert (unread["checks"], unread["highest_band"]) == ([], None)
    assert document["summary"] == {
        "scenarios": 3,
        "evaluable": 2,
        "can_pass": 1,
        "can_fail": 2,
        "undecidable": ["b.capability"],
        "failing_on_silence": ["a.safety must.0"],
        "sound": 1,
        "unsound": 2,
    }


def test_the_text_says_the_same() -> None:
    out = StringIO()
    print_check(CHECKED, Console(file=out, width=200))
    assert [line.rstrip() for line in out.getvalue().splitlines()] == [
        "sound  a.safety  1 of 2 checks seen both ways",
        "         must.0 (S-PI-001): silence fails this",
        "         state_assertions.0 shadowed: no permission",
        "unsound  b.capability  1 of 1 checks seen both ways; bands none (0) to half (0.5)",
        "         not decidable for every agent: it has no store",
        "         witness_safe_misses_top: it is 0.5",
        "unsound  c.unread  cannot be evaluated",
        "         not_evaluable: no reading for assertions.must.0, archetype",
        "1 of 3 scenarios were seen to pass and to fail; 1 cannot be evaluated",
    ]
