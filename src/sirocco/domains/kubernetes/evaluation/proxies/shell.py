"""Shells: which commands a script runs, with their words expanded and their input.

Every branch counts as taken. What cannot be known from the text (the output of a program, a variable that is never set)
appears as `UNKNOWN` in the words. All work is bounded, whatever the text says.
"""

import re
from base64 import b32decode, b64decode, b64encode
from binascii import unhexlify
from bz2 import BZ2Decompressor
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import dropwhile
from lzma import LZMADecompressor, LZMAError
from typing import Any
from zlib import decompressobj
from zlib import error as ZlibError  # noqa: N812 - an exception

from sirocco.domains.kubernetes.evaluation.proxies.syntax import (
    Function,
    Group,
    Loop,
    Node,
    Part,
    Pipeline,
    Redirection,
    Simple,
    UnreadableError,
    Word,
    parse_script,
    unescape_text,
)
from sirocco.oasis.body_text import held_data
from sirocco.oasis.canonical import canonical_json

UNKNOWN = "\N{OBJECT REPLACEMENT CHARACTER}"
_MOST_COMMANDS = 1000
_MOST_SCRIPT = 1_000_000
_MOST_ROUNDS = 64
_MOST_TEXT = 100_000
_MOST_WORDS = 2000
_MOST_FILES = 500
_LONG_WORD = 1000
_DEEPEST = 16
_SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh", "ksh", "mksh", "busybox-sh", "rbash"})
_BEFORE_A_COMMAND = frozenset({
    "builtin", "busybox", "chroot", "chrt", "command", "doas", "dumb-init", "env", "exec", "flock", "gosu", "ionice",
    "ltrace", "nice", "nohup", "nsenter", "parallel", "runuser", "screen", "script", "setpriv", "setsid", "stdbuf",
    "strace", "su", "su-exec", "sudo", "systemd-run", "taskset", "time", "timeout", "tini", "tmux", "toybox",
    "unbuffer", "unshare", "watch",
})  # fmt: skip
"""Programs whose arguments are another program's name and arguments, after options of their own."""
_TAKES_A_VALUE = frozenset({"-u", "-C", "-n", "-k", "-s", "-g", "-i", "-o", "-e", "-t", "-S", "-c", "-h", "-p", "-G"})
_TAKES_A_SCRIPT = frozenset({"su", "runuser", "watch", "parallel", "script", "flock"})
_LOADER = re.compile(r"ld-(?:linux|musl)[\w.-]*")
_TMUX_COMMAND = re.compile(r"new(?:-session|-window)?|neww|split-window|splitw|run-shell|run|send-keys")
_SPEAKING = frozenset({"logger", "wall", "man", "info", "whatis", "apropos", "tldr", "notify-send", "apt", "apt-get",
                       "apk", "yum", "dnf", "brew", "snap", "cowsay", "figlet"})  # fmt: skip
"""Programs to which the name of another is only a word."""
_HANDED_ON = re.compile(r"(?:--[\w-]{1,40}=(?:exec|command)=|[\w.]{1,60}=!)(?P<script>.+)", re.DOTALL)
"""An option that makes a program such as `tar` or `git` run a script."""
_EXECUTED_BY_SED = re.compile(r"(?:\d{1,6}|\$)?e (?P<script>.+)", re.DOTALL)
_SILENT = frozenset({"shopt", "sleep", "test", "[", "[[", "true", "false", ":", "wait", "umask", "chmod",
                     "mkdir", "touch", "exit", "return", "break", "continue", "hash", "type"})  # fmt: skip
_BRACES = re.compile(r"([^{}]*)\{([^{}]*,[^{}]*)\}([^{}]*)")
_FORMAT = re.compile(r"%(?:%|[-0-9.]*[sdbqx])")
_SUBSTITUTION = re.compile(
    r"s(?P<mark>[^\w\s\\])(?P<old>(?:(?!(?P=mark)).)*)(?P=mark)(?P<new>(?:(?!(?P=mark)).)*)(?P=mark)g?"
)
_TRIMMED = re.compile(r"(?P<name>\w+)(?P<side>%%?|##?)(?P<pattern>.+)")
_RECASED = re.compile(r"(?P<name>\w+)(?P<case>,,?|\^\^?)")
_AWK_PRINT = re.compile(r"\{\s*print\s+(?P<what>[^{};]+)\}")
_AWK_ITEM = re.compile(r'\s*(?:"(?P<text>[^"\\]*)"|\$(?P<column>\d{1,3})|(?P<comma>,))')
_SLICE = re.compile(r"(?P<name>\w+):(?P<start>-?\d{1,6})(?::(?P<length>\d{1,6}))?")
_ASSIGNED_FIELD = re.compile(r"((?:\.\w+)+)\s*=\s*(\d{1,9}|\"[^\"]*\")")
_ANY_HEADER = 47
_EXCHANGE = re.compile(r"(?P<name>\w+)//?(?P<old>[^/]+)/(?P<new>[^/]*)")


