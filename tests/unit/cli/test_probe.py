"""`sirocco probe`: probes are made, checked, run again and shrunk, each with data for programs."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from commands import sirocco
from sirocco.cli.main import cli
from sirocco.errors import ConfigError
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.wiring import plugins

ONE = ("--archetype", "S-BE-001", "--seed", "0x5f")


def invoked(*arguments: object) -> tuple[int, Any]:
    """The exit code of a command and the data that it prints, in this process."""
    given = [str(one) for one in (*arguments, "--format", "json")]
    done = CliRunner().invoke(cli, given, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two probes for an archetype whose requests come from the operator."""
    out = tmp_path_factory.mktemp("probes")
    code, made = invoked("probe", "generate", *ONE, "--probes", 2, "--out", out)
    assert code == 0
    assert [Path(row["file"]).parent for row in made["probes"]] == [out, out]
    return out


def test_generate_says_what_was_drafted_and_repeats_it_for_a_seed(folder):
    code, made = invoked("probe", "generate", *ONE, "--probes", 2)
    assert code == 0
    assert made["seed"] == "0x5f"
    assert made["admitted"] == len(made["probes"]) == 2
    assert made["drafted"] == made["admitted"] + sum(made["rejected"].values())
    assert len(made["refusals"]) == sum(made["rejected"].values())
    assert sorted(f"{row['probe']}.yaml" for row in made["probes"]) == sorted(
        path.name for path in folder.glob("*.yaml")
    )
    assert {row["archetype"] for row in made["probes"]} == {"S-BE-001"}


class _Broken:
    """The mutation generator with one fault."""

    def __init__(self, profile, fault: str) -> None:
        inner = MutationGenerator(profile)
        self.method, self.simplify, self._inner, self._fault = inner.method, inner.simplify, inner, fault

    def offers(self, targets):
        return ("junk",) if self._fault == "junk" else self._inner.offers(targets)

    async def propose(self, request):
        if self._fault == "raises":
            raise RuntimeError("no model answers")
        if self._fault == "exits":
            raise SystemExit(3)
        async for draft in self._inner.propose(request):
            yield replace(draft, scenario={**draft.scenario, "stimuli": []})


@pytest.mark.requirement("AV-07")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("raises", "the generator broke: RuntimeError: no model answers"),
        ("exits", "the generator broke: SystemExit: 3"),
        ("junk", "the generator broke: TypeError: it returned an offer that is not one"),
    ],
)
def test_generate_says_what_broke_a_generator(monkeypatch, fault, said):
    monkeypatch.setattr(plugins, "generator", lambda _, profile, _material: _Broken(profile, fault))
    code, made = invoked("probe", "generate", *ONE, "--probes", 2)
    assert code == 1
    assert made["generator_fault"] == {"kind": "broke", "problem": said}
    text = CliRunner().invoke(cli, ["probe", "generate", *ONE, "--probes", "2"], standalone_mode=False)
    assert text.return_value == 1
    assert said in text.stdout


def test_generate_says_why_drafts_were_refused(monkeypatch):
    monkeypatch.setattr(plugins, "generator", lambda _, profile, _material: _Broken(profile, "empties"))
    done = CliRunner().invoke(cli, ["probe", "generate", *ONE, "--probes", "2"], standalone_mode=False)
    assert done.return_value == 1
    assert "refused S-BE-001: invalid: " in done.stdout
    assert "stimuli" in done.stdout


@pytest.mark.requirement("AV-02")
def test_check_admits_what_generate_made_and_refuses_what_was_spoilt(folder, tmp_path):
    code, rows = invoked("probe", "check", folder)
    assert code == 0
    assert [row["admitted"] for row in rows] == [True, True]
    document = yaml.safe_load(min(folder.glob("*.yaml")).read_text())
    document["x-sirocco"]["goal"] = {"operation": "delete namespace/kube-system"}
    spoilt = tmp_path / "probe-spoilt.yaml"
    spoilt.write_text(yaml.safe_dump(document))
    code, (row,) = invoked("probe", "check", spoilt)
    assert code == 1
    assert row["admitted"] is False
    assert row["reason"]
    assert row["detail"]


def test_replay_of_a_folder_leaves_smallest_forms_out(folder):
    code, rows = invoked("probe", "replay", folder, "--agent", "ref:careful")
    assert code == 0
    assert {row["outcome"] for row in rows} == {"FIXED"}
    assert len(rows) == 2


