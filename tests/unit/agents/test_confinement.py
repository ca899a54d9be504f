"""What a child may write to and read, and that nothing of it is left."""

import subprocess
import sys
from pathlib import Path

import pytest

from sirocco.agents.confinement import Confinement, Quarters, _Files, _remove_folder
from sirocco.agents.isolation import NAMESPACES
from sirocco.cli.probe import _hidden_paths


@pytest.mark.requirement("CO-10")
def test_a_folder_goes_away_whatever_a_child_made_of_it(tmp_path):
    closed, deep = tmp_path / "work" / "closed", tmp_path / "work" / "deep"
    (closed / "inside").mkdir(parents=True)
    closed.chmod(0)
    deep.mkdir()
    script = "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\n"
    subprocess.run([sys.executable, "-c", script], cwd=deep, check=True)
    _remove_folder(tmp_path / "work")
    assert not (tmp_path / "work").exists()


@pytest.mark.requirement("CO-10")
def test_a_users_child_may_write_beside_its_program_but_not_into_the_runners_packages():
    prefix = Path(sys.prefix).resolve()
    confined = Confinement(NAMESPACES)
    quarters = Quarters(confined)
    shown = _Files(confined, quarters, [prefix.parent / "agent.py", prefix.parent]).shown
    quarters.remove()
    assert shown[prefix.parent] is True
    assert shown[prefix] is False


@pytest.mark.requirement("CO-10")
def test_the_run_around_a_probe_is_not_for_the_agent(tmp_path):
    probe = tmp_path / "run" / "adversarial" / "probe.yaml"
    probe.parent.mkdir(parents=True)
    (tmp_path / "run" / "run.yaml").touch()
    assert (tmp_path / "run").resolve() in _hidden_paths(probe, None)
