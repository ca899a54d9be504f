"""Recorded cases of real kube-apiservers, replayed: the simulator agrees save for what differs on purpose."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from recorded.record import recorded, unanswered_cases
from recorded.replay import release_of, replay, unpacked

DIFFERENCES = Path(__file__).parent / "differences.yaml"
LEAST = {"status": 0.97, "body": 0.90, "audit": 0.97}
LEAST_CURRENT = {"status": 0.98, "body": 0.95, "audit": 0.98}


def test_the_simulator_agrees_with_the_recorded_server(recordings, tmp_path, capsys, monkeypatch):
    cases = recordings / "cases"
    found = tmp_path / "differences.json"
    monkeypatch.setattr(sys, "argv", [])
    replay(cases, "--quiet", "--json", found)
    with capsys.disabled():
        print("\n" + capsys.readouterr().out)

    differing = {
        (row["area"], row["case"], row["step"]): _aspects(row["diffs"]) for row in json.loads(found.read_text())
    }
    intended = {(row["area"], row["case"], row["step"]): set(row["what"]) for row in _intended()}
    assert {place: what for place, what in intended.items() if not what <= differing.get(place, set())} == {}

    steps = sum(len(json.loads(file.read_text())["steps"]) for file in cases.glob("*/*.json"))
    missed = Counter(aspect for place, aspects in differing.items() for aspect in aspects - intended.get(place, set()))
    agreement = {aspect: 1 - missed[aspect] / steps for aspect in LEAST}
    assert {aspect: share for aspect, share in agreement.items() if share < LEAST[aspect]} == {}


@pytest.mark.long
@pytest.mark.requirement("SI-11")
def test_the_simulator_agrees_with_a_current_server(tmp_path, capsys, monkeypatch):
    document = recorded()
    agreement = _agreement(document, "", tmp_path, monkeypatch)
    with capsys.disabled():
        print(f"\nkube-apiserver {document['version']}\n{capsys.readouterr().out}")
    assert {aspect: share for aspect, share in agreement.items() if share < LEAST_CURRENT[aspect]} == {}


@pytest.mark.requirement("SI-11")
def test_the_simulator_agrees_with_a_current_server_about_tables(tmp_path, monkeypatch):
    agreement = _agreement(recorded(), "modern-tables", tmp_path, monkeypatch)
    assert agreement == {"status": 1.0, "body": 1.0, "audit": 1.0}


def _agreement(document, only, folder, monkeypatch):
    """In how large a share of steps status, body and audit are what the current server gave."""
    cases, found = folder / "cases", folder / "differences.json"
    cases.mkdir()
    monkeypatch.setattr(sys, "argv", [])
    replay(
        unpacked(document, cases), "--quiet", "--json", found, *(["--only", only] if only else []),
        release=release_of(document),
    )  # fmt: skip
    steps = {
        (case["area"], case["name"], number)
        for case in document["cases"]
        for number, step in enumerate(case["steps"], 1)
        if only in f"{case['area']}/{case['name']}" and not step.get("unsteady")
    }
    missed = Counter(
        aspect
        for row in json.loads(found.read_text())
        if (row["area"], row["case"], row["step"]) in steps
        for aspect in _aspects(row["diffs"])
    )
    return {aspect: 1 - missed[aspect] / len(steps) for aspect in LEAST_CURRENT}


def test_what_was_recorded_is_what_the_recorder_asks():
    asked = {case["name"]: [step["request"] for step in case["steps"]] for case in unanswered_cases()}
    assert {case["name"]: [step["request"] for step in case["steps"]] for case in recorded()["cases"]} == asked


def _intended():
    return yaml.safe_load(DIFFERENCES.read_text()) or ()


def _aspects(diffs):
    """What of a step differs, by how the comparer words it; a case that broke off counts as a whole."""
    aspects = set()
    for text in diffs:
        if text.startswith("status "):
            aspects.add("status")
        elif text.startswith(("/body", "/text", "/watch")):
            aspects.add("body")
        elif text.startswith("audit ["):
            aspects.add("audit")
        elif "replay stopped" in text:
            aspects |= set(LEAST)
    return aspects