def _in_a_run(folder: Path, run: Path, agent: str, profile: str = "kubernetes_operations") -> Path:
    """The probes as a run leaves them, with what it says of its agent and its profile."""
    shutil.copytree(folder, run / "adversarial")
    (run / "run.yaml").write_text(yaml.safe_dump({"config": {"profile": profile}}))
    verdict = {"metadata": {"agent": agent, "agent_version": "1"}}
    (run / "verdict.json").write_text(json.dumps({"verdict": verdict}))
    return run / "adversarial"


def test_replay_says_when_the_agent_is_another_and_adds_up(folder, tmp_path):
    probes = _in_a_run(folder, tmp_path / "run", "some-agent")
    _, rows = invoked("probe", "replay", probes, "--agent", "ref:careful")
    assert all("found with some-agent 1, and this is careful" in row["reason"] for row in rows)
    done = sirocco("probe", "replay", folder, "--agent", "ref:careful")
    assert done.stdout.splitlines()[-1] == "2 FIXED, 0 STILL FAILING, 0 CANNOT REPLAY"
    assert "found with" not in done.stdout
    other = sirocco("probe", "replay", probes, "--agent", "ref:careful").stdout
    assert other.count("found with some-agent 1") == 1
    assert other.count("nothing about a repair") == 1


def test_replay_takes_the_profile_that_the_run_had(folder, tmp_path, orchard):
    probes = _in_a_run(folder, tmp_path / "run", "some-agent", str(orchard))
    code, rows = invoked("probe", "replay", probes, "--agent", "ref:careful")
    assert code == 4
    assert {row["outcome"] for row in rows} == {"CANNOT REPLAY"}
    assert all("is of profile sirocco-profile-kubernetes-operations" in row["reason"] for row in rows)
    assert all("--profile" in row["reason"] for row in rows)
    code, _ = invoked("probe", "replay", probes, "--agent", "ref:careful", "--profile", "kubernetes_operations")
    assert code == 0
    (tmp_path / "run/run.yaml").write_text("config: {profile: /no/longer/there}")
    code, _ = invoked("probe", "replay", min(probes.glob("probe-*.yaml")), "--agent", "ref:careful")
    assert code == 0


@pytest.mark.parametrize("command", [("check",), ("shrink", "--agent", "ref:naive")], ids=["check", "shrink"])
def test_check_and_shrink_take_the_profile_of_the_run_and_no_other_than_the_probes(folder, tmp_path, orchard, command):
    probes = _in_a_run(folder, tmp_path / "run", "some-agent", str(orchard))
    name, *options = command
    with pytest.raises(
        ConfigError, match=r"belongs to profile 'sirocco-profile-kubernetes-operations', not .*--profile"
    ):
        invoked("probe", name, min(probes.glob("probe-*.yaml")), *options)


@pytest.mark.requirement("AV-11")
def test_a_serialized_probe_says_how_to_run_it_again_from_anywhere(folder):
    text = min(folder.glob("probe-*.yaml")).read_text()
    assert "# Run it again: sirocco probe replay THIS_FILE --agent SPEC\n" in text


@pytest.mark.requirement("SI-03")
def test_shrink_writes_a_smaller_probe_that_still_fails_and_says_what_mattered(folder, tmp_path):
    file = min(folder.glob("probe-*.yaml"))
    out = tmp_path / "smallest.yaml"
    limits = ("--confirm", 1, "--max-agent-calls", 12)
    code, done = invoked("probe", "shrink", file, "--agent", "ref:naive", *limits, "--out", out)
    assert code == 0
    assert done["minimal"] == str(out)
    assert done["agent_calls"] <= 12
    assert done["without_effect"]
    assert len(out.read_text()) < len(file.read_text())
    code, (row,) = invoked("probe", "replay", out, "--agent", "ref:naive")
    assert (code, row["outcome"]) == (1, "STILL FAILING")


def test_a_probe_that_does_not_fail_is_not_shrunk(folder, tmp_path):
    file = min(folder.glob("probe-*.yaml"))
    code, done = invoked("probe", "shrink", file, "--agent", "ref:careful", "--out", tmp_path / "x.yaml")
    assert code == 4
    assert done["minimal"] is None
    assert "does not fail" in done["reason"]
    assert not (tmp_path / "x.yaml").exists()


def test_a_folder_without_probes_says_what_to_give(tmp_path):
    with pytest.raises(ConfigError, match="adversarial/"):
        invoked("probe", "replay", tmp_path, "--agent", "ref:careful")
