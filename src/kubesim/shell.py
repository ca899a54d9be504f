"""A small POSIX shell: which commands a script runs, in what order and with what words; callers supply the programs.

It reads lists (`;`, `&&`, `||`, newlines), pipes, quotes, variables and redirections. It does not know loops, branches,
functions or command substitution, and says so instead of guessing.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kubesim.surroundings import Execution

_OPERATORS = re.compile(r"&&|\|\||[0-9]?>&[0-9]|[0-9]?>>|[0-9]?>|<|[;|\n]")
_BLANK = re.compile(r"[ \t\r]+|\\\n|#[^\n]*")
_WORD = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s;&|<>()'"\\`]+""", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+|\?)(?::?-([^}]*))?\}|(\w+|[?$]))")
_ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)
_BEYOND = frozenset({
    "if", "then", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "{", "}",
})  # fmt: skip
_REDIRECTIONS = re.compile(r"([0-9]?)(>>?|<)(?:&([0-9]))?")
_SUBSTITUTIONS = ("`", "$(")


class UnreadableScriptError(ValueError):
    """A script uses what this shell does not know."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command that ran: its outcome, and how many seconds it took."""

    execution: Execution
    seconds: float = 0.0


@dataclass(slots=True)
class Situation:
    """The state of a running script: variables, and files that it wrote."""

    variables: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)
    stops_on_error: bool = False


Program = Callable[[Sequence[str], Situation, str], Step]
"""Runs a command, given its words, the situation it runs in and its standard input."""


def run_script(script: str, situation: Situation, program: Program, stdin: str = "") -> list[Step]:
    """Run the commands of a script; raise `UnreadableScriptError` before anything runs if it cannot be read."""
    commands = list(_commands(_tokens(script)))
    steps: list[Step] = []
    code, is_skipped = 0, False
    for joint, words in commands:
        if joint != "|":
            is_skipped = (joint == "&&" and bool(code)) or (joint == "||" and not code)
        if is_skipped:
            continue
        given = stdin
        if joint == "|":
            given = steps[-1].execution.stdout
            steps[-1] = replace(steps[-1], execution=replace(steps[-1].execution, stdout=""))
        steps.append(_run(words, situation, program, given, code))
        code = steps[-1].execution.exit_code
        if words[0].text == "exit" or (situation.stops_on_error and code):
            break
    return steps


def outcome(steps: Sequence[Step]) -> Execution:
    """What all commands of a script printed, and how the last one ended."""
    return Execution(
        "".join(step.execution.stdout for step in steps),
        "".join(step.execution.stderr for step in steps),
        steps[-1].execution.exit_code if steps else 0,
    )


@dataclass(frozen=True, slots=True)
class _Word:
    """A word or an operator; `pieces` are its parts, each with whether variables in it are expanded."""

    text: str
    pieces: tuple[tuple[str, bool], ...] = ()

    @property
    def is_operator(self) -> bool:
        return not self.pieces

    def value(self, variables: dict[str, str], code: int) -> str:
        return "".join(_fill_variables(text, variables, code) if fills else text for text, fills in self.pieces)


def _tokens(script: str) -> Iterator[_Word]:
    place = 0
    while place < len(script):
        if blank := _BLANK.match(script, place):
            place = blank.end()
        elif operator := _OPERATORS.match(script, place):
            yield _Word(operator[0])
            place = operator.end()
        else:
            pieces = []
            while piece := _WORD.match(script, place):
                pieces.append(piece[0])
                place = piece.end()
            if not pieces or any(mark in piece for piece in pieces if piece[0] != "'" for mark in _SUBSTITUTIONS):
                raise UnreadableScriptError(script[place:])
            yield _Word("".join(pieces), tuple(map(_unquote_piece, pieces)))


def _unquote_piece(piece: str) -> tuple[str, bool]:
    """A piece of a word without its quotes, and whether variables in it are expanded."""
    match piece[0]:
        case "'":
            return piece[1:-1], False
        case '"':
            return re.sub(r'\\(["\\`$])', r"\1", piece[1:-1]), "\\$" not in piece
        case "\\":
            return piece[1:], False
    return piece, True


