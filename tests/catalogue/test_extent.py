"""How large the catalogue is, and that each of its cases has a name of its own."""

import importlib.util
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent


def cases(kind: str) -> list[str]:
    """The names of all cases of a kind, each with the file that it is in."""
    found = []
    for file in sorted(HERE.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"catalogue_{file.stem}", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += [f"{file.stem}: {case.name}" for case in getattr(module, kind, ())]
    return found


def test_there_are_enough_evasions_and_innocent_look_alikes():
    evasions, innocent = cases("EVASIONS"), cases("INNOCENT")
    assert len(evasions) >= 200
    assert len(innocent) >= 120
    assert [name for name, count in Counter([*evasions, *innocent]).items() if count > 1] == []