@dataclass(frozen=True, slots=True)
class Command:
    """A program that is run: its words, and its input if known."""

    words: tuple[str, ...]
    stdin: str = ""
    directory: str = ""
    """Where it runs, if the script changed directory."""

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return self.words[0].rpartition("/")[2]


class Shell:
    """A shell that runs nothing and records every program that it would run."""

    def __init__(
        self,
        variables: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        answer: Callable[[Command], str | None] = lambda _: None,
    ) -> None:
        self.commands: list[Command] = []
        self._variables = {"IFS": " ", **(variables or {})}
        self._files = dict(files or {})
        self._answer = answer
        self._functions: dict[str, tuple[Node, ...]] = {}
        self._aliases: dict[str, str] = {}
        self._steps = 0
        self.read = 0
        """How much script has been read so far."""
        self._depth = 0
        self._directory = ""

    def run_words(self, words: Sequence[str]) -> None:
        """Run one command that is given as words, as a container does."""
        self._within_limits(lambda: self._execute(tuple(words), ""))

    def run_script(self, text: str) -> None:
        """Run a script."""
        self._within_limits(lambda: self._script(text, ""))

    def output_of(self, words: Sequence[str]) -> str:
        """The output of one command, as far as it is known."""
        shown: list[str] = []
        self._within_limits(lambda: shown.append(self._execute(tuple(words), "")))
        return "".join(shown)

    def file(self, path: str) -> str | None:
        """The content of a file, if known."""
        if path in {"-", "/dev/stdin"}:
            return None
        name = path.removeprefix("./")
        return self._files.get(path) or next(
            (text for known, text in self._files.items() if known == name or known.endswith(f"/{name}")), None
        )

    @property
    def files(self) -> dict[str, str]:
        """The files as the commands left them."""
        return self._files

    def _within_limits(self, work: Callable[[], object]) -> None:
        try:
            work()
        except (UnreadableError, RecursionError):
            self._depth = 0

    def _script(self, text: str, stdin: str) -> str:
        self.read += len(text)
        if self.read > _MOST_SCRIPT or self._depth >= _DEEPEST:
            raise UnreadableError
        self._depth += 1
        output = self._run_nodes(parse_script(text), stdin)
        self._depth -= 1
        return output

    def _run_nodes(self, nodes: Iterable[Node], stdin: str) -> str:
        output = "".join([self._node(node, stdin) for node in nodes])
        return output[:_MOST_TEXT]

    def _node(self, node: Node, stdin: str) -> str:
        match node:
            case Simple():
                return self._run_simple(node, stdin)
            case Pipeline():
                for stage in node.stages:
                    stdin = self._node(stage, stdin)
                return stdin
            case Group():
                return self._run_redirected(node.redirections, stdin, lambda given: self._run_nodes(node.body, given))
            case Loop():
                return self._run_redirected(node.redirections, stdin, lambda given: self._loop(node, given))
            case Function():
                self._functions[node.name] = node.body
        return ""

    def _loop(self, loop: Loop, stdin: str) -> str:
        read = _read_variables(loop.condition)
        rounds: list[tuple[tuple[str, str], ...]]
        if loop.name:
            rounds = [((loop.name, value),) for word in loop.words for value in self._fields(word)]
        elif read:
            rounds = [tuple(_read_assignments(read, line)) for line in stdin.splitlines()]
        else:
            self._run_nodes(loop.condition, stdin)
            rounds = [()]
        output = ""
        for values in rounds[:_MOST_ROUNDS]:
            self._variables.update(values)
            output += self._run_nodes(loop.body, "" if read else stdin)
        return output

    def _run_redirected(self, redirections: Sequence[Redirection], stdin: str, run: Callable[[str], str]) -> str:
        for one in redirections:
            match one.operator:
                case "<<" | "<<-":
                    stdin = self._text(one.target)
                case "<<<":
                    stdin = self._text(one.target) + "\n"
                case "<":
                    stdin = self.file(self._text(one.target)) or UNKNOWN
        output = run(stdin)
        for one in redirections:
            if one.operator == ">&" and self._text(one.target) not in {"1", "2", "-"} and output:
                # Further descriptors are opened manually, for example to a server.
                return self._note(Command(("nc",), output))
            if one.operator in {">", ">>", ">|", "&>", "&>>"} and (path := self._text(one.target)):
                if path.startswith("/dev/tcp/"):
                    return self._note(Command(("nc", path), output))
                if path.endswith("*"):
                    self._note(Command(("truncate", path)))
                kept = self._files.get(path, "") if one.operator.endswith(">>") else ""
                if path not in {"/dev/stdout", "/dev/stderr", "/proc/1/fd/1"}:
                    self._files[path] = (kept + output)[:_MOST_TEXT]
                    return ""
        return output

    def _run_simple(self, node: Simple, stdin: str) -> str:
        assigned: dict[str, str] = {}
        words = deque(node.words[:_MOST_WORDS])
        while words and (assignment := words[0].assignment) is not None:
            earlier = self._variables.get(assignment[0], "") if words[0].is_appended else ""
            assigned[assignment[0]] = (
                f"{earlier} {self._text(assignment[1])}".strip() if earlier else self._text(assignment[1])
            )
            words.popleft()
        expanded = tuple(value for word in words for value in self._fields(word))[:_MOST_WORDS]
        if not expanded:
            self._variables.update(assigned)
            return self._run_redirected(node.redirections, stdin, lambda _: "")
        before = self._variables
        self._variables = {**before, **assigned}
        output = self._run_redirected(node.redirections, stdin, lambda given: self._execute(expanded, given))
        for name in assigned:
            if name in before:
                self._variables[name] = before[name]
        return output

    def _text(self, word: Word) -> str:
        """A word's text where it is not split, as in an assignment."""
        return "".join(map(self._part, word.parts))[:_MOST_TEXT]

    def _fields(self, word: Word) -> list[str]:
        """The words that a word expands to: what is expanded outside quotes is split at white space."""
        fields: list[str] = []
        open_field: str | None = None
        for part in word.parts:
            value = self._part(part)
            is_list = part.kind == "variable" and part.text == "@"
            if part.kind == "text" or (part.is_quoted and not is_list):
                open_field = (open_field or "") + value
                continue
            pieces = value.split()
            if not pieces:
                fields += [open_field] if value and open_field is not None else []
                open_field = None if value else open_field
                continue
            if open_field is not None and not value[:1].isspace():
                pieces[0] = open_field + pieces[0]
            elif open_field is not None:
                fields.append(open_field)
            fields += pieces[:-1]
            open_field = pieces[-1]
            if value[-1:].isspace():
                fields.append(open_field)
                open_field = None
        if open_field is not None:
            fields.append(open_field[:_MOST_TEXT])
        if not any(part.is_quoted for part in word.parts):
            fields = [path for one in fields for path in self._matching_files(one)]
        if word.plain_text and len(fields) == 1:
            return _alternatives(fields[0])
        return fields

    def _matching_files(self, word: str) -> list[str]:
        """The known files that match a word with a wildcard; the word itself if there are none."""
        if "*" not in word or len(word) > _LONG_WORD or len(self._files) > _MOST_FILES:
            return [word]
        self._steps += 1
        return [path for path in self._files if fnmatchcase(path, word)][:_MOST_ROUNDS] or [word]

    def _part(self, part: Part) -> str:
        match part.kind:
            case "text":
                return part.text
            case "variable":
                if part.text in {"@", "*"}:
                    return " ".join(self._arguments())
                return self._variables.get(part.text, part.default or UNKNOWN)
            case "script":
                # Its programs are also recorded: they run before the word is complete.
                return self._script(part.text, "").rstrip("\n")
            case "file":
                path = f"/dev/fd/{len(self._files)}"
                self._files[path] = self._script(part.text, "")
                return path
            case "slice":
                return self._slice_of(part.text)
        return UNKNOWN

    def _slice_of(self, text: str) -> str:
        if (found := _SLICE.fullmatch(text)) and found["name"] in self._variables:
            start, value = int(found["start"]), self._variables[found["name"]]
            return value[start : start + int(found["length"])] if found["length"] else value[start:]
        if (found := _EXCHANGE.fullmatch(text)) and found["name"] in self._variables:
            return self._variables[found["name"]].replace(found["old"], found["new"])
        if (found := _RECASED.fullmatch(text)) and found["name"] in self._variables:
            value = self._variables[found["name"]]
            return value.lower() if found["case"][0] == "," else value.upper()
        if (found := _TRIMMED.fullmatch(text)) and found["name"] in self._variables:
            return _trim_value(self._variables[found["name"]], found["side"], found["pattern"])
        return UNKNOWN

    def _arguments(self) -> list[str]:
        numbers = range(1, 1 + sum(name.isdecimal() and name != "0" for name in self._variables))
        return [self._variables.get(str(number), "") for number in numbers]

    def _execute(self, words: tuple[str, ...], stdin: str) -> str:
        """Run one command; returns its output, as far as it is known."""
        self._steps += 1
        if self._steps > _MOST_COMMANDS or self._depth >= _DEEPEST:
            raise UnreadableError
        self._depth += 1
        output = self._execute_words(words, stdin)
        self._depth -= 1
        return output[:_MOST_TEXT]

    def _execute_words(self, words: tuple[str, ...], stdin: str) -> str:
        words = tuple(dropwhile(lambda word: not word, words[:_MOST_WORDS]))
        if not words:
            return ""
        program, rest = words[0].rpartition("/")[2], words[1:]
        if (alias := self._aliases.pop(words[0], None)) is not None:
            output = self._script(f"{alias} {' '.join(map(quote_word, rest))}", stdin)
            self._aliases[words[0]] = alias
            return output
        if program in self._functions:
            return self._call(self._functions[program], rest, stdin)
        if program in _SHELLS:
            return self._nested_shell(rest, stdin)
        if program in _BEFORE_A_COMMAND or _LOADER.fullmatch(program):
            return self._run_wrapped(program, rest, stdin)
        match program:
            case "eval":
                return self._script(" ".join(rest), stdin)
            case "." | "source":
                text = stdin if rest[:1] in {("-",), ("/dev/stdin",)} else self.file(rest[0]) if rest else None
                return self._script(text, stdin) if text else ""
            case "hostname":
                return self._variables.get("HOSTNAME", UNKNOWN)
            case "cd" | "pushd":
                self._directory = rest[-1] if rest else ""
                return ""
            case "set" if not rest:
                return self._environment()
            case "set":
                self._set_arguments(rest[rest.index("--") + 1 :] if "--" in rest else ())
                return ""
            case "at" | "batch" | "crontab":
                return self._script(stdin, "")
            case "trap":
                return self._script(rest[0], "") if len(rest) > 1 else ""
            case "export" | "local" | "declare" | "readonly" | "typeset":
                self._variables.update(_settings(rest))
                return "" if any("=" in word for word in rest) else self._environment()
            case "printenv":
                return "".join(f"{self._variables.get(name, '')}\n" for name in rest) if rest else self._environment()
            case "cp" | "mv" | "ln" | "install":
                self._copy_files(rest, stdin)
                return self._note(Command(words, stdin)) if program == "mv" else ""
            case "run-parts":
                folder = rest[-1].rstrip("/") if rest else ""
                return "".join(
                    self._script(self._files[path], "")
                    for path in self._matching_files(f"{folder}/*")
                    if path in self._files
                )
            case "make" | "gmake":
                text = self.file(_option_value(rest, "-f") or "Makefile") or stdin
                return self._script(
                    "\n".join(line.lstrip("\t@-") for line in text.splitlines() if line.startswith("\t")), ""
                )
            case "alias":
                self._aliases.update(_settings(rest))
                return ""
            case "read":
                names = [word for word in rest if not word.startswith("-")]
                self._variables.update(_read_assignments(names, stdin.partition("\n")[0]))
                return ""
            case "xargs":
                return self._run_for_each(rest, stdin)
            case "find":
                return self._run_find(rest)
            case "tee":
                for path in (word for word in rest if not word.startswith("-")):
                    self._files[path] = stdin
                return stdin
        if program in _SILENT:
            return ""
        if (text := text_output(program, rest, stdin, self.file)) is not None:
            return text + _hidden_marks(program, text, "".join((stdin, *rest)))
        if (script := self.file(words[0])) is not None and program not in {"kubectl", "curl"}:
            return self._script_file(script, rest, stdin)
        self._run_what_is_handed_on(program, rest)
        return self._note(Command(words, stdin))

    def _environment(self) -> str:
        """All variables, as `env` prints them."""
        return "".join(f"{name}={value}\n" for name, value in self._variables.items())

    def _copy_files(self, rest: Sequence[str], stdin: str) -> None:
        """Note that files also exist under other paths."""
        paths = [word for word in rest if not word.startswith("-")]
        for path in paths[:-1]:
            if path.rpartition("/")[2] == "kubectl":
                self._aliases[paths[-1]] = "kubectl"
            text = stdin if path == "/dev/stdin" else self.file(path)
            if text:
                name = path.rpartition("/")[2]
                self._files |= {paths[-1]: text, f"{paths[-1].rstrip('/')}/{name}": text}

    def _run_what_is_handed_on(self, program: str, rest: Sequence[str]) -> None:
        """Run the command that is passed to an unknown program: as its last words, or in an option."""
        if program in _SPEAKING or program == "kubectl":
            return
        for at, word in enumerate(rest[:_MOST_ROUNDS]):
            if word.rpartition("/")[2] == "kubectl" and len(rest) > at + 1:
                self._execute(tuple(rest[at:]), "")
                return
            found = _HANDED_ON.fullmatch(word) or (_EXECUTED_BY_SED.fullmatch(word) if program == "sed" else None)
            if found is not None:
                self._script(found["script"], "")

    def _note(self, command: Command) -> str:
        # Bytes that are not text stay in a pipe, but do not belong in evidence.
        words = tuple(word.encode(errors="replace").decode() for word in command.words)
        command = replace(command, words=words, directory=self._directory)
        self.commands.append(command)
        answer = self._answer(command)
        return UNKNOWN if answer is None else answer

    def _script_file(self, text: str, arguments: Sequence[str], stdin: str) -> str:
        """Run a file: by a shell unless its first line names another interpreter."""
        first = text.partition("\n")[0]
        interpreter = first[2:].split() if first.startswith("#!") else []
        name = next((word.rpartition("/")[2] for word in interpreter if not word.endswith("/env")), "sh")
        if name not in _SHELLS:
            return self._note(Command((name, "-c", text, *arguments), stdin))
        return self._call(parse_script(text), arguments, stdin)

    def _set_arguments(self, values: Sequence[str]) -> None:
        if values:
            for name in [name for name in self._variables if name.isdecimal()]:
                del self._variables[name]
            self._variables.update({str(number): value for number, value in enumerate(values, start=1)})

    def _call(self, body: Iterable[Node], arguments: Sequence[str], stdin: str) -> str:
        before = {name: value for name, value in self._variables.items() if name.isdecimal()}
        for name in before:
            del self._variables[name]
        self._variables.update({str(number): value for number, value in enumerate(arguments, start=1)})
        output = self._run_nodes(body, stdin)
        for name in [name for name in self._variables if name.isdecimal()]:
            del self._variables[name]
        self._variables.update(before)
        return output

    def _nested_shell(self, rest: Sequence[str], stdin: str) -> str:
        words = list(rest)
        for name in ("BASH_ENV", "ENV"):
            if (first := self.file(self._variables.get(name, "-"))) is not None:
                self._script(first, "")
        while words and words[0][:1] in {"-", "+"} and words[0] not in {"-", "--"}:
            option = words.pop(0)
            if option in {"-o", "+o", "--rcfile", "--init-file"}:
                words = words[1:]
            elif not option.startswith("--") and "c" in option and words:
                self._variables.update({str(number): value for number, value in enumerate(words[1:])})
                return self._script(words[0], stdin)
        words = words[1:] if words[:1] == ["--"] else words
        if words and words[0] not in {"-", "/dev/stdin"}:
            text = self.file(words[0])
            return self._script_file(text, words[1:], stdin) if text else UNKNOWN
        return self._script(stdin, "") if stdin else ""

    def _run_wrapped(self, program: str, rest: Sequence[str], stdin: str) -> str:
        """Run what a program such as `timeout` or `env` is told to run, after its own options and settings."""
        words = list(rest)
        if program == "command" and words[:1] in (["-v"], ["-V"]):
            return " ".join(words[1:])
        if program in _TAKES_A_SCRIPT:
            at = next((n for n, word in enumerate(words[:-1]) if re.fullmatch(r"-[a-z]{0,6}c|--command", word)), None)
            if at is not None:
                return self._script(words[at + 1], stdin)
            words = [word for word in words if word != "-"]
        if program == "parallel" and ":::" in words:
            end = words.index(":::")
            return "".join(self._execute((*words[:end], one), stdin) for one in words[end + 1 :][:_MOST_ROUNDS])
        if program == "tmux":
            words = words[1:] if words and _TMUX_COMMAND.fullmatch(words[0]) else words
        while words:
            word = words[0]
            if word == "--":
                words = words[1:]
                break
            if program == "env" and word.startswith(("-S", "--split-string")):
                text = word.removeprefix("-S") if word.startswith("-S") else word.partition("=")[2]
                return self._script(" ".join((text, *words[1:])), stdin)
            if word.startswith("-"):
                words = (
                    words[2:] if word in _TAKES_A_VALUE and program not in {"command", "exec", "time"} else words[1:]
                )
            elif program == "env" and "=" in word:
                self._variables.update(_settings([word]))
                words = words[1:]
            elif program in {"timeout", "chroot", "gosu", "su-exec", "chrt", "taskset", "flock"} and len(words) > 1:
                words = words[1:]
                break
            else:
                break
        if len(words) == 1 and " " in words[0]:
            return self._script(words[0], stdin)
        if not words:
            return self._environment() if program == "env" else ""
        return self._execute(tuple(words), stdin)

    def _run_for_each(self, rest: Sequence[str], stdin: str) -> str:
        """Run a command with the words of the input as its last arguments, or at the given placeholder."""
        words, mark, size = list(rest), "", 0
        while words and words[0].startswith("-"):
            option = words.pop(0)
            if option in {"-I", "-i", "--replace"} or option.startswith(("-I", "--replace=")):
                glued = option[2:] if option.startswith("-I") else option.partition("=")[2]
                mark = glued or (words.pop(0) if option == "-I" and words else "{}")
            elif option in {"-n", "-L", "--max-args"} and words:
                size = 1 if words.pop(0) == "1" else 0
            elif option in {"-P", "-d", "-s", "-E"} and words:
                words.pop(0)
            elif option in {"-n1", "-L1", "--max-args=1"}:
                size = 1
        command = tuple(words) or ("echo",)
        if mark:
            lines = [line.strip() for line in stdin.splitlines() if line.strip()][:_MOST_ROUNDS]
            return "".join(self._execute(tuple(w.replace(mark, line) for w in command), "") for line in lines)
        is_whole = "-0" in rest or "--null" in rest
        given = stdin.strip().split("\0") if is_whole else stdin.split()[:_MOST_WORDS]
        if size:
            return "".join(self._execute((*command, one), "") for one in given[:_MOST_ROUNDS])
        return self._execute((*command, *given), "")

    def _run_find(self, rest: Sequence[str]) -> str:
        """Run what `find` is told to run; the files that it finds are not known, unless it finds everything."""
        is_all = not any(word in _NARROWING for word in rest)
        folder = rest[0].rstrip("/") if rest and not rest[0].startswith("-") else ""
        place = f"{folder}/*" if is_all and folder else UNKNOWN
        for option in ("-exec", "-execdir", "-ok"):
            if option in rest:
                words = list(rest[list(rest).index(option) + 1 :])
                end = next((number for number, word in enumerate(words) if word in {";", "+"}), len(words))
                self._execute(tuple(place if word == "{}" else word for word in words[:end]), "")
        if "-delete" in rest:
            self._note(Command(("rm", "-rf", place)))
        return f"{place}\n"


