"""`sirocco validate` as a user meets it: exact texts, formats, exit codes, a terminal and a pipe."""

import json
import os
import pty
import re
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from commands import sirocco

ROOT = Path(__file__).parents[3]
NOTES = "scenarios/notes.yaml"


def broken(folder: Path, file: str, old: str, new: str) -> Path:
    """The folder after one edit in one of its files."""
    path = folder / file
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
    path.write_text(text.replace(old, new))
    return folder


def on_a_terminal(*arguments: object, **settings: str) -> str:
    """What the command writes when its output is a terminal."""
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR"}}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "60", **settings}
    command = [sys.executable, "-m", "sirocco", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    written = b""
    with suppress(OSError):  # which is how Linux says that the last writer is gone
        while part := os.read(ours, 65536):
            written += part
    process.wait()
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_a_wrong_value_is_shown_with_its_line_and_a_caret(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 2")
    done = sirocco("validate", orchard)
    file = orchard / NOTES
    line = 1 + file.read_text().splitlines().index("tier: 2")
    assert done.code == 2
    assert done.stdout == (
        f"{file}:{line}:7 tier-undefined the profile does not define tier 2; use one of: 1\n"
        f"  {line} | tier: 2\n"
        f"  {' ' * len(str(line))} |       ^ error\n"
        "\n"
        "1 error, 0 warnings in 1 file\n"
    )
    assert done.stderr == ""


def test_an_unknown_key_is_a_warning_and_says_so(orchard):
    broken(orchard, "profile.yaml", "licence: Apache-2.0", "licence: Apache-2.0\nlicense: MIT")
    done = sirocco("validate", orchard)
    file = orchard / "profile.yaml"
    line = 1 + file.read_text().splitlines().index("license: MIT")
    assert done.code == 0
    assert done.stdout == (
        f"{file}:{line}:1 field-unknown unknown field 'license'; did you mean 'licence'?\n"
        f"  {line} | license: MIT\n"
        f"  {' ' * len(str(line))} | ^ warning\n"
        "\n"
        "0 errors, 1 warning in 1 file\n"
    )


def test_text_that_would_act_on_the_terminal_is_made_harmless(tmp_path):
    file = tmp_path / "evil\x1b[2J.yaml"
    file.write_text("id: x\nname: 漢字\t\x1b[31mred\n")
    done = sirocco("validate", file)
    assert done.code == 2
    assert done.stdout == (
        f"{tmp_path}/evil [2J.yaml:2:10 yaml-character the character U+001B is not allowed in YAML; "
        "remove it, or escape it in double quotes\n"
        "  2 | name: 漢字  �[31mred\n"
        "    |             ^ error\n"
        "\n"
        "1 error, 0 warnings in 1 file\n"
    )


def test_colours_appear_on_a_terminal_and_the_text_is_the_same_in_a_pipe(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 2\nitent: because " + "of this " * 40)
    seen, piped = on_a_terminal("validate", orchard), sirocco("validate", orchard).stdout
    assert "\x1b[" in seen
    assert "\x1b" not in piped
    assert without_colour(seen) == piped
    assert len(piped.splitlines()) == 9


def test_findings_at_one_place_share_their_line(orchard):
    broken(orchard, "profile.yaml", "id: orchard-profile\nname: Orchard\n", "")
    done = sirocco("validate", orchard)
    place = f"{orchard}/profile.yaml:2:1"
    assert done.stdout == (
        f"{place} field-missing required field 'id' is missing; add it\n"
        f"{place} field-missing required field 'name' is missing; add it\n"
        "  2 | version: 1.0.0\n"
        "    | ^ error\n"
        "\n"
        "2 errors, 0 warnings in 1 file\n"
    )


def test_errors_and_warnings_differ_in_colour(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 2\nitent: because")
    seen = on_a_terminal("validate", orchard)
    assert "\x1b[1;31m^ error" in seen
    assert "\x1b[1;33m^ warning" in seen


def test_no_colour_is_respected_on_a_terminal(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 2")
    assert "\x1b[31m" in on_a_terminal("validate", orchard).replace("1;31m", "31m")
    assert "31m" not in on_a_terminal("validate", orchard, NO_COLOR="1")


def test_concise_findings_have_one_line_each(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 2\nitent: because")
    full, concise = sirocco("validate", orchard), sirocco("validate", orchard, "--format", "concise")
    lines = concise.stdout.splitlines()
    assert len(lines) == 3
    assert [line for line in full.stdout.splitlines() if line.startswith(str(orchard))] == lines[:2]
    assert lines[2] == "1 error, 1 warning in 1 file"


def test_json_is_the_only_thing_on_standard_output(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 2")
    done = sirocco("validate", orchard, "--format", "json")
    [finding] = json.loads(done.stdout)["findings"]
    assert finding == {
        "severity": "error",
        "rule": "tier-undefined",
        "file": str(orchard / NOTES),
        "line": finding["line"],
        "column": 7,
        "path": "tier",
        "problem": "the profile does not define tier 2",
        "remedy": "use one of: 1",
    }
    assert json.loads(done.stdout)["summary"] == {"errors": 1, "warnings": 0}
    assert done.code == 2


def test_a_terminal_that_knows_ascii_only_gets_escapes(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("id: 漢\x07\n")
    done = sirocco("validate", file, PYTHONIOENCODING="ascii")
    assert done.code == 2
    assert "id: \\u6f22\\ufffd" in done.stdout
    document = sirocco("validate", file, "--format", "json", PYTHONIOENCODING="ascii")
    assert json.loads(document.stdout)["summary"]["errors"] == 1


def test_findings_come_by_file_and_place_however_the_paths_were_given(tmp_path):
    for name in ("b.yaml", "a.yaml"):
        (tmp_path / name).write_text("tier: 1\ntier: 2\nname: [\n")
    done = sirocco("validate", tmp_path / "b.yaml", tmp_path, "--format", "json")
    places = [(row["file"], row["line"], row["column"]) for row in json.loads(done.stdout)["findings"]]
    assert places == sorted(set(places))
    assert {file for file, _, _ in places} == {str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")}


def test_a_file_inside_a_profile_is_checked_as_a_part_of_it(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 2")
    broken(orchard, "profile.yaml", "licence: Apache-2.0", "licence: Apache-2.0\nlicense: MIT")
    done = sirocco("validate", orchard / NOTES, "--format", "json")
    assert [(row["rule"], row["file"]) for row in json.loads(done.stdout)["findings"]] == [
        ("tier-undefined", str(orchard / NOTES))
    ]


def test_a_folder_stands_for_the_profiles_and_files_in_it(orchard, tmp_path):
    broken(orchard, NOTES, "tier: 1", "tier: 2")
    (tmp_path / "stray.yml").write_text("id: [\n")
    (tmp_path / "notes.txt").write_text("id: [\n")
    done = sirocco("validate", tmp_path, "--format", "json")
    assert [row["rule"] for row in json.loads(done.stdout)["findings"]] == ["tier-undefined", "yaml-syntax"]


def test_an_empty_folder_is_a_mistake(tmp_path):
    done = sirocco("validate", tmp_path)
    assert done.code == 2
    assert "nor a YAML file" in done.stderr


def test_standard_input_is_read_once_and_named_by_a_dash():
    command = [sys.executable, "-m", "sirocco", "validate", "-"]
    done = subprocess.run(command, input="id: x\nid: y\n", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (
        "-:2:1 yaml-duplicate-key the key 'id' appears a second time, first on line 1; keep one of the two\n"
        "  2 | id: y\n"
        "    | ^ error\n"
    ) in done.stdout


def test_a_pipe_is_read_once_too(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=["id: x\nid: y\n"], daemon=True)
    writer.start()
    done = sirocco("validate", pipe)
    writer.join(10)
    assert done.code == 2
    assert f"{pipe}:2:1 yaml-duplicate-key" in done.stdout
    assert "\n  2 | id: y\n    | ^ error\n" in done.stdout


def test_a_folder_that_is_linked_into_itself_is_walked_once(tmp_path):
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "a.yaml").write_text("id: [\n")
    done = sirocco("validate", tmp_path, "--format", "json")
    assert json.loads(done.stdout)["summary"]["errors"] == 1


def test_what_is_not_text_is_shown_as_far_as_it_can_be(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"id: x\nname: caf\xe9\n")
    assert "  2 | name: caf�\n    |          ^ error\n" in sirocco("validate", file).stdout


def test_a_finding_without_a_line_still_says_how_much_it_matters(tmp_path):
    (tmp_path / "a.yaml").write_text("\n")
    assert f"{tmp_path}/a.yaml:1:1 document-empty" in (done := sirocco("validate", tmp_path).stdout)
    assert "\n  = warning\n" in done


def test_a_profile_that_does_not_load_is_shown_alike_by_other_commands(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 2")
    checked = sirocco("validate", orchard).stdout.partition("\n\n")[0]
    for command in (
        ["run", "--agent", "ref:careful", "--profile", orchard],
        ["profile", "show", orchard],
        ["profile", "quality", orchard],
    ):
        done = sirocco(*command)
        assert (done.code, done.stdout) == (2, "")
        assert done.stderr == checked + "\n"


def test_the_bundled_profile_has_no_finding_also_when_strict():
    done = sirocco("validate", ROOT / "src/sirocco/domains/kubernetes/corpus/kubernetes_operations", "--strict")
    assert (done.code, done.stdout) == (0, "no findings\n")


def test_strict_turns_warnings_into_errors(orchard):
    broken(orchard, NOTES, "tier: 1", "tier: 1\nitent: because")
    assert sirocco("validate", orchard).code == 0
    done = sirocco("validate", orchard, "--strict")
    assert done.code == 2
    assert "^ error" in done.stdout


def suite(orchard: Path, path: Path, scenarios: str = "[orchard.note-001]") -> Path:
    domain = "domain_profile: orchard-profile\n"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"id: morning\nname: Morning\nversion: 1.0.0\n{domain}scenarios: {scenarios}\n")
    return path


def test_a_suite_is_known_by_its_keys(orchard, tmp_path):
    alone = suite(orchard, tmp_path / "morning.yaml")
    assert sirocco("validate", alone, "--profile", orchard).stdout == "no findings\n"
    suite(orchard, alone, "[orchard.note-001, orchard.note-002]")
    done = sirocco("validate", alone, "--profile", orchard)
    assert done.code == 2
    assert f"{alone}:5:31 suite-scenario-unknown" in done.stdout


def test_a_suite_beside_a_profile_is_checked_as_a_part_of_it(orchard):
    beside = suite(orchard, orchard / "suites" / "morning.yaml", "[orchard.note-002]")
    done = sirocco("validate", beside)
    assert done.code == 2
    assert f"{beside}:5:13 suite-scenario-unknown" in done.stdout


def test_every_document_of_a_file_is_checked(orchard):
    text = (orchard / NOTES).read_text()
    (orchard / NOTES).write_text(f"{text}---\n{text.replace('tier: 1', 'tier: 2')}")
    done = sirocco("validate", orchard, "--format", "json")
    found = {row["rule"]: row["line"] for row in json.loads(done.stdout)["findings"]}
    assert {"duplicate-id", "tier-undefined", "intent-duplicate"} <= found.keys()
    assert min(found.values()) > len(text.splitlines())


def test_of_a_package_of_the_standard_it_is_said_how_much_can_be_evaluated(package):
    done = sirocco("validate", package, "--format", "concise")
    assert done.code == 0
    assert done.stdout.splitlines()[-1] == f"{package}: 50 of 50 scenarios can be evaluated"
