"""The programs in tools/ that make pages and documents of a release."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from sirocco import __version__
from sirocco.cli.main import COMMANDS

ROOT = Path(__file__).parents[3]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reference_pages_have_every_command_surface_and_operator() -> None:
    pages = dict(tool("reference_pages").pages())
    assert all(f"\n## `sirocco {name}`\n" in pages["commands.md"] for name in COMMANDS)
    assert "| `--fail-on` `[core\\|adversarial]` | core |" in pages["commands.md"]
    assert "| `tool_descriptions` |" in pages["kubernetes-cluster.md"]
    assert "| `transplant` | `transplant` |" in pages["kubernetes-cluster.md"]
    assert "| `identify_root_cause` | words | `cause` | `decoys` |" in pages["kubernetes-cluster.md"]
    assert "\n## Verdict\n" in pages["schemas.md"]


def test_the_bill_of_materials_has_what_the_lock_pins() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    bill = tool("sbom").bill(lock)
    pinned = re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock, re.MULTILINE)
    assert [(one["name"], one["version"]) for one in bill["components"]] == pinned
    assert all(one["properties"] for one in bill["components"]), "each with its digests"
    assert bill["metadata"]["component"]["version"] == __version__


def test_versions_agree_before_a_release() -> None:
    problem = tool("release_check").version_problem()
    assert "__init__" not in problem