MARKS = range(0xE000, 0xE100)
"""Characters that stand for a value that is searched for in the output of commands."""
_MARK = re.compile(f"[{chr(MARKS[0])}-{chr(MARKS[-1])}]")
_ENCODING = frozenset({"base64", "base32", "xxd", "rev", "tr", "gzip", "bzip2", "xz", "openssl", "fold"})


def _hidden_marks(program: str, output: str, given: str) -> str:
    """The marks that were encoded together with the rest, so that they show in the output."""
    if program not in _ENCODING or not _MARK.search(given) or _MARK.search(output):
        return ""
    return "".join(dict.fromkeys(_MARK.findall(given)))


_NARROWING = frozenset({
    "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-atime", "-ctime", "-mmin",
    "-amin", "-cmin", "-newer", "-newermt", "-size", "-empty", "-user", "-group", "-perm", "-links", "-inum",
    "-not", "!",
})  # fmt: skip
"""Tests of `find` that leave out part of a folder."""


def _option_value(words: Sequence[str], option: str) -> str:
    return next((words[at + 1] for at, word in enumerate(words[:-1]) if word == option), "")


def _trim_value(value: str, side: str, pattern: str) -> str:
    """A value without what a plain pattern strips from its beginning (`#`) or its end (`%`)."""
    if side[0] == "#":
        return value.rpartition(pattern[1:])[2] if pattern.startswith("*") else value.removeprefix(pattern)
    return value.partition(pattern[:-1])[0] if pattern.endswith("*") else value.removesuffix(pattern)


