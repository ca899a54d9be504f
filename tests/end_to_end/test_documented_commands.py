"""Every command of the documentation is run: here, in the order of its page, or in the test that its row below names."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bundled import FEW, PLAIN, plain_documents, small_profile_folder
from commands import RunFiles, sirocco
from documented import ROOT, documented_commands
from sirocco.cli.exit_codes import ExitCode

EXAMPLES = ROOT / "examples"
IS_THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
CHEAP = ("conformance.md", "reports.md", "scenarios.md", "validation.md")
"""The pages whose commands are run on every change; the others are run by `make verify`."""
ELSEWHERE = {
    r"bench\b": "benchmarks/test_command.py",
    r"(agent serve|provider serve .*\$PROFILE|run .*\$PROFILE)": "end_to_end/test_oasisctl.py",
    r"attack\b": "end_to_end/test_attack.py",
    r"(claim|export|profile resistance)\b": "end_to_end/test_claims.py",
    r"console\b": "browser/test_console.py",
    r"env up .*--kubeconfig": "clients/test_env_up.py",
    r"env up k8s": "clients/test_env_up.py",
    r"(env clean|run .*--context|.*--provider cluster)": "cluster/test_borrowed.py",
    r"(init|doctor)\b": "unit/cli/test_init.py",
    r"material|.*--material": "unit/cli/test_material.py",
    r"provider serve --agent-listen|run --provider http": "end_to_end/test_provider_service.py",
    r"provider serve --bare": "clients/test_serve_bare.py",
    r"reserved|.*--reserved": "end_to_end/test_reserved_parties.py",
    r"review judge": "unit/review/test_judge.py",
    r"(review|probe promote)\b": "end_to_end/test_review.py",
    r"run .*--seed @": "end_to_end/test_claims.py",
    r"run .*--executor ray": "end_to_end/test_executors.py",
    r"(run|probe generate) .*(model:|llm:)": "real_model/test_real_loop.py",
    r"validate -": "unit/cli/test_validate.py",
    r"run .*--(advertise|static-endpoint)": "end_to_end/test_server_name.py",
    r"run .*--agent (http\S+|\.\.\.|SPEC) .*--generator": "end_to_end/test_several_generators.py",
    r"run --agent \S+ --core": "end_to_end/test_beside_another_core.py",
    r"verify \S+ --evaluator": "end_to_end/test_tampering.py",
    r"agent check .*inspect|agent check 'cmd\+lines": "frameworks/test_frameworks.py",
}
"""Commands that need parties, servers or models of their own, and the test in which they have them."""
WORKED = (ExitCode.OK, ExitCode.SAFETY_FAIL, ExitCode.ADVERSARIAL_VIOLATION, ExitCode.ADVERSARIAL_INCOMPLETE)
SMALL_RUN = ("--probes", "1", "--reruns", "0", "--twins", "0", "--confirm", "0", "--max-agent-calls", "6")


def elsewhere(command: str) -> str | None:
    """The test that runs this command; None where it is run here."""
    words = command.removeprefix("sirocco ")
    return next((test for pattern, test in ELSEWHERE.items() if re.match(pattern, words)), None)


def commands_here() -> dict[str, list[str]]:
    pages: dict[str, list[str]] = {}
    for page, command in documented_commands():
        if page != "tutorial.md" and elsewhere(command) is None:
            pages.setdefault(page, []).append(command)
    return pages


@pytest.fixture(scope="module")
def agent_address() -> Iterator[str]:
    """Where the example agent behind HTTP can be asked."""
    program = [sys.executable, EXAMPLES / "agents" / "http_agent.py", "0"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def documents(folder: Path) -> None:
    """Put the files in place that the pages talk about."""
    scenarios = re.findall(
        r"<!-- example: \w+ -->\n```yaml\n(.*?)```", (ROOT / "docs/scenarios.md").read_text(), re.DOTALL
    )
    for name in ("mine.yaml", "my-scenario.yaml", "new.yaml", "draft.yaml"):
        (folder / name).write_text(scenarios[0])
    (folder / "withheld").mkdir()
    for category, document in plain_documents().items():
        (folder / "withheld" / f"{category}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    for name in ("my-profile", "harbour"):
        small_profile_folder(folder / name)
    for source, name in (("mcp_agent.py", "agent.py"), ("command_agent.sh", "agent.sh")):
        shutil.copy(EXAMPLES / "agents" / source, folder / name)
    (folder / "my_package").mkdir()
    shutil.copy(EXAMPLES / "agents" / "python_agent.py", folder / "my_package" / "my_module.py")
    shutil.copy(EXAMPLES / "generator.mjs", folder)


def words_of(command: str, values: dict[str, str], out: Path) -> list[str]:
    """What a reader types who puts own values for the placeholders; a run is kept small where the page leaves it open."""
    for placeholder, value in values.items():
        command = command.replace(placeholder, value)
    words = shlex.split(command, comments=True)[1:]
    words = [
        file
        for word in words
        for file in (sorted(map(str, Path().glob(word))) if "*" in word and "/" in word else [word])
    ]
    if words[0] == "run" and "--resume" not in words:
        options = zip(SMALL_RUN[::2], SMALL_RUN[1::2], strict=True)
        words += [*FEW, *(part for option in options if option[0] not in words for part in option)]
        words += [] if "--out" in words else ["--out", str(out)]
    return words


@pytest.mark.parametrize("page", sorted(commands_here()))
def test_the_commands_of_a_page_work(page: str, tmp_path: Path, monkeypatch, few: RunFiles, agent_address: str) -> None:
    if page not in CHEAP and not IS_THOROUGH:
        pytest.skip("the commands of this page are run by `make verify`")
    documents(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    for name in ("x", "ci", "before", "after", "first"):
        shutil.copytree(few.path, tmp_path / "runs" / name)
    values = {
        "http://127.0.0.1:8000": agent_address,
        "http://127.0.0.1:8080": agent_address,
        "--agent ...": "--agent ref:careful",
        "SPEC": "ref:careful",
        " DIR": " runs/x",
        "runs/<time>": "runs/x",
        "'*sensor-intake-note*'": f"'{PLAIN[0]}'",
        "report-of-somebody.json": "runs/x/verdict.json",
        "conformance verdict.yaml": "conformance runs/x/verdict.yaml",
        "--out runs/ci": "--out runs/fresh",
        "--probes 48": "--probes 1",
        "--pairs 20": "--pairs 1",
        "--trials 5": "--trials 2",
        "--agent ref:memorizer": "--agent ref:naive",
        "my_module:agent": "my_module:make",
    }
    for number, command in enumerate(commands_here()[page]):
        if drafted := sorted(Path("probes").glob("probe-*.yaml")):
            values["probe-s-pi-001-1f3a.yaml"] = drafted[0].name
        done = sirocco(*words_of(command, values, tmp_path / f"run-{number}"))
        # A command works whatever it finds out about the agent; the codes of one that is refused are others.
        assert done.code in WORKED, f"{command}: {done.stdout}{done.stderr}"


def test_each_row_names_a_test_and_is_needed() -> None:
    unused = set(ELSEWHERE)
    for _, command in documented_commands():
        words = command.removeprefix("sirocco ")
        unused -= {pattern for pattern in ELSEWHERE if re.match(pattern, words)}
    assert unused == set()
    assert [test for test in ELSEWHERE.values() if not (ROOT / "tests" / test).is_file()] == []
