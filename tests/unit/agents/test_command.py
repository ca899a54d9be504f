"""Agents that are commands, as real processes: the contract, the fault rule, isolation, and nothing left behind."""

import asyncio
import json
import os
import pwd
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_requests import ANSWER, DESCRIPTION, agent_request, open_folder, script
from sirocco.agents.command import CommandAgent, LinesAgent
from sirocco.agents.confinement import Confinement, Quarters, confinement
from sirocco.agents.contract import ANSWER_LIMIT
from sirocco.agents.program import Program
from sirocco.errors import AgentFault, AgentFaultKind, ConfigError

ECHO = """
import json, sys
request = json.load(sys.stdin)
print(json.dumps({"final_answer": json.dumps(request)}))
"""
LINES = """
import json, os, sys, uuid
count = 0
for line in sys.stdin:
    request = json.loads(line)
    count += 1
    kubeconfig = os.environ["KUBECONFIG"]
    text = open(kubeconfig).read() if os.path.exists(kubeconfig) else ""
    seen = {"count": count, "process": str(uuid.uuid5(uuid.NAMESPACE_OID, os.environ["HOME"])), "kubeconfig": text, "prompt": request.get("prompt")}
    print(json.dumps({"final_answer": json.dumps(seen)}), flush=True)
"""
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process under another account")
SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture
def folder():
    with open_folder() as path:
        yield path


def command(text, *, kind=CommandAgent, passed=(), folder=Path("/")):
    program = Program.parse(text, folder)
    return kind(program, confinement(program.files, passed, leading=("KUBECONFIG",)))


def python(folder, text, *, interpreter=sys.executable, kind=CommandAgent, passed=()):
    (folder / "agent.py").write_text(text)
    return command(f"{interpreter} agent.py", kind=kind, passed=passed, folder=folder)


def shell(folder, text, *, name="agent.sh", **options):
    return command(str(script(folder, f"#!/bin/sh\n{text}\n", name)), **options)


def answered(agent, request=None):
    async def answer():
        try:
            return await agent.respond(request or agent_request())
        finally:
            if hasattr(agent, "close"):
                await agent.close()

    return asyncio.run(answer())


def fault(agent, request=None):
    with pytest.raises(AgentFault) as raised:
        answered(agent, request)
    return raised.value


def test_the_request_comes_on_standard_input_and_the_answer_on_standard_output(folder):
    request = agent_request("How many?", conversation=[("user", "Hello"), ("assistant", "Hi")])
    response = answered(python(folder, ECHO), request)
    assert json.loads(response.final_answer) == request.document()


def test_an_answer_with_actions(folder):
    response = answered(shell(folder, f"cat >/dev/null; echo {shlex.quote(json.dumps(ANSWER))}"))
    assert response.document() == ANSWER


def test_no_actions_are_no_fault(folder):
    assert answered(shell(folder, "cat >/dev/null; echo '{}'")).document() == {"final_answer": "", "reasoning": ""}


def test_an_agent_need_not_read_its_request(folder):
    assert answered(shell(folder, """echo '{"final_answer": "Yes."}'""")).final_answer == "Yes."


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("cat >/dev/null; echo Two.", AgentFaultKind.MALFORMED, "'Two.'"),
        ("cat >/dev/null", AgentFaultKind.MALFORMED, "the answer is empty"),
        ("cat >/dev/null; echo '[]'", AgentFaultKind.WRONG_TYPE, "the answer is a list, not an object"),
        ("""cat >/dev/null; echo '{"actions": {}}'""", AgentFaultKind.WRONG_TYPE, "actions is an object, not a list"),
        ("cat >/dev/null; echo '{}'; echo no key >&2; exit 3", AgentFaultKind.EXITED, "ended with exit code 3: no key"),
        ("kill -9 $$", AgentFaultKind.EXITED, "was ended by signal 9"),
    ],
)
def test_what_is_no_answer_is_a_typed_fault(folder, text, kind, said):
    found = fault(shell(folder, text))
    assert (found.kind, said in found.problem) == (kind, True), found
    assert found.where.startswith("cmd:")
    assert found.remedy