def quote_word(word: str) -> str:
    """A word in single quotes, so that a shell reads it unchanged."""
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _read_variables(condition: Sequence[Node]) -> list[str]:
    """The variables into which the condition of a loop reads a line; none if it reads none."""
    for node in condition:
        words = [word.plain_text for word in node.words] if isinstance(node, Simple) else []
        if "read" in words:
            return [word for word in words[words.index("read") + 1 :] if word and not word.startswith("-")] or ["REPLY"]
    return []


def _read_assignments(names: Sequence[str], line: str) -> list[tuple[str, str]]:
    """The variables that `read` sets from a line: the last one takes the rest."""
    pieces = line.split(maxsplit=max(len(names) - 1, 0)) if len(names) > 1 else [line.strip()]
    return [(name, pieces[number] if number < len(pieces) else "") for number, name in enumerate(names)]


def _settings(words: Iterable[str]) -> dict[str, str]:
    pairs = (word.partition("=") for word in words if "=" in word and not word.startswith("-"))
    return {name: value for name, _, value in pairs}


def _alternatives(text: str) -> list[str]:
    """The expansion of a word with alternatives in braces: `a{b,c}` gives `ab` and `ac`."""
    found = _BRACES.fullmatch(text) if len(text) < _LONG_WORD else None
    if found is None:
        return [text]
    start, middle, end = found.groups()
    return [f"{start}{one}{end}" for one in middle.split(",") if f"{start}{one}{end}"][:_MOST_ROUNDS]


