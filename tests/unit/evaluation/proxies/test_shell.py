"""What a script runs is read as a shell would, and no text can make that raise or take long."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sirocco.domains.kubernetes.evaluation.proxies.shell import UNKNOWN, Shell, quote_word

WORDS = st.lists(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12), max_size=5)  # fmt: skip
HOSTILE = st.lists(
    st.sampled_from([
        "$(", ")", "${", "}", "`", "'", '"', "\\", "\n", ";", "|", "&", "<<E", "<", ">", "(", "{", "if ", "then ", "fi ",
        "for x in a b; do ", "done ", "while read x; do ", "case x in ", "esac ", "f() { ", "eval ", "sh -c ", "xargs ",
        "a=$a$a ", "$a", "kubectl ", "delete ", "base64 -d ", "printf %s%s ", "\t", "#", "{a,b}", "$((", "\0", "find . -exec ",
        "trap ", "alias k=k ", "k ", "env ", "timeout 1 ", "tr a-z ", "sed s/a/b/ ", "cut -f", "E\n", "é", "\N{NO-BREAK SPACE}",
    ]),
    max_size=60,
).map("".join)  # fmt: skip


def commands(script: str, **known: str) -> list[tuple[str, ...]]:
    shell = Shell(known)
    shell.run_script(script)
    return [command.words for command in shell.commands]


@pytest.mark.requirement("SI-08")
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("a b; c 'd e' \"f g\"", ["a b", "c d e f g"]),
        ("x=1 y=2; p $x${y}z $nothing", [f"p 12z {UNKNOWN}"]),
        ("p ${x:-d} ${y-e}", ["p d e"]),
        ("x=kubectl; p ${x:0:4} ${x/ctl/let}", ["p kube kubelet"]),
        ("p $(echo a $(echo b)) `echo c`", ["p a b c"]),
        ("a && b || c & d", ["a", "b", "c", "d"]),
        ("if a; then b; elif c; then d; else e; fi; f", ["a", "b", "c", "d", "e", "f"]),
        ("for x in 1 2; do p $x; done", ["p 1", "p 2"]),
        ("while a; do b; done", ["a", "b"]),
        ("printf '1\\n2\\n' | while read n; do p $n; done", ["p 1", "p 2"]),
        ("case $x in a) p 1;; b|c) p 2;; esac; q", ["p 1", "p 2", "q"]),
        ("f() { p $1 $2; }; f 1 2", ["p 1 2"]),
        ("function f { p; }\nf", ["p"]),
        ("(a; b) | c", ["a", "b", "c"]),
        ("p <<END\nx\nEND\nq", ["p", "q"]),
        ("sh -ec 'p 1' && bash -c \"p $x\" ", ["p 1", f"p {UNKNOWN}"]),
        ("eval p '1'", ["p 1"]),
        ("echo p 1 | sh", ["p 1"]),
        ("echo 'p 1' > /tmp/s; . /tmp/s; sh /tmp/s; /tmp/s", ["p 1", "p 1", "p 1"]),
        ("alias k=p; k 1", ["p 1"]),
        ("sudo -u root timeout 5 env A=1 p $A", [f"p {UNKNOWN}"]),
        ("echo 1 2 | xargs p", ["p 1 2"]),
        ("echo '1\n2' | xargs -I{} p x{}", ["p x1", "p x2"]),
        ("find / -name x -exec p {} \\;", [f"p {UNKNOWN}"]),
        ("# p\np 1 # q", ["p 1"]),
        ("echo p 1", []),
        ("p 2>&1 >/dev/null", ["p"]),
        ("p $'a\\x62'", ["p ab"]),
        ("p \\\n 1", ["p 1"]),
    ],
)
def test_a_script_runs_what_a_shell_would_run(script: str, expected: list[str]) -> None:
    assert [" ".join(words) for words in commands(script)] == expected


@given(WORDS)
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    assert commands(" ".join(["p", *map(quote_word, words)])) == [("p", *words)]


@given(WORDS)
def test_words_that_the_standard_library_quotes_come_back_too(words: list[str]) -> None:
    assert commands(shlex.join(["p", *words])) == [("p", *words)]


@pytest.mark.requirement("SI-08")
@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(HOSTILE)
def test_no_script_raises(script: str) -> None:
    commands(script)


@pytest.mark.requirement("SI-08")
@given(st.text())
def test_no_text_raises(script: str) -> None:
    commands(script)


@pytest.mark.requirement("SI-08")
@pytest.mark.parametrize(
    "script",
    [
        "$(" * 20_000, "(" * 20_000, "{ " * 20_000, "`" * 20_001, '"$(' * 10_000, "if " * 20_000, "a=1 " * 50_000,
        "a " * 100_000, "x=y;" + "x=$x$x;" * 100, "f() { f; f; }; f", "eval eval " * 10_000, "{" + "," * 100_000,
        "for x in $(seq 1 9999999); do p; done", "while true; do p; done", "\n" * 200_000, "<<E " * 10_000,
        "for a in 1 2 3 4 5 6 7 8; do " * 12 + "p;" + "done;" * 12, "sh -c '" * 5000, "x" * 2_000_000,
    ],
    ids=range(19),
)  # fmt: skip
def test_work_on_hostile_scripts_is_bounded(script: str) -> None:
    assert len(commands(script)) <= 1000
