"""The process for reserved scenarios: whatever happens in it, one line comes out, and it says next to nothing."""

import json
import pickle
import subprocess

import pytest

from sirocco.errors import ReservedError
from sirocco.reserved.worker import answer, read_message, worker_program
from sirocco.wiring.reserved_task import PROGRAM

CANARY = "saffron-lantern"


class Explosive:
    """Breaks with a telling text when it arrives."""

    def __reduce__(self):
        return exec, (f"raise RuntimeError({CANARY!r})",)


@pytest.mark.requirement("AV-19")
@pytest.mark.parametrize("task", [b"", CANARY.encode(), pickle.dumps(CANARY), pickle.dumps(Explosive())])
def test_an_error_that_nobody_foresaw_has_one_text_that_quotes_nothing(task):
    done = subprocess.run(worker_program(PROGRAM), input=task, capture_output=True, check=False)
    assert done.stderr == b""
    (line,) = done.stdout.splitlines()
    assert CANARY.encode() not in line
    assert json.loads(line)["error"]["problem"] == "the process that runs them broke off"
    with pytest.raises(ReservedError, match="broke off"):
        answer(worker_program(PROGRAM), task)


@pytest.mark.requirement("AV-19")
@pytest.mark.parametrize("line", [b"", b"{", b'{"note": "saffron-lantern"}', b'{"units": "saffron-lantern"}'])
def test_a_message_of_any_other_form_is_not_passed_on(line):
    with pytest.raises(ReservedError, match="broke off") as caught:
        read_message(line)
    assert CANARY not in str(caught.value)
