"""The files that bring Sirocco into CI and containers: each is well formed, and its commands are run here as they stand."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from clients import downloads
from commands import sirocco
from sirocco.cli.init import WORKFLOWS

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
QUICK = "custom: [scenarios]\nscenario: ['mine.*']\nadversarial: 'off'\nagent: {agent}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's project with a workflow for each system and a run file that is quick."""
    for workflow in WORKFLOWS:
        sirocco("init", tmp_path, "--kind", "python", "--ci", workflow, "--source", "sirocco")
    (tmp_path / "sirocco.yaml").write_text(QUICK.format(agent="ref:naive"))
    return tmp_path


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script as a runner starts it: any command that fails ends it."""
    environment = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder), **variables}
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip


def steps(document: dict[str, Any]) -> dict[str, str]:
    found = document["runs"] if "runs" in document else next(iter(document["jobs"].values()))
    return {step["name"]: step["run"] for step in found["steps"] if "run" in step}


def test_the_action_evaluates_summarizes_and_goes_on_after_an_interruption(project: Path) -> None:
    document = yaml.safe_load((ROOT / "action.yml").read_text())
    (project / "sirocco" / "bin").mkdir(parents=True)
    (project / "sirocco" / "bin" / "sirocco").symlink_to(BIN / "sirocco")
    given = {name: one["default"] for name, one in document["inputs"].items()}
    given |= {"config": "sirocco.yaml", "args": "--parallel\n2\n"}
    variables = {
        **{name.upper().replace("-", "_"): value for name, value in given.items()},
        "RUNNER_TEMP": str(project), "GITHUB_OUTPUT": str(project / "output"), "GITHUB_STEP_SUMMARY": str(project / "summary"),
    }  # fmt: skip
    done = shell(steps(document)["Evaluate"], project, **variables)
    assert done.returncode == 1, done.stderr
    assert (project / "output").read_text() == "exit-code=1\n"
    assert "❌ FAIL" in (project / "summary").read_text()
    again = shell(steps(document)["Evaluate"], project, **variables)
    assert (again.returncode, "--resume" in steps(document)["Evaluate"]) == (1, True), again.stderr


def test_the_actions_inputs_reach_shells_only_through_variables() -> None:
    for script in steps(yaml.safe_load((ROOT / "action.yml").read_text())).values():
        assert "${{" not in script, "an expression in a script is code that whoever fills the input writes"


def commands_of(project: Path, workflow: str) -> tuple[str, str]:
    """What a workflow runs to evaluate, and to report afterwards."""
    text = (project / WORKFLOWS[workflow][1]).read_text()
    if workflow == "github":
        found = steps(yaml.safe_load(text))
        return found["Evaluate"], found["Summary"]
    if workflow == "gitlab":
        job = yaml.safe_load(text)["sirocco"]
        return "\n".join(job["script"]), "\n".join(job["after_script"])
    found = re.findall(r"^ +sh '(.*)'$", text, re.MULTILINE)
    return next(one for one in found if "sirocco run" in one), next(one for one in found if "sirocco report" in one)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_workflows_commands_make_the_job_red_and_write_what_it_uploads(project: Path, workflow: str) -> None:
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "activate").touch()
    evaluate, report = commands_of(project, workflow)
    variables = {"GITHUB_STEP_SUMMARY": str(project / "summary.md"), "BUILD_TAG": "ci"}
    assert shell(evaluate, project, **variables).returncode == 1
    assert shell(report, project, **variables).returncode == 0
    assert (project / "runs" / "ci" / "junit.xml").exists()
    assert any(
        "FAIL" in file.read_text() for file in (*project.glob("summary.md"), *project.glob("runs/ci/summary.md"))
    )


@pytest.mark.long
@pytest.mark.parametrize("file", ["action", "workflow"])
def test_workflows_are_clean_by_actionlint(project: Path, file: str) -> None:
    program = downloads.actionlint()
    if file == "action":
        folder = project / ".github" / "actions" / "sirocco"
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "action.yml", folder)
        workflow = {
            "on": "push",
            "jobs": {"one": {"runs-on": "ubuntu-latest", "steps": [{"uses": "./.github/actions/sirocco"}]}},
        }
        (project / ".github" / "workflows" / "sirocco.yml").write_text(json.dumps(workflow))
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    done = subprocess.run([program, "-no-color"], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def test_the_image_is_small_and_runs_without_root() -> None:
    found = instructions()
    assert all(value.startswith("python:3.12-slim") for name, value in found if name == "FROM")
    last = len(found) - 1 - [name for name, _ in reversed(found)].index("FROM")
    final = found[last:]
    assert [value for name, value in final if name == "USER"] == ["sirocco"]
    assert [value for name, value in final if name == "ENTRYPOINT"] == ['["sirocco"]']
    assert not any("pip" in value for name, value in final if name == "RUN")
    assert any(
        "--require-hashes --no-deps --requirement requirements.lock" in value for name, value in found if name == "RUN"
    )


def test_everything_that_the_image_copies_is_let_through() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        word
        for name, value in instructions()
        if name == "COPY" and "--from" not in value
        for word in value.split()[:-1]
    }
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)


@pytest.mark.long
def test_the_images_steps_work_in_a_clean_root(tmp_path: Path) -> None:
    """No image is built: its steps are run in folders that stand for those of the image, and what they install starts."""
    source, target = tmp_path / "source", tmp_path / "opt"
    source.mkdir()
    for name, value in instructions():
        if name == "COPY" and "--from" not in value:
            for word in value.split()[:-1]:
                place = source / word
                shutil.copytree(ROOT / word, place) if (ROOT / word).is_dir() else shutil.copy(ROOT / word, place)
        if name == "RUN" and "pip" in value:
            done = shell(value.replace("/opt/sirocco", shlex.quote(str(target))), source)
            assert done.returncode == 0, done.stderr
    shutil.rmtree(source)
    done = shell(f"{target}/bin/sirocco doctor --format json", tmp_path)
    assert json.loads(done.stdout)["ready"], done.stderr


def test_the_hook_checks_scenarios_and_run_files(project: Path) -> None:
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    names = ("scenarios/first.yaml", "sirocco.yaml", ".github/workflows/sirocco.yml", "values.yaml")
    assert [bool(re.search(hook["files"], name)) for name in names] == [True, True, False, False]
    words = [*hook["entry"].split()[1:], project / "scenarios" / "first.yaml"]
    assert sirocco(*words).code == 0
    (project / "scenarios" / "first.yaml").write_text("id: x\n")
    assert sirocco(*words).code == 2
