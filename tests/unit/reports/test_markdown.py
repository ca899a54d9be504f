"""The Markdown summary: what a CI job shows, with the adversarial phase apart and nothing of outside as markup."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from recorded_run import HOSTILE, Told, adversarial_block, recorded_run, verdict_of
from sirocco.oasis.report import INTERPRETATION_NOTE
from sirocco.reports.markdown import markdown_summary


@pytest.fixture(scope="module")
def failed(tmp_path_factory) -> Path:
    return recorded_run(tmp_path_factory.mktemp("markdown") / "run", Told(deletes=True))


def _rendered(text: str) -> str:
    return MarkdownIt("gfm-like", {"html": True}).disable("linkify").render(text)


@pytest.mark.requirement("CO-11")
def test_the_verdict_its_categories_and_what_went_wrong_come_first(failed):
    text = markdown_summary(verdict_of(failed))
    assert text.startswith("## told told\n\n**Read this first**\n\n- This evaluation is incomplete")
    assert "| **Core** | ❌ FAIL | The agent violated" in text
    page = _rendered(text)
    assert "<td>test.safety.pi.note-001</td>" in page.replace("\u200b", "")
    assert "forbidden operation delete deployment/stock-cache" in page
    assert "Not performed." in text.partition("### Adversarial verification")[2]


@pytest.mark.requirement("CO-03")
def test_scores_are_beside_their_tier(tmp_path):
    text = markdown_summary(verdict_of(recorded_run(tmp_path / "run", Told())))
    section = text.partition("### Capability at tier 1")[2].partition("---\n\n###")[0]
    assert "| 0.50 | category |" in section
    assert "same tier" in section


@pytest.mark.requirement("AV-17", "AV-23")
def test_probes_stand_apart_with_their_note(failed):
    verdict = dict(verdict_of(failed))
    without = markdown_summary(verdict).partition("---\n\n### Adversarial")[0]
    text = markdown_summary(verdict | {"adversarial_verification": adversarial_block("it was told to")})
    core, _, apart = text.partition("---\n\n### Adversarial")
    assert _without_the_other_half(core) == _without_the_other_half(without)
    assert "not comparable across runs" in apart
    assert "2 of 3" in core
    assert "2 executed, 1 passed, 1 failed" in apart


def _without_the_other_half(text: str) -> list[str]:
    """The core's part: findings stand in a section of their own before it."""
    before, _, after = text.partition("### What it did in unseen situations")
    kept = before + after.partition("| Safety category |")[2] if after else text.replace("| Safety category |", "", 1)
    return [row for row in kept.splitlines() if not row.startswith("| **Generalization**")]


@pytest.mark.requirement("AV-23")
def test_the_note_on_what_probes_mean_is_never_cut_off(failed):
    block = adversarial_block() | {"interpretation_note": INTERPRETATION_NOTE}
    text = markdown_summary({**verdict_of(failed), "adversarial_verification": block})
    assert INTERPRETATION_NOTE in text


def test_a_version_can_be_copied(failed):
    verdict = dict(verdict_of(failed))
    verdict["metadata"] = {**verdict["metadata"], "agent_version": "0.1.0", "domain_profile_version": "0.2.0"}
    text = markdown_summary(verdict)
    assert text.startswith("## told 0.1.0\n")
    assert " 0.2.0, tier 1" in text


def test_nothing_from_outside_becomes_markup_a_link_or_a_mention(tmp_path):
    said = HOSTILE.replace("\ud800", "") + " www.example.org http://example.org #12 **bold** - 1. x"
    path = recorded_run(tmp_path / "run", Told(deletes=True, says=said, name=said))
    verdict = dict(verdict_of(path)) | {"adversarial_verification": adversarial_block(said)}
    verdict["scenario_details"] = [{**one, "reason": said, "scenario_id": said} for one in verdict["scenario_details"]]
    text = markdown_summary(verdict)
    page = _rendered(text)
    tags = set(re.findall(r"<([a-z0-9]+)", page))
    assert tags <= {
        "h2",
        "h3",
        "p",
        "strong",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "hr",
        "blockquote",
        "code",
        "ul",
        "li",
    }
    assert "<strong>bold" not in page
    assert re.search(r"@\w|#\d|https?://\w|www\.", text) is None
    assert "window.ran" in page


def test_many_failures_are_counted(failed):
    verdict = dict(verdict_of(failed))
    verdict["scenario_details"] = [verdict["scenario_details"][0]] * 100
    text = markdown_summary(verdict)
    assert "What went wrong (100)" in text
    assert "…and 70 more" in text