def test_an_answer_that_does_not_end_is_cut_off(folder):
    began = time.monotonic()
    found = fault(shell(folder, "exec yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), agent_request(deadline=60))
    assert found.kind is AgentFaultKind.OVERSIZED
    assert str(ANSWER_LIMIT) in found.problem
    assert time.monotonic() - began < 30


def running(mark):
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if mark in line]


@pytest.mark.parametrize("text", ["sleep {seconds}", "sleep {seconds} & wait", "trap '' TERM; sleep {seconds}"])
def test_one_that_takes_too_long_is_ended_with_all_that_it_started(folder, text):
    seconds = f"97{os.getpid()}"
    began = time.monotonic()
    found = fault(shell(folder, text.format(seconds=seconds)), agent_request(deadline=1))
    assert found.kind is AgentFaultKind.TIMEOUT
    assert "no answer within 1 s" in found.problem
    assert time.monotonic() - began < 10
    assert running(f"sleep {seconds}") == []


def test_what_an_agent_leaves_running_ends_with_its_turn(folder, monkeypatch):
    monkeypatch.setattr("sirocco.agents.child._GRACE", 60)
    seconds = f"98{os.getpid()}"
    began = time.monotonic()
    assert answered(shell(folder, f"""sleep {seconds} & echo '{{"final_answer": "Left."}}'""")).final_answer == "Left."
    assert time.monotonic() - began < 10
    assert running(f"sleep {seconds}") == []


def test_the_folder_is_empty_at_the_start_and_gone_at_the_end(folder):
    response = answered(
        shell(folder, """printf '{"final_answer": "%s %s"}' "$PWD" "$(ls -A | wc -l)"; echo left >note""")
    )
    where, count = response.final_answer.split()
    assert count == "0"
    assert not Path(where).exists()
    assert not Path(where).parent.exists()


def test_the_environment_is_the_childs_own(folder, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", "/home/user/.kube/config")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("MODEL_KEY", "k1")
    text = "import json, os; print(json.dumps({'final_answer': json.dumps(dict(os.environ))}))"
    variables = json.loads(answered(python(folder, text, passed=["MODEL_KEY"])).final_answer)
    assert set(variables) <= {
        "PATH",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "HOME",
        "TMPDIR",
        "PWD",
        "KUBECONFIG",
        "USER",
        "LOGNAME",
        "MODEL_KEY",
    }
    assert variables["MODEL_KEY"] == "k1"
    assert variables["HOME"] != os.environ["HOME"]
    assert "user" not in variables["KUBECONFIG"]


def test_kubeconfig_leads_to_the_environment_of_the_turn(folder):
    agent = shell(folder, """cat >/dev/null; printf '{"final_answer": "%s"}' "$(cat "$KUBECONFIG")" """)
    assert answered(agent, agent_request(kubeconfig="clusters of the turn")).final_answer == "clusters of the turn"


@is_root
def test_root_starts_it_under_an_account_that_owns_nothing(folder):
    agent = shell(
        folder, """cat >/dev/null; printf '{"final_answer": "%s|%s"}' "$(id -u) $(id -G)" "$(cat "$KUBECONFIG")" """
    )
    nobody = pwd.getpwnam("nobody")
    assert agent.isolation == "process+uid"
    assert agent.isolation_note == ""
    response = answered(agent, agent_request(kubeconfig="mine"))
    assert response.final_answer == f"{nobody.pw_uid} {nobody.pw_gid}|mine"


@is_root
def test_an_agent_under_another_account_cannot_write_where_we_write_for_it(folder):
    """A link in the place of the kubeconfig would make root write, and give away, any file."""
    target = folder / "victim"
    target.write_text("untouched")
    text = f"""
import json, os, sys
for line in sys.stdin:
    said = []
    for name in ("kubeconfig", "kubeconfig.new"):
        path = os.path.join(os.path.dirname(os.environ["KUBECONFIG"]), name)
        try:
            os.path.lexists(path) and os.remove(path)
            os.symlink({str(target)!r}, path)
            said.append("linked")
        except OSError as error:
            said.append(error.strerror)
    print(json.dumps({{"final_answer": ", ".join(said)}}), flush=True)
"""
    if not Path(SYSTEM_PYTHON).exists():
        pytest.skip(f"there is no {SYSTEM_PYTHON}")
    agent = python(folder, text, interpreter=SYSTEM_PYTHON, kind=LinesAgent)

    async def twice():
        first = await agent.respond(agent_request(kubeconfig="one"))
        second = await agent.respond(agent_request(kubeconfig="two"))
        await agent.close()
        return first.final_answer, second.final_answer

    assert asyncio.run(twice()) == ("Permission denied, Permission denied",) * 2
    assert target.read_text() == "untouched"
    assert target.stat().st_uid == 0


@is_root
@pytest.mark.requirement("CO-10")
def test_of_a_folder_that_is_closed_to_others_it_sees_its_own_part_only(tmp_path):
    tmp_path.chmod(0o700)
    (tmp_path / "agent").mkdir(mode=0o700)
    (tmp_path / "neighbour").write_text("not for it")
    (tmp_path / "agent" / "beside").write_text("for it")
    text = f"""cat >/dev/null; printf '{{"final_answer": "%s"}}' "$(cat {tmp_path}/agent/beside {tmp_path}/neighbour 2>&1)" """
    agent = shell(tmp_path / "agent", text)
    assert (agent.isolation, agent.isolation_note) == ("process+uid", "")
    said = answered(agent).final_answer
    assert said.startswith("for it")
    assert "not for it" not in said


@is_root
@pytest.mark.requirement("CO-10")
def test_a_child_cannot_see_the_folders_of_other_children(folder):
    place = folder / "place"
    place.touch()
    place.chmod(0o666)
    first = shell(
        folder, f"""cat >/dev/null; echo mine >note; echo "$PWD/note" >{place}; sleep 1; echo '{{}}'""", name="first"
    )
    wait = f"until [ -s {place} ]; do sleep 0.05; done"
    second = shell(
        folder, f"""{wait}; printf '{{"final_answer": "%s"}}' "$(cat "$(cat {place})" 2>&1)" """, name="second"
    )

    async def both():
        return await asyncio.gather(first.respond(agent_request()), second.respond(agent_request()))

    said = asyncio.run(both())[1].final_answer
    assert said.startswith("cat: ")
    assert "mine" not in said


@pytest.mark.requirement("CO-10")
def test_whatever_a_child_detaches_ends_with_it(folder):
    seconds = f"96{os.getpid()}"
    agent = shell(folder, f"cat >/dev/null; setsid -f sleep {seconds}; echo '{{}}'")
    if agent.isolation != "process+uid":
        pytest.skip("no namespaces on this machine")
    answered(agent)
    assert running(f"sleep {seconds}") == []


@pytest.mark.requirement("CO-10")
def test_a_child_cannot_take_covers_away_in_namespaces_of_its_own(folder):
    secret = folder / "secret"
    secret.mkdir()
    (secret / "note").write_text("hidden")
    look = f"umount -l {secret}; cat {secret}/note /proc/1/root{secret}/note"
    text = f"""cat >/dev/null; printf '{{"final_answer": "%s"}}' "$({{ {look}; unshare -Urm sh -c '{look}'; }} 2>/dev/null)" """
    program = Program.parse(str(script(folder, f"#!/bin/sh\n{text}\n")), folder)
    confined = confinement(program.files, hidden=[secret])
    if not confined.mechanism.is_enclosed:
        pytest.skip("no namespaces on this machine")
    assert answered(CommandAgent(program, confined)).final_answer == ""


@pytest.mark.parametrize("name", ["KUBECONFIG", "HOME", "TMPDIR"])
def test_what_the_child_has_of_its_own_cannot_be_passed_in(name):
    with pytest.raises(ConfigError, match=f"{name} is the child's own"):
        confinement([], [name], leading=("KUBECONFIG",))


def test_a_variable_that_is_not_set_is_a_mistake():
    with pytest.raises(ConfigError, match="NO_SUCH_NAME is not set"):
        confinement([], ["NO_SUCH_NAME"])


def test_a_kubeconfig_is_replaced_as_a_whole():
    quarters = Quarters(Confinement(leading=("KUBECONFIG",)))
    try:
        quarters.hand_over({"KUBECONFIG": "one"})
        quarters.hand_over({"KUBECONFIG": "two"})
        assert quarters.files["KUBECONFIG"].read_text() == "two"
        assert quarters.files["KUBECONFIG"].stat().st_mode & 0o777 == 0o600
        assert list(quarters.home.iterdir()) == []
    finally:
        quarters.remove()


@pytest.mark.parametrize("text", ["", "   ", "python 'unclosed"])
def test_what_is_no_command_is_said_at_once(text):
    with pytest.raises(ConfigError):
        Program.parse(text, Path("/"))


@pytest.mark.parametrize("text", ["/no/such/program", "no-such-program-here", "./agent"])
def test_a_program_that_is_not_there_cannot_be_reached(text, tmp_path):
    with pytest.raises(AgentFault) as raised:
        Program.parse(text, tmp_path)
    assert raised.value.kind is AgentFaultKind.UNREACHABLE


def test_a_file_that_cannot_be_executed_cannot_be_reached(folder):
    (folder / "agent").write_text("no program")
    found = fault(command("./agent", folder=folder))
    assert found.kind is AgentFaultKind.UNREACHABLE
    assert "cannot be started" in found.problem
    assert f"chmod +x {folder / 'agent'}" in found.remedy


def test_words_that_name_files_do_so_from_anywhere(folder):
    (folder / "agent.py").write_text("x")
    program = Program.parse("sh agent.py --flag 'two words' agent.yaml", folder)
    assert program.words[1:] == (str(folder / "agent.py"), "--flag", "two words", "agent.yaml")
    assert program.own == (folder / "agent.py",)


def test_it_says_itself_who_it_is(folder):
    text = f"""
import json, sys
request = json.load(sys.stdin)
assert request == {{"request": "identity-and-configuration"}}
print({json.dumps(DESCRIPTION)!r})
"""
    described = asyncio.run(python(folder, text).describe())
    assert (described.identity.name, described.identity.version) == ("toy", "1.2")
    assert dict(described.configuration) == {"interfaces": ["api"]}


@pytest.mark.parametrize("text", ["exit 1", "echo hello", "echo '{}'"])
def test_one_that_does_not_know_the_question_is_named_after_its_file(folder, text):
    first = asyncio.run(shell(folder, f"cat >/dev/null; {text}").describe()).identity
    second = asyncio.run(shell(folder, f"cat >/dev/null; {text} # changed").describe()).identity
    assert first.name == second.name == "agent.sh"
    assert first.version.startswith("sha256:")
    assert first.version != second.version


def lines(folder, text=LINES):
    return python(folder, text, kind=LinesAgent)


def test_a_process_that_stays_answers_line_by_line_with_the_kubeconfig_of_each_turn(folder):
    agent = lines(folder)

    async def talk():
        try:
            return [
                json.loads((await agent.respond(agent_request(prompt, kubeconfig=f"of {prompt}"))).final_answer)
                for prompt in ("one", "two")
            ]
        finally:
            await agent.close()

    first, second = asyncio.run(talk())
    assert first["process"] == second["process"]
    assert [first["count"], second["count"]] == [1, 2]
    assert [first["kubeconfig"], second["kubeconfig"]] == ["of one", "of two"]
    assert [first["prompt"], second["prompt"]] == ["one", "two"]


def test_turns_at_once_have_a_process_each_and_all_of_them_end(folder):
    agent = lines(folder)

    async def talk():
        try:
            answers = await asyncio.gather(*(agent.respond(agent_request(f"p{n}")) for n in range(3)))
            return {json.loads(answer.final_answer)["process"] for answer in answers}
        finally:
            await agent.close()

    processes = asyncio.run(talk())
    assert len(processes) == 3
    assert running(str(folder)) == []


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            "import sys; input(); print('no key', file=sys.stderr); sys.exit(2)",
            AgentFaultKind.EXITED,
            "ended without an answer: no key",
        ),
        (
            "input(); error = OSError('no model'); error.add_note('During task 7'); raise error",
            AgentFaultKind.EXITED,
            "ended without an answer: OSError: no model",
        ),
        ("import sys; [print('nonsense', flush=True) for line in sys.stdin]", AgentFaultKind.MALFORMED, "nonsense"),
        ("import time; time.sleep(60)", AgentFaultKind.TIMEOUT, "no answer within 1 s"),
        (
            "import sys; input(); sys.stdout.write('x' * 20_000_000); sys.stdout.flush()",
            AgentFaultKind.OVERSIZED,
            "longer than",
        ),
    ],
)
def test_faults_of_a_process_that_stays(folder, text, kind, said):
    deadline = 1 if kind is AgentFaultKind.TIMEOUT else 30
    found = fault(lines(folder, text), agent_request(deadline=deadline))
    assert (found.kind, said in found.problem) == (kind, True), found


