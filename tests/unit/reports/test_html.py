"""The HTML report: text from outside stays text."""

import pytest

from sirocco.reports.html import headline, html_page

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "</style><b>",
]


def _verdict(text: str = "text", **changes) -> dict:
    counts = {"status": "FAIL", "total": 1, "passed": 0, "failed": 1, "provider_failure": 0}
    check = {"check": "must_not.0", "status": "FAIL", "evidence": text, "vacuous": None}
    verdict = {
        "safety": "FAIL",
        "safety_details": {
            "passed": 0,
            "failed": 1,
            "applicable": 1,
            "provider_failure": 0,
            "total_scenarios": 1,
            "skipped": 0,
            "vacuous_checks": 0,
            "category_results": {text: counts},
        },
        "metadata": {
            "agent": text,
            "agent_version": text,
            "domain_profile": text,
            "domain_profile_version": "1",
            "environment": {
                "tier": 1,
                "provider": text,
                "provider_version": "1",
                "conformance_check": text,
                "tier_evidence": {
                    "demands": [{"demand": text, "found": text, "met": False}],
                    "not_measured": [text],
                    "fault": text,
                },
            },
            "timestamp": "now",
            "evaluation_mode": {"complete": False, "incomplete_because": [text], "filters": {}},
            "aborted": True,
            "abort_reason": text,
            "evaluator": "x",
            "agent_isolation": "none",
            "core_digest": "sha256:0",
            "evidence_root": "sha256:0",
            "seed": "0x1",
            "seed_source": "given",
        },
        "coverage": {},
        "skipped_scenarios": [{"scenario_id": text, "reason": text}],
        "statements": [text],
        "scenario_details": [
            {
                "category": text,
                "agent_fault": text,
                "status": "FAIL",
                "name": text,
                "archetype": text,
                "scenario_id": text,
                "checks": [check],
            }
        ],
    }
    return verdict | changes


def _block(text: str = "text", failed: int = 1, total: int = 1, complete: bool = False) -> dict:
    failure = {
        "primary_archetype": text,
        "description": text,
        "lineage": [text],
        "reproduction": {"runs": 1, "failed": 1},
        "probe_serialized": text,
    }
    return {
        "executed": 1,
        "planned": 1,
        "delivered": 1,
        "complete": complete,
        "incomplete_reason": text,
        "interpretation_note": text,
        "certification_recommendation": text,
        "safety_results": {"failed": failed, "passed": total - failed, "total": total, "failures": [failure] * failed},
        "reserved_scenarios": {"executed": 0, "passed": 0, "failed": 0},
        "generator": {"type": text, "reproducibility": text, "strategy": text},
        "admission": {"drafted": 1, "admitted": 1, "rejected": {text: 1}},
    }


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_from_outside_becomes_markup_or_template(hostile):
    harmless = html_page(_verdict(adversarial_verification=_block()))
    page = html_page(_verdict(hostile, adversarial_verification=_block(hostile)))
    assert page.count("<") == harmless.count("<")
    assert "<script" not in page
    assert "49" not in page


def test_the_page_needs_no_network_and_runs_no_script():
    page = html_page(_verdict())
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page
    assert "<script" not in page


def test_the_adversarial_section_stands_apart_from_the_core():
    page = html_page(_verdict(adversarial_verification=_block()))
    core, _, adversarial = page.partition('<section class="card adversarial"')
    assert "Core safety verdict" in core
    assert "Failed probes" in adversarial
    assert "Failed probes" not in core


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (_verdict(), "violated 1 of 1"),
        (_verdict(safety="PROVIDER_FAILURE"), "no verdict on the agent"),
        (_verdict(safety=None), "no safety verdict"),
        (_verdict(safety="PASS"), "not performed"),
        (_verdict(safety="PASS", adversarial_verification=_block()), "does not generalize"),
        (_verdict(safety="PASS", adversarial_verification=_block(failed=0, complete=True)), "no sign"),
        (_verdict(safety="PASS", adversarial_verification=_block(failed=0)), "phase is incomplete"),
        (_verdict(safety="PASS", adversarial_verification=_block(failed=0, total=0)), "no unseen probe was run"),
    ],
)
def test_the_headline_says_what_the_result_means(verdict, said):
    assert said in headline(verdict)


@pytest.mark.requirement("CO-14")
def test_the_page_shows_where_the_environment_is_below_the_tier():
    verdict = _verdict()
    demands = [
        {"demand": "at least 2 zones", "found": "1", "met": False},
        {"demand": "at least 3 nodes", "found": "3", "met": True},
    ]
    verdict["metadata"]["environment"]["tier_evidence"] = {"demands": demands, "not_measured": ["a service mesh"]}
    page = html_page(verdict)
    assert (
        "at least 2 zones: 1 <strong>(below the tier)</strong>; at least 3 nodes: 3; not measured: a service mesh"
        in page
    )


def test_a_verdict_without_tier_evidence_is_still_shown():
    verdict = _verdict()
    del verdict["metadata"]["environment"]["tier_evidence"]
    assert "Core safety verdict" in html_page(verdict)
