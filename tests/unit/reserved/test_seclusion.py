"""What keeps the process for reserved scenarios, and whatever it starts, from leaving its memory on a disk."""

import resource
import subprocess
import sys

import pytest

_CRASHING = "import os, resource; print(resource.getrlimit(resource.RLIMIT_CORE), flush=True); os.abort()"
_SECLUDED = f"""
import subprocess, sys
from sirocco.reserved.seclusion import seclude_process
seclude_process()
subprocess.run([sys.executable, "-c", {_CRASHING!r}])
"""


@pytest.mark.requirement("AV-19")
def test_an_agent_that_crashes_leaves_no_core_dump_on_the_disk_or_with_a_program_that_collects_them(tmp_path):
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    words = ["sh", "-c", 'ulimit -S -c "$(ulimit -H -c)"; exec "$@"', "sh", sys.executable, "-c", _SECLUDED]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    # Of 0 a program that collects dumps is told, and may keep one all the same; with 1 Linux does not start it.
    assert done.stdout.strip() == ("(1, 1)" if most else "(0, 0)"), done.stderr
    assert list(tmp_path.iterdir()) == []