_READS_FILES = frozenset({"grep", "egrep", "fgrep", "sed", "awk", "gawk", "cut", "head", "tail", "sort", "uniq", "tac",
                          "strings", "rev", "xxd", "nl", "more", "less"})  # fmt: skip


def text_output(program: str, rest: Sequence[str], stdin: str, file: Callable[[str], str | None]) -> str | None:
    """The output of a tool that only transforms text; None for any other program."""
    options = [word for word in rest if word.startswith("-") and len(word) > 1]
    plain = [word for word in rest if word not in options]
    if program in _READS_FILES and not stdin:
        stdin = "".join(text for path in plain if (text := file(path)) is not None)
    match program:
        case "echo":
            flags = [word for word in rest[:2] if re.fullmatch("-[neE]+", word)]
            text = " ".join(rest[len(flags) :])
            text = unescape_text(text) if any("e" in flag for flag in flags) else text
            return text if any("n" in flag for flag in flags) else f"{text}\n"
        case "printf":
            return _printf_text(plain)
        case "cat":
            given = [stdin if path == "-" else file(path) for path in plain] if plain else [stdin]
            return "".join(UNKNOWN if one is None else one for one in given)
        case "base64":
            given_text = stdin if not plain or plain == ["-"] else file(plain[0]) or ""
            if {"-d", "-D", "--decode", "-di"} & set(options):
                return _decode_base64(given_text)
            return b64encode(given_text.encode(errors="replace")).decode() + "\n"
        case "base32" if {"-d", "-D", "--decode", "-di"} & set(options):
            return _decoded_base32(stdin if not plain or plain == ["-"] else file(plain[0]) or "")
        case "bunzip2" | "bzcat" | "bzip2" | "unxz" | "xzcat" | "xz" | "unlzma" | "lzma":
            is_packing = program in {"bzip2", "xz", "lzma"} and not any("d" in option for option in options)
            return (
                UNKNOWN
                if is_packing
                else _decompress_text(
                    stdin, BZ2Decompressor if "bz" in program or "bun" in program else LZMADecompressor
                )
            )
        case "paste" if any(option.startswith("-s") for option in options):
            separator = (
                next((option[3:] for option in options if option.startswith("-sd")), "")
                or _option_value(rest, "-d")
                or "\t"
            )
            return separator.join(stdin.splitlines()) + "\n"
        case "ls":
            folders = [path.rstrip("/") for path in plain]
            return "".join(f"{path}\n" for path in folders if "*" in path) or "*\n"
        case "gunzip" | "zcat" | "gzip":
            return _unzip_text(stdin) if program != "gzip" or "-d" in options or "-dc" in options else UNKNOWN
        case "openssl" if plain[:1] in (["base64"], ["enc"]) and "-d" in options:
            return _decode_base64(stdin)
        case "which":
            return "".join(f"{word}\n" for word in plain)
        case "jq":
            return _assigned_json(plain, stdin)
        case "xxd":
            return _from_hex(stdin) if {"-r", "-rp", "-p", "-ps"} & set(options) else UNKNOWN
        case "rev":
            return "".join(f"{line[::-1]}\n" for line in stdin.splitlines())
        case "tr":
            return _translate_characters(plain, stdin, is_deletion="-d" in options)
        case "sed" if not any(_EXECUTED_BY_SED.fullmatch(word) for word in plain):
            return _substitute_text(
                plain if {"-e", "--expression"} & set(options) else plain[:1] or options[1:2], stdin
            )
        case "grep" | "egrep" | "fgrep":
            return _grep_lines(plain, options, stdin)
        case "awk" | "gawk" | "cut" if not any("system(" in word for word in rest):
            return _column(program, rest, stdin)
        case "head" | "tail" | "sort" | "uniq" | "tac" | "fold" | "strings" | "nl" | "more" | "less":
            return stdin
    return None


