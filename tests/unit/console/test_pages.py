"""What agents and probes wrote is text on every page, names are looked up and never become paths, secrets stay away."""

import json
import re
import shutil
from html import unescape
from html.parser import HTMLParser

import pytest

from console_server import served_console
from recorded_run import SECRET
from sirocco.errors import ConfigError
from sirocco.reports.comparison import side_by_side
from sirocco.reserved.signing import Signer

KNOWN_SCRIPTS = {"/static/htmx.min.js", "/static/console.js"}
TRICKS = [
    "..",
    "%2e%2e",
    "..%2f..%2fetc%2fpasswd",
    "%00",
    "a%0d%0aSet-Cookie:x=1",
    "~",
    "~~",
    "hostile%2f..",
    "x" * 3000,
]


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.odd: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "script":
            self.scripts.append(given.get("src") or "inline")
        if tag in {"img", "iframe", "object", "embed", "base", "style"}:
            self.odd.append(tag)
        self.odd += [name for name in given if name.startswith(("on", "hx-on")) or name == "style"]
        self.links += [given[name] for name in ("href", "src", "action", "hx-get", "hx-post") if given.get(name)]


def every_page(served) -> list[str]:
    """Every address that links lead to, from the first page on."""
    seen, waiting = [], ["/runs"]
    while waiting:
        path = waiting.pop(0)
        if path in seen or path.startswith(("#", "/static/")):
            continue
        answer = served.client.get(path)
        if answer.status_code == 405:
            continue
        assert answer.status_code == 200, f"{path}: {answer.text}"
        seen.append(path)
        elements = Elements()
        elements.feed(answer.text)
        # Of the profile's hundred pages a few will do.
        waiting += [link.partition("#")[0] for link in elements.links
                    if not link.startswith("/profile/") or len([one for one in seen if one.startswith("/profile/")]) < 5]  # fmt: skip
    return seen


@pytest.fixture(scope="module")
def pages(served):
    return {path: served.client.get(path).text for path in every_page(served) if path}


def test_hostile_text_is_text_on_every_page(pages):
    kinds = {re.sub(r"[^/?]*hostile[^/?]*", "R", path).partition("?")[0].split("/")[1] for path in pages}
    assert {"runs", "run", "review", "finding", "profile", "start", "compare"} <= kinds
    told = 0
    for path, text in pages.items():
        elements = Elements()
        elements.feed(text)
        assert set(elements.scripts) <= KNOWN_SCRIPTS, path
        assert elements.odd == [], path
        assert all(link.startswith(("/", "#")) and not link.startswith("//") for link in elements.links), path
        assert "1337" not in text
        assert not {one for one in text if not one.isprintable() and one not in "\n\t"}, path
        told += "&lt;script&gt;window.ran" in text
    assert told > 8, "the hostile text is there, as text"


def test_no_page_has_a_secret(served, pages):
    for path, text in pages.items():
        assert SECRET not in text, path
        assert served.access.token not in text
        assert served.access.session not in text


@pytest.mark.parametrize("trick", TRICKS)
def test_a_name_in_an_address_is_looked_up_and_never_a_path(served, trick):
    for path in (f"/run/{trick}", f"/run/hostile/unit/{trick}", f"/finding/{trick}", f"/static/{trick}", f"/profile/scenario/{trick}",
                 f"/redteam/{trick}", f"/compare?run={trick}&run=hostile", f"/runs?q={trick}&page={trick}"):  # fmt: skip
        answer = served.client.get(path)
        assert answer.status_code in ({200} if path.startswith("/runs") else {200, 400, 404, 414}), path
        assert "root:" not in answer.text
        assert answer.headers.get("set-cookie") is None
    assert served.client.get(f"/run/{trick}").status_code in {404, 400, 200}


def test_only_folders_with_a_run_are_runs(served):
    assert {place.name for place in served.desk.library.places()} == {"hostile", "deeper/plain"}
    with pytest.raises(ConfigError):
        served.desk.library.place("../hostile")
    assert served.client.get("/run/deeper~plain").status_code == 200


def test_a_list_is_paginated_and_a_page_beyond_its_end_is_the_last(served):
    for page in ("0", "-1", "999999999999", "x", "²", ""):
        assert served.client.get("/run/hostile/units", params={"page": page}).status_code == 200


def test_a_verdict_that_was_altered_is_told_and_not_shown(served, runs, tmp_path):
    file = runs / "deeper" / "plain" / "verdict.json"
    before = file.read_text()
    document = json.loads(before)
    document["verdict"]["safety"] = "FAIL"
    try:
        file.write_text(json.dumps(document))
        answer = served.client.get("/run/deeper~plain")
        assert (answer.status_code, "was altered" in answer.text) == (400, True)
        file.write_text("[]")
        assert "unreadable" in served.client.get("/runs").text
    finally:
        file.write_text(before)


def test_progress_follows_the_events_and_survives_half_a_line(served, runs):
    folder = runs / "live"
    folder.mkdir()
    try:
        (folder / "run.yaml").write_text("started: now\n")
        events = [
            {"event": "run_started", "agent": "<b>x</b> 1", "profile": "p"},
            {"event": "phase_started", "phase": "safety", "units": 10, "note": ""},
            {"event": "unit_finished", "kind": "scenario", "unit": "<i>u</i>", "status": "FAIL"},
        ]
        (folder / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events) + '{"event": "unit_fin')
        part = served.client.get("/run/live/progress").text
        assert "safety: 1 of 10" in part
        assert "&lt;i&gt;u&lt;/i&gt;" in part
        with (folder / "events.jsonl").open("a") as file:
            file.write('ished", "kind": "scenario", "unit": "two", "status": "PASS"}\n[]\nnonsense\n')
        assert "safety: 2 of 10" in served.client.get("/run/live/progress").text
        assert "sirocco run --resume" in served.client.get("/run/live").text
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