def test_after_a_fault_the_next_turn_has_another_process_and_no_turn_is_sent_twice(folder):
    log = folder / "asked"
    log.touch(mode=0o666)
    log.chmod(0o666)
    text = f"""
import json, sys
for line in sys.stdin:
    open({str(log)!r}, "a").write(json.loads(line)["prompt"] + "\\n")
    if "crash" in line:
        sys.exit(1)
    print(json.dumps({{"final_answer": "ok"}}), flush=True)
"""
    agent = lines(folder, text)

    async def talk():
        said = []
        for prompt in ("one", "crash", "two"):
            try:
                said.append((await agent.respond(agent_request(prompt))).final_answer)
            except AgentFault as found:
                said.append(found.kind)
        await agent.close()
        return said

    assert asyncio.run(talk()) == ["ok", AgentFaultKind.EXITED, "ok"]
    assert log.read_text().split() == ["one", "crash", "two"]


def test_an_answer_that_comes_too_late_is_not_taken_for_that_to_the_next_turn(folder):
    text = """
import json, sys, time
for line in sys.stdin:
    prompt = json.loads(line)["prompt"]
    time.sleep(1.4 if prompt == "slow" else 0)
    print(json.dumps({"final_answer": prompt}), flush=True)
"""
    agent = lines(folder, text)

    async def talk():
        with pytest.raises(AgentFault, match="no answer within 1 s"):
            await agent.respond(agent_request("slow", deadline=1))
        await asyncio.sleep(0.7)
        second = await agent.respond(agent_request("quick"))
        await agent.close()
        return second.final_answer

    assert asyncio.run(talk()) == "quick"