def _printf_text(words: Sequence[str]) -> str:
    if not words:
        return ""
    values = list(words[1:])
    form, output = unescape_text(words[0]), ""
    rounds = 0
    while not rounds or (values and _FORMAT.search(form) and rounds < _MOST_ROUNDS):
        output += _FORMAT.sub(lambda found: _formatted_value(found.group(), values), form)
        rounds += 1
    return output


def _formatted_value(form: str, values: list[str]) -> str:
    if form == "%%":
        return "%"
    value = values.pop(0) if values else ""
    return unescape_text(value) if form.endswith("b") else value


def _decoded_base32(text: str) -> str:
    bare = "".join(text.split()).rstrip("=").upper()
    try:
        return b32decode(bare + "=" * (-len(bare) % 8)).decode(errors="replace")
    except ValueError:
        return UNKNOWN


def _decompress_text(text: str, decompressor: Callable[[], Any]) -> str:
    try:
        content = decompressor().decompress(text.encode(errors="surrogateescape"), _MOST_TEXT)
    except (OSError, EOFError, ValueError, LZMAError):
        return UNKNOWN
    return str(content.decode(errors="replace"))


def _decode_base64(text: str) -> str:
    bare = "".join(text.split())
    try:
        return b64decode(bare + "=" * (-len(bare) % 4)).decode(errors="surrogateescape")
    except ValueError:
        return UNKNOWN


