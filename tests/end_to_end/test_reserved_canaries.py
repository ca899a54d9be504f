"""Canaries in every part of a reserved scenario: nothing of them is left, printed or sent, however a run ends (AV-19).

The run has a home and a folder for temporary files of its own, and every byte in them is searched, with shared memory.
"""

import base64
import gzip
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from bundled import plain_texts
from commands import sirocco
from console_server import served_console
from reserved_parties import Parties, needs_private_place

_TOKEN = secrets.token_hex(5)
"""New each time, so that a copy of this file, or another run of it, is not taken for a leak."""
CANARIES = {
    "id": f"withheld.quokka-ledger-{_TOKEN}",
    "name": f"quetzal-gazette-{_TOKEN}",
    "label": f"tuatara-{_TOKEN}.example/shelf",
    "number": f"73{int(_TOKEN, 16):013}",
    "prompt": f"kakapo-almanac-{_TOKEN}",
    "payload": f"numbat-chronicle-{_TOKEN}",
    "object": f"echidna-cache-{_TOKEN}",
    "namespace": f"cassowary-house-{_TOKEN}",
}
FORMATS = ("html", "junit", "markdown", "sarif", "yaml", "json")
pytestmark = needs_private_place
AGENT = Path(__file__).parent.parent / "echoing_agent.py"
LIMIT = 240
BREAKING = """
import json, sys
prompt = json.load(sys.stdin)["prompt"]
sys.exit(prompt if "kakapo" in prompt else print(json.dumps({"final_answer": "Done."})))
"""


def canary_document() -> dict:
    """A published scenario with a canary in every class of field."""
    text = plain_texts()["prompt-injection-resistance"]
    text = text.replace("reading-cache", CANARIES["object"]).replace("greenhouse", CANARIES["namespace"])
    document = yaml.safe_load(text)
    document |= {"id": CANARIES["id"], "name": f"A log line, {CANARIES['name']}"}
    document["preconditions"]["environment"]["state"][0]["labels"][CANARIES["label"]] = "on"
    document["preconditions"]["environment"]["state"][1]["env"]["QUEUE_LIMIT"] = CANARIES["number"]
    for stimulus in document["stimuli"]:
        stimulus["value"] += f" ({CANARIES['prompt' if stimulus['type'] == 'operator_prompt' else 'payload']})"
    return document


def forms(text: str) -> Iterator[bytes]:
    """A canary as it is, and as encodings turn it; base64 has three, by where in a text it stands."""
    plain = text.encode()
    yield from (plain, plain[::-1], plain.hex().encode(), plain.hex().upper().encode(), quote(text, safe="").encode())
    yield from (plain[::-1].hex().encode(), "".join(f"%{one:02x}" for one in plain).encode(), text.encode("utf-16-le"))
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + plain).rstrip(b"=")
        yield encoded[4 if shift else 0 : -2]


NEEDLES = {needle: name for name, text in CANARIES.items() for needle in forms(text)}
assert min(map(len, NEEDLES)) >= 10, "shorter ones would be found by chance"


def found_in(data: bytes) -> list[str]:
    return sorted({name for needle, name in NEEDLES.items() if needle in data})


def texts_of(file: Path) -> Iterator[bytes]:
    """The bytes of a file, and of what is compressed in it."""
    data = file.read_bytes()
    yield data
    if file.suffix == ".gz":
        yield gzip.decompress(data)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Parties:
    parties = Parties.in_folder(tmp_path_factory.mktemp("canaries"))
    parties.seal(canary_document())
    return parties


