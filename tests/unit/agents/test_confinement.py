"""The folder of a child: it goes away, whatever the child made of it."""

import subprocess
import sys

import pytest

from sirocco.agents.confinement import _remove_folder


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