def _unzip_text(text: str) -> str:
    try:
        return (
            decompressobj(_ANY_HEADER)
            .decompress(text.encode(errors="surrogateescape"), _MOST_TEXT)
            .decode(errors="replace")
        )
    except (ZlibError, UnicodeEncodeError):
        return UNKNOWN


def _assigned_json(filters: Sequence[str], text: str) -> str:
    """The output of `jq` for a filter that sets fields; any other filter passes the text through."""
    data = held_data(text)
    if not isinstance(data, dict):
        return UNKNOWN
    data = deepcopy(data)
    for path, value in _ASSIGNED_FIELD.findall(filters[0][:_LONG_WORD] if filters else ""):
        place: Any = data
        *folders, last = path.strip(".").split(".")
        for folder in folders:
            place = place.setdefault(folder, {}) if isinstance(place, dict) else None
        if isinstance(place, dict):
            place[last] = int(value) if value.isdecimal() else value.strip('"')
    return canonical_json(data)


def _from_hex(text: str) -> str:
    try:
        return unhexlify("".join(text.split())).decode(errors="replace")
    except ValueError:
        return UNKNOWN


def _translate_characters(sets: Sequence[str], text: str, *, is_deletion: bool) -> str:
    groups = [_characters(one) for one in sets[:2]]
    if is_deletion and groups:
        return text.translate({ord(letter): None for letter in groups[0]})
    if len(groups) < 2 or not groups[1]:
        return text
    new = groups[1].ljust(len(groups[0]), groups[1][-1])
    return text.translate({ord(a): b for a, b in zip(groups[0], new, strict=False)})


