"""The command line itself."""

import subprocess
import sys

import pytest

from commands import sirocco
from sirocco.cli.main import COMMANDS
from sirocco.cli.terminal import one_line


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_every_command_has_help_with_an_example(command):
    done = sirocco(*command, "--help")
    assert done.code == 0
    assert "Example: sirocco" in done.stdout


def test_help_loads_neither_models_nor_terminal_decoration():
    code = "import sys; sys.argv = ['sirocco', '--help']\nfrom sirocco.cli.main import main\ntry: main()\nexcept SystemExit: pass\n"
    code += "print(sorted({'pydantic', 'rich', 'yaml', 'jinja2', 'pyrage'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_control_codes_from_outside_never_reach_the_terminal():
    assert one_line("a\x1b[31mred\x07\n\u202eevil\u200b") == "a [31mred   evil "


def test_reference_agents_are_listed():
    done = sirocco("agent", "list")
    assert done.code == 0
    assert "ref:memorizer" in done.stdout