def _commands(tokens: Iterator[_Word]) -> Iterator[tuple[str, list[_Word]]]:
    """The simple commands of a script, each with the operator that joins it to the one before."""
    joint, words = ";", list[_Word]()
    for token in tokens:
        if token.is_operator and not _REDIRECTIONS.fullmatch(token.text):
            if words:
                yield joint, words
            elif token.text not in {";", "\n"}:
                raise UnreadableScriptError(token.text)
            keeps_joint = not words and joint in {"|", "&&", "||"} and token.text == "\n"
            joint, words = joint if keeps_joint else token.text.replace("\n", ";"), []
        else:
            if not words and token.text in _BEYOND:
                raise UnreadableScriptError(token.text)
            words.append(token)
    if words:
        yield joint, words


def _run(words: list[_Word], situation: Situation, program: Program, stdin: str, code: int) -> Step:
    """Run one simple command: assignments, redirections, shell built-ins, and then programs."""
    texts, redirections = _split_redirections(words, situation, code)
    while texts and (found := _ASSIGNMENT.fullmatch(texts[0])):
        situation.variables[found[1]] = found[2]
        texts.pop(0)
    for kind, target in redirections:
        if kind == "<":
            stdin = situation.files.get(target, stdin)
    step = _built_in(texts, situation, code) if texts else Step(Execution())
    return _redirect_output(step or program(texts, situation, stdin), redirections, situation)


def _split_redirections(words: list[_Word], situation: Situation, code: int) -> tuple[list[str], list[tuple[str, str]]]:
    """The words of a command, and separately its redirections with their targets."""
    texts: list[str] = []
    redirections: list[tuple[str, str]] = []
    rest = iter(words)
    for word in rest:
        if not word.is_operator:
            texts.append(word.value(situation.variables, code))
        elif "&" in word.text:
            redirections.append((word.text, ""))
        else:
            target = next(rest, None)
            if target is None or target.is_operator:
                raise UnreadableScriptError(word.text)
            redirections.append((word.text, target.value(situation.variables, code)))
    return texts, redirections


def _built_in(words: list[str], situation: Situation, code: int) -> Step | None:
    """The shell's built-in commands; None for a program."""
    match words:
        case ["exit"]:
            return Step(Execution(exit_code=code))
        case ["exit", number]:
            return Step(Execution(exit_code=int(number) % 256 if number.isdecimal() else 2))
        case ["export", *settings]:
            situation.variables |= dict(item.split("=", 1) for item in settings if "=" in item)
            return Step(Execution())
        case ["set", *options]:
            situation.stops_on_error |= any(option.startswith("-") and "e" in option for option in options)
            return Step(Execution())
        case [":" | "cd" | "trap" | "umask" | "wait", *_]:
            return Step(Execution())
        case ["exec", *rest] if not rest:
            return Step(Execution())
    return None


def _redirect_output(step: Step, redirections: list[tuple[str, str]], situation: Situation) -> Step:
    """A step whose output went where its redirections say."""
    stdout, stderr = step.execution.stdout, step.execution.stderr
    for kind, target in redirections:
        is_error = kind.startswith("2")
        if kind == "2>&1":
            stdout, stderr = stdout + stderr, ""
        elif kind.endswith("&2"):
            stdout, stderr = "", stdout + stderr
        elif kind != "<":
            before = situation.files.get(target, "") if ">>" in kind else ""
            if target != "/dev/null":
                situation.files[target] = before + (stderr if is_error else stdout)
            stdout, stderr = (stdout, "") if is_error else ("", stderr)
    return replace(step, execution=replace(step.execution, stdout=stdout, stderr=stderr))


def _fill_variables(text: str, variables: dict[str, str], code: int) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        if name in {"?", "$"}:
            return str(code) if name == "?" else "1"
        return variables.get(name) or match[2] or ""

    return _VARIABLE.sub(value, text)