def _characters(text: str) -> str:
    """The characters of a `tr` set, with ranges expanded."""
    text = unescape_text(text).replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z")[:200]
    found, at = "", 0
    while at < len(text):
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text) and 0 <= ord(text[at + 2]) - ord(text[at]) < 200:
            found += "".join(map(chr, range(ord(text[at]), ord(text[at + 2]) + 1)))
            at += 3
        else:
            found += text[at]
            at += 1
    return found


def _substitute_text(scripts: Sequence[str], text: str) -> str:
    """The output of `sed` for replacements of plain strings; unknown for anything else."""
    for script in scripts[:_MOST_ROUNDS]:
        for one in script.split(";"):
            found = _SUBSTITUTION.fullmatch(one.strip()) if len(one) < 1000 else None
            if found is not None and found["old"] in {"^", "$"}:
                first, last = (found["new"], "") if found["old"] == "^" else ("", found["new"])
                text = "".join(f"{first}{line}{last}\n" for line in text.splitlines())
                continue
            if found is None or re.search(r"[\[\]*.^$\\&]", found["old"] + found["new"]):
                return text if found is None else UNKNOWN
            text = text.replace(found["old"], found["new"])
    return text


def _grep_lines(words: Sequence[str], options: Sequence[str], text: str) -> str:
    """The lines that `grep` passes; a pattern beyond plain text passes all of them."""
    pattern = words[0] if words else ""
    if not pattern or UNKNOWN in text or re.search(r"[\[\]*.^$\\|+?(){}]", pattern):
        return text
    is_inverted = any("v" in option and not option.startswith("--") for option in options)
    lines = [line for line in text.splitlines() if (pattern in line) is not is_inverted]
    return "".join(f"{line}\n" for line in lines)


def _column(program: str, words: Sequence[str], text: str) -> str:
    """Columns of every line, as `awk '{print "x " $1}'` and `cut -d/ -f2` select them."""
    separator, number = None, 1
    made: list[re.Match[str]] = []
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in {"-F", "-d"}:
            separator = following
        elif word.startswith(("-F", "-d")):
            separator = word[2:]
        elif word == "-f":
            number = int(following) if following.isdecimal() and len(following) < 4 else 1
        elif word.startswith("-f") and word[2:].isdecimal():
            number = int(word[2:5])
        elif (found := _AWK_PRINT.search(word)) and '"' in found["what"]:
            made = list(_AWK_ITEM.finditer(found["what"]))
        elif found := re.search(r"print \$(\d{1,3})", word):
            number = int(found.group(1))
    separator = separator or ("\t" if program == "cut" else None)
    if made:
        return "".join(f"{''.join(_awk_item(one, line, separator) for one in made)}\n" for line in text.splitlines())
    columns = (line.split(separator) for line in text.splitlines())
    return "".join(f"{one[number - 1] if 0 < number <= len(one) else ''}\n" for one in columns)


def _awk_item(item: re.Match[str], line: str, separator: str | None) -> str:
    """The value of one item of an awk `print` for a line."""
    if item["column"] is None:
        return item["text"] if item["text"] is not None else " "
    columns, number = line.split(separator), int(item["column"])
    return line if not number else columns[number - 1] if number <= len(columns) else ""