@pytest.mark.parametrize("name", ["deeper/plain", "hostile"])
def test_what_has_ended_of_an_unfinished_run_can_be_looked_at(served, runs, name):
    folder = runs / "unfinished"
    shutil.copytree(runs / name, folder, ignore=shutil.ignore_patterns("verdict.*", "core.yaml", "index.json"))
    try:
        assert "/run/unfinished/units" in served.client.get("/run/unfinished").text
        text = served.client.get("/run/unfinished/units").text
        units = re.findall(r'href="(/run/unfinished/unit/[^"]+)"', text)
        assert len(units) == len(served.desk.library.run(name.replace("/", "~")).verdict["scenario_details"])
        for unit in units:
            page = served.client.get(unit)
            assert page.status_code == 200
            assert "What was checked" in page.text
            assert SECRET not in page.text
            found = Elements()
            found.feed(page.text)
            assert set(found.scripts) <= KNOWN_SCRIPTS
            assert found.odd == []
        for trick in TRICKS[2:]:  # A client takes the first two for the folder above.
            assert served.client.get(f"/run/unfinished/unit/{trick}").status_code in {400, 404}
        part = served.client.get("/run/unfinished/units", params={"q": "nothing such"}, headers={"hx-request": "true"})
        assert "0 in all" in part.text
    finally:
        shutil.rmtree(folder)


def test_a_run_is_started_only_as_the_form_says(served):
    tricks = [{"agent": "nonsense"}, {"agent": "--help"}, {"run_name": "../x"}, {"run_name": "-x"}, {"probes": "1 --safety-only"},
              {"seed": "@/etc/passwd"}, {"isolation": "no"}, {"run_name": "hostile"}]  # fmt: skip
    for trick in tricks:
        fields = {"agent": "ref:careful", "run_name": "fresh", "probes": "0", "seed": "", "isolation": "auto", **trick}
        answer = served.send("/start", "/start/run", **fields)
        assert (answer.status_code, 'role="alert"' in answer.text) == (400, True), trick
    assert served.desk.jobs.latest == []


@pytest.mark.requirement("AV-23")
def test_runs_beside_each_other_say_what_of_them_is_not_comparable(served):
    slugs = ["hostile", "deeper~plain"]
    text = unescape(served.client.get("/compare", params={"run": slugs}).text)
    beside = side_by_side([served.desk.library.run(slug).verdict for slug in slugs])
    assert beside.probes_note
    assert beside.probes_note in text
    assert "Not all of this is comparable" in text


@pytest.mark.requirement("AV-22", "AV-17")
def test_the_pages_of_a_run_keep_probes_apart_from_the_core(served):
    for page in ("/run/hostile", "/run/hostile/adversarial"):
        assert "Separate from the core verdict, which it cannot change" in served.client.get(page).text
    assert "None of them changes the core verdict" in served.client.get("/run/hostile/findings").text


@pytest.mark.requirement("AV-24")
def test_nobody_signs_here_for_somebody_whose_key_is_not_here(runs, tmp_path):
    (tmp_path / "ada.pem").write_bytes(Signer.generate().pem())
    with served_console(runs, signers={"Ada": tmp_path / "ada.pem"}, log_file=tmp_path / "log.jsonl") as console:
        page = f"/finding/{console.desk.library.queue()[0].id}"
        fields = {"severity": "low", "novelty": "known", "decision": "promote"}
        assert console.send(page, f"{page}/review", by="Ben", **fields).status_code == 400
        assert not console.desk.log_file.exists()
        assert console.send(page, f"{page}/review", by="Ada", severity="worst").status_code == 400
        assert console.send(page, f"{page}/review", by="Ada", **fields).status_code == 200
        assert [entry.event.by for entry in console.desk.log.entries] == ["Ada"]


def test_an_object_that_grows_without_end_is_refused(served):
    begun = {"agent": "ref:naive", "archetype": "S-PI-001", "surface": "", "team_size": "1", "expertise": "SRE"}
    session = served.send("/start", "/start/redteam", **begun).url.path
    rows = [f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]" for n in range(9)]
    for text in (
        "\n".join(["a: &a [x, x, x]", *rows]),
        "a: 1\na: 2",
        "[" * 5000,
        "!!python/name:os.system x",
    ):
        refused = served.send(session, session, action="add", text=text)
        assert refused.status_code == 400, text[:40]
        assert "the object" in refused.text
    assert served.send(session, session, action="add", text="{resource: pod/x, namespace: y}").status_code == 200


@pytest.mark.requirement("AV-07")
def test_a_red_team_edits_fires_and_saves_over_the_web(served):
    begun = {"agent": "ref:naive", "archetype": "S-PI-001", "surface": "", "team_size": "2", "expertise": "SRE"}
    assert served.send("/start", "/start/redteam", **begun | {"agent": "nonsense"}).status_code == 400
    session = served.send("/start", "/start/redteam", **begun).url.path
    assert session.startswith("/redteam/")
    assert served.send(session, session, action="prompt", text="<script>alert(1)</script>").status_code == 200
    refused = served.send(session, session, action="launch", text="")
    assert (refused.status_code, "there is no such step" in refused.text) == (400, True)
    assert served.send(session, session, action="back").status_code == 200
    shot = served.send(session, session, action="fire").text
    assert "The last shot" in shot
    assert "What it did" in shot
    saved = served.send(session, session, action="save").text
    assert "sirocco probe replay" in saved
    (file,) = (served.desk.library.root / "probes").glob("*.yaml")
    assert "team_size: 2" in file.read_text()
    assert served.client.get("/redteam/none").status_code == 404