class Evaluation:
    """One run in surroundings of its own."""

    def __init__(self, parties: Parties, folder: Path, delay: float = 0.0) -> None:
        self.parties = parties
        self.folder = folder
        self.run = folder / "run"
        self.asked = folder / "asked"
        self.delay = delay
        self.common = _common_entries()
        for name in ("home", "temporary"):
            (folder / name).mkdir()

    def start(self, *arguments: object, agent: str = "") -> subprocess.Popen[bytes]:
        choices = ("--probes", "0", "--twins", "0", "--reruns", "0", "--parallel", "1", "--seed", "20", "--verbose")
        choices += ("--category", "boundary-enforcement", "--isolation", "none")
        reserved = ("--reserved", self.parties.evaluator / "b1.json", "--identity", self.parties.key)
        command = ("run", "--profile", self.parties.profile, "--out", self.run, "--agent")
        echoing = (f"cmd:{sys.executable} {AGENT}", "--agent-env", "COUNT", "--agent-env", "DELAY")
        command += (agent,) if agent else echoing
        environment = {
            **os.environ,
            "COUNT": str(self.asked),
            "DELAY": str(self.delay),
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "temporary"),
            "XDG_CONFIG_HOME": str(self.folder / "home"),
        }
        words = [sys.executable, "-m", "sirocco", *map(str, (*command, *choices, *reserved, *arguments))]
        # A core dump, if there were one, would be in the folder that is searched afterwards.
        words = ["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", *words]
        return subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            cwd=self.folder / "home",
        )  # fmt: skip

    def ended(self, process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
        out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out + err

    def wait_until(self, process: subprocess.Popen[bytes], is_reached: Callable[[], bool]) -> None:
        """Wait for a moment of the run, which must still be under way then."""
        deadline = time.monotonic() + LIMIT
        while not is_reached():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def is_worker_there(self) -> bool:
        """Whether the process that opens bundles has begun; it does so before the core already."""
        return any((self.folder / "temporary").glob("reserved-*"))

    def is_unit_begun(self) -> bool:
        """Whether the first reserved unit is about to be provisioned."""
        events = self.run / "events.jsonl"
        return events.exists() and '"phase":"reserved"' in events.read_text()

    def is_agent_asked(self) -> bool:
        """Whether the agent has been asked about the core, in however many turns, and then about what is reserved."""
        return self.asked.exists() and len(set(self.asked.read_text().splitlines())) > 1

    def is_unit_sealed(self) -> bool:
        """Whether the evidence of the reserved unit is written."""
        return any(self.run.glob("evidence/reserved-*"))

    def left(self) -> dict[str, list[str]]:
        """What was found where, over every byte that is left."""
        places = [self.run, self.folder / "home", self.folder / "temporary"]
        files = [file for place in places for file in place.rglob("*") if file.is_file()]
        assert files
        found = [(str(file), found_in(text)) for file in files for text in texts_of(file)]
        found += [(str(file), found_in(data)) for file, data in self.new_common_files()]
        names = [entry for place in places for entry in place.rglob("*")]
        found += [(f"the name {entry}", found_in(str(entry).encode())) for entry in (*names, *_common_entries())]
        return {file: names for file, names in found if names}

    def new_common_files(self) -> Iterator[tuple[Path, bytes]]:
        """What appeared meanwhile where everybody writes, shared memory included; files of others may vanish."""
        for entry in _common_entries() - self.common:
            with suppress(OSError):
                yield from ((one, one.read_bytes()) for one in (entry, *entry.rglob("*")) if _is_small_file(one))


def _common_entries() -> set[Path]:
    entries = (one for place in ("/dev/shm", "/tmp", "/var/tmp") for one in Path(place).glob("*"))
    return {one for one in entries if not one.name.startswith("pytest-")}


def _is_small_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 22


KILLS: list[tuple[Callable[[Evaluation], bool], float]] = [
    (Evaluation.is_unit_begun, 0.0),
    (Evaluation.is_unit_begun, 0.02),
    (Evaluation.is_unit_begun, 0.05),
    (Evaluation.is_unit_begun, 0.15),
    (Evaluation.is_agent_asked, 0.0),
    (Evaluation.is_agent_asked, 0.3),
    (Evaluation.is_agent_asked, 0.7),
    (Evaluation.is_agent_asked, 1.0),
    (Evaluation.is_agent_asked, 1.1),
    (Evaluation.is_unit_sealed, 0.0),
    (Evaluation.is_worker_there, 0.0),
]
"""After what to kill, and how many seconds later; the agent answers one second after it was asked.

Ten moments of the unit, and one before the core, when bundles are opened to be checked.
"""
MOMENTS = [
    pytest.param(moment, marks=[] if moment == 5 else pytest.mark.long, id=f"{moment + 1} of {len(KILLS)}")
    for moment in range(len(KILLS))
]


@pytest.fixture
def evaluation(world, tmp_path) -> Evaluation:
    return Evaluation(world, tmp_path)


def test_the_search_finds_every_canary_in_every_form():
    for name, text in CANARIES.items():
        for form in (text, text[::-1], text.encode().hex(), quote(text, safe="")):
            assert name in found_in(f"before {form} after".encode())
        for padding in ("", "a", "bc"):
            assert name in found_in(base64.b64encode(f"{padding}{text} and more".encode()))


@pytest.mark.requirement("AV-19")
def test_nothing_is_left_of_a_run_with_an_agent_that_repeats_its_prompt(evaluation):
    code, printed = evaluation.ended(evaluation.start())
    assert code == 0, printed
    assert b"reserved scenarios   1 executed, 1 passed" in printed
    assert found_in(printed) == []
    assert evaluation.left() == {}


@pytest.mark.requirement("AV-19")
def test_nothing_is_left_of_a_violation(evaluation):
    code, printed = evaluation.ended(evaluation.start("--fail-on", "adversarial", agent="ref:memorizer"))
    assert code == 6, printed
    assert found_in(printed) == []
    assert evaluation.left() == {}


@pytest.mark.requirement("AV-19", "AV-21")
def test_nothing_is_left_of_a_fault_of_the_agent_and_the_fault_is_said(evaluation):
    program = evaluation.folder / "breaking.py"
    program.write_text(BREAKING)
    choices = ("--fail-on", "adversarial")
    code, printed = evaluation.ended(evaluation.start(*choices, agent=f"cmd:{sys.executable} {program}"))
    assert code == 7, printed
    assert b"1 executed, 0 passed, 0 failed, 1 lost to agent faults" in printed
    assert found_in(printed) == []
    assert evaluation.left() == {}
    block = yaml.safe_load((evaluation.run / "verdict.yaml").read_text())["verdict"]["adversarial_verification"]
    assert (block["complete"], block["reserved_scenarios"]["agent_fault"]) == (False, 1)
    assert "1 reserved scenario(s) ended in a fault of the agent" in block["incomplete_reason"]


@pytest.mark.requirement("AV-19")
def test_nothing_is_left_of_a_fault_of_the_provider(world, tmp_path):
    evaluation = Evaluation(world, tmp_path, delay=1.5)
    words = [sys.executable, "-m", "sirocco", "provider", "serve", "--profile", str(world.profile)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as provider:
        try:
            served = json.loads(provider.stdout.readline())
            process = evaluation.start("--provider", served["control"], "--provider-token", served["control_token"])
            evaluation.wait_until(process, evaluation.is_agent_asked)
        finally:
            provider.kill()
    code, printed = evaluation.ended(process)
    assert code == 0, printed
    assert b"lost to provider faults" in printed
    assert found_in(printed) == []
    assert evaluation.left() == {}


@pytest.mark.requirement("AV-19")
@pytest.mark.parametrize("moment", MOMENTS)
def test_nothing_is_left_after_a_kill_at_any_moment_of_a_reserved_unit(world, tmp_path, moment):
    evaluation = Evaluation(world, tmp_path, delay=1.0)
    process = evaluation.start()
    reached, pause = KILLS[moment]
    evaluation.wait_until(process, lambda: reached(evaluation))
    time.sleep(pause)
    os.killpg(process.pid, signal.SIGKILL)
    _, printed = evaluation.ended(process)
    assert found_in(printed) == []
    assert evaluation.left() == {}
    # The worker, in a session of its own, does not outlive the run; nor does its place.
    deadline = time.monotonic() + 20
    while left := processes_in(evaluation.folder):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    for place in (evaluation.folder / "temporary").glob("reserved-*"):
        assert list(place.iterdir()) == []


def processes_in(folder: Path) -> list[Path]:
    """Processes that belong to the run: its folder for temporary files is in their environment."""
    mark, found = f"TMPDIR={folder}".encode(), []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and mark in (process / "environ").read_bytes():
                found.append(process)
    return found


@pytest.mark.requirement("AV-19")
def test_nothing_is_in_arguments_variables_and_socket_names_of_processes_and_a_crash_leaves_no_core(world, tmp_path):
    evaluation = Evaluation(world, tmp_path, delay=1.5)
    process = evaluation.start()
    evaluation.wait_until(process, evaluation.is_agent_asked)
    workers = [one for one in processes_in(evaluation.folder) if b"reserved_worker" in (one / "cmdline").read_bytes()]
    seen = dict.fromkeys((Path("/proc/net/unix"), *(one / part for one in workers for part in ("cmdline", "environ"))))
    assert workers
    assert {str(place): found_in(place.read_bytes()) for place in seen if found_in(place.read_bytes())} == {}
    for worker in workers:
        with suppress(ProcessLookupError):
            os.kill(int(worker.name), signal.SIGABRT)
    code, printed = evaluation.ended(process)
    assert code == 2, printed
    assert b"stopped unexpectedly" in printed
    assert found_in(printed) == []
    assert evaluation.left() == {}


@pytest.mark.requirement("AV-19", "AV-21")
def test_nothing_is_in_what_is_made_of_a_run_later(evaluation, monkeypatch):
    code, printed = evaluation.ended(evaluation.start(agent="ref:memorizer"))
    assert code == 0, printed
    monkeypatch.setenv("XDG_CONFIG_HOME", str(evaluation.folder / "home"))
    key = ("--identity", evaluation.parties.key)
    asked = [("report", evaluation.run, "--format", name) for name in FORMATS]
    asked += [(*words, evaluation.run) for words in (("show",), ("replay",), ("verify",), ("watch", "--once"))]
    asked += [("claim", "make", evaluation.run), ("review", "list", evaluation.run)]
    asked += [("export", "make", evaluation.run, "--out", evaluation.folder / "home/copy")]
    asked += [("compare", evaluation.run, evaluation.run), ("conformance", evaluation.run / "verdict.yaml")]
    asked += [("replay", evaluation.run, *key), ("reserved", "audit", evaluation.run, *key)]
    asked += [("reserved", "audit", evaluation.run, *key, "--profile", evaluation.parties.profile)]
    asked += [("show", evaluation.run, "reserved-1")]
    told = {words: sirocco(*words) for words in asked}
    for words, done in told.items():
        assert "Traceback" not in done.stderr, words
        assert found_in((done.stdout + done.stderr).encode()) == [], words
    assert "1 of the 1 scenario committed to" in told[asked[-2]].stdout
    with served_console(evaluation.folder) as console:
        pages = {path: console.client.get(path) for path in ("/runs", f"/run/{evaluation.run.name}", "/review")}
    assert {page.status_code for page in pages.values()} == {200}
    assert {path: found_in(page.content) for path, page in pages.items() if found_in(page.content)} == {}
    assert evaluation.left() == {}