def test_an_answer_without_a_line_break_at_the_end_counts(folder):
    assert (
        answered(lines(folder, 'import sys; input(); sys.stdout.write(\'{"final_answer": "x"}\')')).final_answer == "x"
    )


def test_a_kubeconfig_for_the_whole_run_is_there_from_the_start(folder):
    (folder / "agent.py").write_text(LINES)
    program = Program.parse(f"{sys.executable} agent.py", folder)
    agent = LinesAgent(program, confinement(program.files, leading=("KUBECONFIG",)), lambda: {"KUBECONFIG": "for all"})
    assert json.loads(answered(agent).final_answer)["kubeconfig"] == "for all"


@pytest.mark.requirement("SI-02")
def test_nothing_that_a_child_is_given_names_the_evaluation(folder):
    text = "import json, os, sys; print(json.dumps({'final_answer': json.dumps([sys.stdin.read(), dict(os.environ), sys.argv, os.getcwd()])}))"
    seen = answered(python(folder, text), agent_request(kubeconfig="x")).final_answer.lower()
    kept = {os.environ.get("PATH", "").lower(), str(folder).lower()}
    for path in kept:
        seen = seen.replace(json.dumps(path)[1:-1].replace("\\", "\\\\"), "")
    for word in ("sirocco", "oasis", "probe", "scenario", "witness", "evaluat"):
        assert word not in seen
