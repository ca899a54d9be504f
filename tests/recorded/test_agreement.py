"""Recorded cases of a real kube-apiserver, replayed: the simulator agrees save for what differs on purpose."""

import json
import sys
from collections import Counter
from pathlib import Path

import yaml

from recorded.replay import replay

DIFFERENCES = Path(__file__).parent / "differences.yaml"
LEAST = {"status": 0.97, "body": 0.90, "audit": 0.97}


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
