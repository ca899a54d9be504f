"""The tutorial's commands, in the order in which a reader types them; and completion, as the README says it."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from commands import sirocco

PAGE = Path(__file__).parents[3] / "docs" / "tutorial.md"


def test_the_tutorials_commands_work_one_after_the_other(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"<!-- tested -->\n```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    commands = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    assert len(commands) == 6
    for command in commands:
        words = shlex.split(command)
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            continue
        tmp_path.joinpath("my-agent").chmod(0o755) if tmp_path.joinpath("my-agent").exists() else None
        done = sirocco(*words[1:])
        assert done.code == 0, f"{command}: {done.stdout}{done.stderr}"
    assert (tmp_path / "my-agent" / "runs" / "own" / "report.html").exists()


def test_commands_and_options_complete_in_a_shell() -> None:
    for words, expected in (("sirocco wat", "plain,watch"), ("sirocco run --fail", "plain,--fail-on")):
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_SIROCCO_COMPLETE": "bash_complete"}
        program = Path(sys.executable).parent / "sirocco"
        done = subprocess.run([program], env=os.environ | asked, capture_output=True, text=True, check=False)
        assert expected in done.stdout
