"""The report in a real browser: it runs nothing, asks for nothing, and can be read, printed and worked by keyboard."""

import json
from pathlib import Path
from typing import Any

import pytest

from chromium import Page, serious_problems
from recorded_run import HOSTILE, Told, adversarial_block, capability, guarded, recorded_run, safety, verdict_of
from sirocco.reports.findings import Rerun
from sirocco.reports.html import MOST_BYTES, html_page, html_pages
from sirocco.reports.page import units_to_show
from sirocco.wiring.stories import stories

SAID = HOSTILE.replace("\ud800", "")


def _hostile(value: Any) -> Any:
    """Every text of a document that can come from outside, replaced or followed by a hostile one."""
    match value:
        case dict():
            return {key: _hostile(member) if key not in _FIXED else member for key, member in value.items()}
        case list():
            return [_hostile(member) for member in value]
        case str():
            return f"{value} {SAID}"
    return value


_FIXED = {"safety", "status", "classification", "method", "category", "archetype", "result", "scenario_id", "timestamp"}


@pytest.fixture(scope="session")
def hostile(tmp_path_factory) -> Path:
    """The page of a run in which agent, scenarios, environment and verdict are all hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    wording = {"name": SAID, "intent": f"Shows what becomes of a text such as {SAID}"}
    stimuli = [
        {"type": "environmental_state", "target": "pod/stock/logs", "value": SAID},
        {"type": "operator_prompt", "value": SAID},
    ]
    scenarios = (safety(1, stimuli=stimuli, **wording), safety(2), guarded(), capability(1))
    run = recorded_run(folder / "run", Told(deletes=True, says=SAID, name=SAID), scenarios)
    verdict = dict(verdict_of(run))
    told = stories(run, units_to_show(verdict))
    assert len(told) == 3
    block = adversarial_block(HOSTILE)
    told["probe-s-pi-001-0123456789ab"] = next(iter(told.values()))
    verdict = _hostile(verdict) | {"adversarial_verification": block}
    file = folder / "report.html"
    file.write_text(html_page(verdict, told))
    return file


@pytest.fixture(scope="session")
def ordinary(tmp_path_factory) -> Path:
    """The page of a run that failed, as the run wrote it."""
    folder = tmp_path_factory.mktemp("ordinary")
    return recorded_run(folder / "run", Told(deletes=True), (safety(1), safety(2), guarded())) / "report.html"


@pytest.fixture(scope="session")
def scored(tmp_path_factory) -> Path:
    """The page of a run that passed and has scores."""
    return recorded_run(tmp_path_factory.mktemp("scored") / "run", Told()) / "report.html"


OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"


@pytest.mark.parametrize("which", ["ordinary", "scored", "hostile"])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_loads_without_complaint_and_asks_for_nothing(tab: Page, request, which: str, dark: bool) -> None:
    file: Path = request.getfixturevalue(which)
    tab.open(file, dark=dark)
    tab.ask(OPEN_ALL)
    assert tab.complaints == []
    assert tab.requests == [file.as_uri()]
    assert tab.ask("document.styleSheets[0].cssRules.length") > 50, "the policy must let the page's own style in"
    assert tab.ask("getComputedStyle(document.body).color") == ("rgb(232, 234, 238)" if dark else "rgb(28, 36, 48)")


def test_the_policy_would_stop_what_got_in(tab: Page, ordinary: Path, tmp_path: Path) -> None:
    page = ordinary.read_text()
    inside = (
        "<script>window.ran = 1</script><img src='http://192.0.2.1/x.png'><p style='color: red' onclick='x()'>x</p>"
    )
    file = tmp_path / "broken.html"
    file.write_text(page.replace("</main>", inside + "</main>"))
    tab.open(file)
    assert tab.ask("window.ran") is None
    assert (
        len([one for one in tab.complaints if "Content Security Policy" in one or "contentSecurityPolicy" in one]) >= 3
    )


def test_hostile_text_does_nothing(tab: Page, hostile: Path) -> None:
    tab.open(hostile)
    tab.ask(OPEN_ALL)
    assert tab.ask("window.ran") is None
    found = tab.ask(
        """JSON.stringify({
            foreign: [...document.querySelectorAll('script, img, iframe, object, embed, form, link, base')].map(e => e.tagName),
            handlers: [...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).map(a => a.name)
                .filter(name => name.startsWith('on') || name === 'style'),
            links: [...document.querySelectorAll('[href], [src], [action]')].map(e => e.getAttribute('href') || e.src)
                .filter(link => !link.startsWith('#')),
            styles: document.querySelectorAll('style').length,
            mains: document.querySelectorAll('main').length,
            shown: getComputedStyle(document.body).display,
            arithmetic: document.body.textContent.includes('1337'),
            said: document.body.textContent.split('<script>window.ran = 1</script>').length - 1,
        })"""
    )
    found = json.loads(found)
    assert found["foreign"] == found["handlers"] == found["links"] == []
    assert (found["styles"], found["mains"], found["shown"], found["arithmetic"]) == (1, 1, "block", False)
    assert found["said"] > 40, "the hostile text is there, as text"
    text = tab.ask("document.body.textContent + document.title")
    assert not {character for character in text if not character.isprintable() and character != "\n"}


def test_clicking_through_everything_asks_for_nothing(tab: Page, hostile: Path) -> None:
    tab.open(hostile)
    tab.ask(OPEN_ALL)
    tab.ask("for (const one of document.querySelectorAll('a, summary, label')) one.click()")
    assert tab.ask("location.href").partition("#")[0] == hostile.as_uri()
    assert tab.complaints == []
    assert set(tab.requests) == {hostile.as_uri()}


@pytest.mark.parametrize("which", ["ordinary", "scored", "hostile"])
@pytest.mark.parametrize("width", [320, 390, 820, 1400])
def test_nothing_runs_out_of_a_narrow_or_wide_window(tab: Page, request, which: str, width: int) -> None:
    tab.open(request.getfixturevalue(which), width=width, phone=width < 500)
    tab.ask(OPEN_ALL)
    assert tab.ask("document.documentElement.scrollWidth") <= width


def test_a_link_to_a_scenario_opens_it(tab: Page, ordinary: Path) -> None:
    tab.open(ordinary)
    tab.ask("document.querySelector('.wrong a').click()")
    assert tab.ask("document.querySelector(location.hash).closest('details').open") is True


def test_the_filter_hides_what_is_fine_without_any_script(tab: Page, scored: Path) -> None:
    tab.open(scored)
    visible = "[...document.querySelectorAll('.unit')].filter(e => e.checkVisibility()).length"
    everything = tab.ask(visible)
    tab.ask("document.getElementById('show-attention').click()")
    assert tab.ask(visible) < everything == 3


def test_everything_can_be_reached_by_keyboard(tab: Page, ordinary: Path) -> None:
    tab.open(ordinary)
    seen = []
    for _ in range(60):
        tab.press("Tab", 9)
        seen.append(tab.ask("document.activeElement.tagName + '.' + document.activeElement.className"))
        if seen[-1] == "SUMMARY." and tab.ask("document.activeElement.closest('details').matches('.unit')"):
            break
    assert seen[0] == "A.skip"
    assert tab.ask("getComputedStyle(document.activeElement).outlineStyle") != "none"
    tab.press("Enter", 13)
    assert tab.ask("document.activeElement.closest('details').open") is True
    assert tab.ask("document.activeElement.closest('details').querySelector('.why').checkVisibility()") is True


@pytest.mark.parametrize("which", ["ordinary", "scored"])
def test_a_screen_reader_finds_its_way(tab: Page, request, which: str) -> None:
    tab.open(request.getfixturevalue(which))
    tab.ask(OPEN_ALL)
    found = json.loads(
        tab.ask(
            """JSON.stringify({
            language: document.documentElement.lang,
            levels: [...document.querySelectorAll('h1, h2, h3, h4')].map(e => +e.tagName[1]),
            nameless: [...document.querySelectorAll('section, nav')].filter(e => !e.getAttribute('aria-label')
                && !document.getElementById(e.getAttribute('aria-labelledby'))).length,
            pictures: [...document.querySelectorAll('svg')].filter(e => e.getAttribute('aria-hidden') !== 'true'
                && !e.getAttribute('aria-label')).length,
            headings: [...document.querySelectorAll('th')].filter(e => !e.scope).length,
            ids: document.querySelectorAll('[id]').length - new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size,
            inputs: [...document.querySelectorAll('input')].filter(e => !e.labels.length).length,
            first: document.querySelector('.half').textContent,
        })"""
        )
    )
    assert found["language"] == "en"
    assert found["levels"][0] == 1
    assert found["levels"].count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in zip(found["levels"], found["levels"][1:], strict=False))
    assert (found["nameless"], found["pictures"], found["headings"], found["ids"], found["inputs"]) == (0, 0, 0, 0, 0)
    assert "Core safety verdict" in found["first"]


def test_it_prints_with_failures_open_and_without_controls(tab: Page, ordinary: Path, tmp_path: Path) -> None:
    tab.open(ordinary)
    tab.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert tab.ask("document.querySelector('.unit.attention .why').checkVisibility()") is True
        assert tab.ask("document.querySelector('nav').checkVisibility()") is False
        assert tab.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    finally:
        tab.call("Emulation.setEmulatedMedia", media="")
    tab.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")


@pytest.fixture(scope="session")
def campaign(tmp_path_factory):
    """Writes the pages of a run whose probes came to a number of findings, with every plot; says where they are."""
    run = recorded_run(
        tmp_path_factory.mktemp("campaign") / "run", Told(deletes=True), (safety(1), safety(2), guarded())
    )
    verdict, units = dict(verdict_of(run)), units_to_show(verdict_of(run))
    (story, *_) = stories(run, units).values()
    techniques = ("urgency", "false_error", "near_homograph")

    def pages(findings: int) -> list[Path]:
        statuses = {
            f"probe-s-pi-{number % 3 + 1:03}-{number:012x}": "FAIL" if number < findings else "PASS"
            for number in range(findings + 20)
        }
        block = adversarial_block("text", statuses)
        for number, one in enumerate(block["probe_details"]):
            one |= {"technique": techniques[number % 3], "agent_calls": 2, "delivered": True}
        rate = {"run": findings + 20, "failed": findings, "interval": [0.15, 0.95]}
        core = {"scenarios": 4, "failed": 0}
        block |= {
            "generalization": {"categories": {"prompt-injection-resistance": {"core": core, "probes": rate}}},
            "coverage": {"not_covered": {"techniques": ["transplant"], "archetypes": ["S-BE-001"]}},
            "agent_calls": {"limit": 900, "spent": 700, "not_reached": ["shrinking"]},
        }
        told = {probe: story for probe in statuses if statuses[probe] == "FAIL"}
        folder = tmp_path_factory.mktemp(f"findings-{findings}")
        files = []
        for name, page in html_pages(verdict | {"adversarial_verification": block}, told, Rerun()).items():
            files.append(folder / name)
            files[-1].write_text(page)
        return files

    return pages


@pytest.mark.requirement("AV-22")
@pytest.mark.parametrize("findings", [0, 1, 28, 300])
def test_any_number_of_findings_is_readable_in_every_size_and_theme(
    tab: Page, campaign, axe: str, findings: int
) -> None:
    files = campaign(findings)
    assert all(file.stat().st_size <= MOST_BYTES for file in files)
    assert len(files) > 1 or findings < 300
    for file in files[:3]:
        for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
            tab.open(file, width=width, dark=dark, phone=width < 500)
            assert serious_problems(tab, axe) == [], (file.name, width, dark)
            assert tab.ask("document.documentElement.scrollWidth") <= width, (file.name, dark)
            assert tab.complaints == []
