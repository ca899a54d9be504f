"""The syntax of POSIX shell scripts as far as commands can hide in it: words with their quoting, pipelines, compounds.

The text is an agent's, so nothing in it may raise or take long: what nests too deep or is too long is left unread, and
invalid syntax is read as far as it makes sense.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

LONGEST = 400_000
_DEEPEST = 40
_OPERATOR = re.compile(r"&&|\|\||;;|\|&|&>>|&>|<<<|<<-|<<|>>|>\||>&|<&|<>|[><|&;()\n]")
_REDIRECTIONS = frozenset({"&>>", "&>", "<<<", "<<-", "<<", ">>", ">|", ">&", "<&", "<>", ">", "<"})
_ENDS = frozenset({";", "&", "\n", "&&", "||", ";;"})
_PLAIN = re.compile(r"[^\s'\"\\$`|&;()<>#]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_CLOSING = frozenset({"then", "else", "elif", "fi", "do", "done", "esac", "}"})
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


class UnreadableError(ValueError):
    """A script that is too long or too deeply nested."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word: `text`, the name of a `variable`, or a `script` whose output, or a `file` of it, is meant."""

    kind: str
    text: str
    is_quoted: bool = False
    default: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """One word before its expansion."""

    parts: tuple[Part, ...]

    @property
    def plain_text(self) -> str:
        """The text of a word without expansions and quotes; empty for any other."""
        return "".join(part.text for part in self.parts) if all(_is_plain(part) for part in self.parts) else ""

    @property
    def assignment(self) -> tuple[str, "Word"] | None:
        """Name and value if the word is an assignment."""
        first = self.parts[0] if self.parts else None
        found = _ASSIGNMENT.match(first.text) if first is not None and _is_plain(first) else None
        if first is None or found is None:
            return None
        rest = replace(first, text=first.text[found.end() :])
        return found.group().rstrip("+="), Word((rest, *self.parts[1:]))

    @property
    def is_appended(self) -> bool:
        """Whether the word is an assignment that appends to the present value."""
        found = _ASSIGNMENT.match(self.parts[0].text) if self.parts else None
        return found is not None and found.group().endswith("+=")


def _is_plain(part: Part) -> bool:
    return part.kind == "text" and not part.is_quoted


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where a command reads from or writes to; a here-document includes its text."""

    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """A command of words."""

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands that each read the output of the one before."""

    stages: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Commands in braces, parentheses or branches; every branch counts as taken."""

    body: tuple["Node", ...]
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over words (`name` is its variable), or while a condition holds."""

    name: str
    words: tuple[Word, ...]
    condition: tuple["Node", ...]
    body: tuple["Node", ...]
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """The definition of a function, which runs nothing yet."""

    name: str
    body: tuple["Node", ...]


Node = Simple | Pipeline | Group | Loop | Function


def parse_script(script: str) -> tuple[Node, ...]:
    """The commands of a script; raise UnreadableError for one that is too long or nests too deep."""
    if len(script) > LONGEST:
        raise UnreadableError
    parser = _Parser(_Lexer(script).tokens())
    nodes: list[Node] = []
    while not parser.is_at_end:
        nodes += parser.commands(0)
        parser.skip()
    return tuple(nodes)


def unescape_text(text: str) -> str:
    """The text with the escapes of `echo -e` and `$'...'` resolved."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    hexadecimal, unicode, octal, letter = found.groups()
    if hexadecimal or unicode:
        return chr(int(hexadecimal or unicode, 16))
    return chr(int(octal, 8)) if octal else _ESCAPED.get(letter, letter if letter in "\\'\"?" else f"\\{letter}")


@dataclass
class _Token:
    """A word or an operator; a here-document's text is filled in when its lines are reached."""

    operator: str = ""
    word: Word = field(default_factory=lambda: Word(()))


class _Lexer:
    """Splits a script into tokens in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._pending: list[tuple[_Token, bool, bool]] = []

    def tokens(self) -> list[_Token]:
        """The words and operators of the script."""
        found: list[_Token] = []
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter != "\n" and letter.isspace():
                self._at += 1
            elif self._text.startswith("\\\n", self._at):
                self._at += 2
            elif letter == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            elif self._text.startswith("<(", self._at):
                end = _closed(self._text, self._at + 1, "(", ")")
                found.append(_Token(word=Word((Part("file", self._text[self._at + 2 : end - 1], is_quoted=True),))))
                self._at = end
            elif operator := _OPERATOR.match(self._text, self._at):
                self._at = operator.end()
                found.append(_Token(operator.group()))
                if operator.group() == "\n":
                    self._fill_here_documents()
            else:
                self._append_word(found)
        return found

    def _append_word(self, found: list[_Token]) -> None:
        start = self._at
        token = _Token(word=self._word())
        self._at = max(self._at, start + 1)
        opener = found[-1].operator if found else ""
        if opener in {"<<", "<<-"}:
            is_literal = any(part.is_quoted for part in token.word.parts)
            self._pending.append((token, opener == "<<-", is_literal))
        # The number of a file descriptor is not an argument.
        rest = self._text[self._at : self._at + 1]
        if not (token.word.plain_text.isdecimal() and rest and rest in "<>"):
            found.append(token)

    def _fill_here_documents(self) -> None:
        for token, strips, is_literal in self._pending:
            delimiter = "".join(part.text for part in token.word.parts)
            lines: list[str] = []
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = end + 1
                line = line.lstrip("\t") if strips else line
                if line.rstrip("\r") == delimiter:
                    break
                lines.append(line)
            text = "".join(f"{line}\n" for line in lines)
            token.word = Word((Part("text", text, is_quoted=True),)) if is_literal else _quoted_word(text)
        self._pending = []

    def _word(self) -> Word:
        parts: list[Part] = []
        text = self._text
        while self._at < len(text):
            letter = text[self._at]
            if found := _PLAIN.match(text, self._at):
                parts.append(Part("text", found.group()))
                self._at = found.end()
            elif letter == "'":
                parts.append(Part("text", self._take_until("'"), is_quoted=True))
            elif letter == '"':
                self._at += 1
                parts += self._double_quoted('"')
            elif letter == "\\":
                if text[self._at + 1 : self._at + 2] != "\n":
                    parts.append(Part("text", text[self._at + 1 : self._at + 2], is_quoted=True))
                self._at += 2
            elif letter == "$" or letter == "`":
                parts.append(self._expansion(is_quoted=False))
            elif letter == "#":
                parts.append(Part("text", "#"))
                self._at += 1
            else:
                break
        return Word(tuple(parts))

    def _take_until(self, quote: str) -> str:
        """The text from the opening quote up to the closing one."""
        start = self._at + 1
        end = self._text.find(quote, start)
        end = len(self._text) if end < 0 else end
        self._at = end + 1
        return self._text[start:end]

    def _double_quoted(self, quote: str) -> list[Part]:
        parts: list[Part] = [Part("text", "", is_quoted=True)]
        start = self._at
        text = self._text

        def close(end: int) -> None:
            if end > start:
                parts.append(Part("text", text[start:end], is_quoted=True))

        while self._at < len(text):
            letter = text[self._at]
            if letter == quote:
                break
            if letter == "\\" and text[self._at + 1 : self._at + 2] in {"$", "`", '"', "\\", "\n"}:
                close(self._at)
                escaped = text[self._at + 1]
                if escaped != "\n":
                    parts.append(Part("text", escaped, is_quoted=True))
                self._at += 2
                start = self._at
            elif letter in "$`":
                close(self._at)
                parts.append(self._expansion(is_quoted=True))
                start = self._at
            else:
                self._at += 1
        close(self._at)
        self._at += 1
        return parts

    def _expansion(self, *, is_quoted: bool) -> Part:
        text, start = self._text, self._at
        if text[start] == "`":
            return Part("script", self._take_until("`"), is_quoted)
        following = text[start + 1 : start + 2]
        if text.startswith("$((", start):
            self._at = _closed(text, start + 1, "(", ")")
            return Part("unknown", "", is_quoted)
        if following == "(":
            self._at = _closed(text, start + 1, "(", ")")
            return Part("script", text[start + 2 : self._at - 1], is_quoted)
        if following == "{":
            self._at = _closed(text, start + 1, "{", "}")
            return _brace_part(text[start + 2 : self._at - 1], is_quoted=is_quoted)
        if following == "'" and not is_quoted:
            self._at += 1
            return Part("text", unescape_text(self._take_until("'")), is_quoted=True)
        if found := _NAME.match(text, start + 1):
            self._at = found.end()
            return Part("variable", found.group(), is_quoted)
        self._at += 1
        return Part("text", "$", is_quoted)


def _quoted_word(text: str) -> Word:
    """A here-document in which variables and scripts are expanded."""
    if "$" not in text and "`" not in text and "\\" not in text:
        return Word((Part("text", text, is_quoted=True),))
    return Word(tuple(_Lexer(text)._double_quoted("")))


def _brace_part(text: str, *, is_quoted: bool) -> Part:
    found = _NAME.match(text)
    if found is None:
        return Part("unknown", "", is_quoted)
    rest = text[found.end() :]
    if not rest:
        return Part("variable", found.group(), is_quoted)
    if rest[0] == ":" and rest[1:2] in {"-", "="}:
        return Part("variable", found.group(), is_quoted, rest[2:])
    if rest[0] in "-=":
        return Part("variable", found.group(), is_quoted, rest[1:])
    return Part("slice", f"{found.group()}{rest}", is_quoted)


def _closed(text: str, start: int, opening: str, closing: str) -> int:
    """The position after the bracket that closes the one at `start`, ignoring quotes; the end if none does."""
    depth, at = 0, start
    while at < len(text):
        letter = text[at]
        if letter == "\\":
            at += 1
        elif letter == "'":
            end = text.find("'", at + 1)
            at = len(text) if end < 0 else end
        elif letter == opening:
            depth += 1
        elif letter == closing:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return len(text) + 1


class _Parser:
    """Combines tokens into commands; a misplaced word is skipped."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        """Whether everything has been read."""
        return self._at >= len(self._tokens)

    def skip(self) -> None:
        """Skip one token."""
        self._at += 1

    def _operator(self) -> str:
        return "" if self.is_at_end else self._tokens[self._at].operator

    def _keyword(self) -> str:
        return "" if self.is_at_end or self._operator() else self._tokens[self._at].word.plain_text

    def commands(self, depth: int, *, until: frozenset[str] = frozenset()) -> tuple[Node, ...]:
        """The commands up to one of the closing words, a parenthesis, or the end."""
        if depth > _DEEPEST:
            raise UnreadableError
        found: list[Node] = []
        while not self.is_at_end:
            operator = self._operator()
            if operator in _ENDS:
                self.skip()
            elif operator == ")" or (until and self._keyword() in until):
                break
            elif not until and self._keyword() in _CLOSING:
                self.skip()
            elif (node := self._pipeline(depth)) is not None:
                found.append(node)
            else:
                self.skip()
        return tuple(found)

    def _pipeline(self, depth: int) -> Node | None:
        stages: list[Node] = []
        while (node := self._command(depth)) is not None:
            stages.append(node)
            if self._operator() not in {"|", "|&"}:
                break
            self.skip()
            while self._operator() == "\n":
                self.skip()
        if len(stages) == 1:
            return stages[0]
        return Pipeline(tuple(stages)) if stages else None

    def _command(self, depth: int) -> Node | None:
        while self._keyword() in {"!", "time"}:
            self.skip()
        if self._operator() == "(":
            self.skip()
            return self._closed_group(depth, frozenset())
        match self._keyword():
            case "{":
                self.skip()
                return self._closed_group(depth, frozenset({"}"}))
            case "if":
                self.skip()
                return self._branches(depth)
            case "for" | "select":
                return self._parse_for(depth)
            case "while" | "until":
                self.skip()
                condition = self.commands(depth + 1, until=frozenset({"do"}))
                return self._loop(depth, "", (), condition)
            case "case":
                return self._case(depth)
            case "function":
                self.skip()
                return self._function(depth)
        if self._is_function():
            return self._function(depth)
        return self._parse_simple()

    def _closed_group(self, depth: int, until: frozenset[str]) -> Group:
        body = self.commands(depth + 1, until=until)
        self.skip()
        return Group(body, self._redirections())

    def _branches(self, depth: int) -> Group:
        ends = frozenset({"then", "elif", "else", "fi"})
        body: list[Node] = []
        while not self.is_at_end:
            body += self.commands(depth + 1, until=ends)
            word = self._keyword()
            self.skip()
            if word not in ends - {"fi"}:
                break
        return Group(tuple(body), self._redirections())

    def _parse_for(self, depth: int) -> Node:
        self.skip()
        name = self._keyword()
        self.skip()
        words: list[Word] = []
        if self._keyword() == "in":
            self.skip()
            while not self.is_at_end and not self._operator():
                words.append(self._tokens[self._at].word)
                self.skip()
        while not self.is_at_end and self._keyword() != "do":
            self.skip()
        return self._loop(depth, name, tuple(words), ())

    def _loop(self, depth: int, name: str, words: tuple[Word, ...], condition: tuple[Node, ...]) -> Loop:
        self.skip()
        body = self.commands(depth + 1, until=frozenset({"done"}))
        self.skip()
        return Loop(name, words, condition, body, self._redirections())

    def _case(self, depth: int) -> Group:
        while not self.is_at_end and self._keyword() != "in":
            self.skip()
        self.skip()
        body: list[Node] = []
        while not self.is_at_end and self._keyword() != "esac":
            while not self.is_at_end and self._operator() != ")":
                self.skip()
            self.skip()
            body += self._case_branch(depth)
        self.skip()
        return Group(tuple(body), self._redirections())

    def _case_branch(self, depth: int) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self.is_at_end and self._operator() != ";;" and self._keyword() != "esac":
            node = None if self._operator() in _ENDS else self._pipeline(depth + 1)
            if node is None:
                self.skip()
            else:
                found.append(node)
        if self._operator() == ";;":
            self.skip()
            while self._operator() == "\n":
                self.skip()
        return tuple(found)

    def _is_function(self) -> bool:
        following = [token.operator for token in self._tokens[self._at + 1 : self._at + 3]]
        return bool(self._keyword()) and following == ["(", ")"]

    def _function(self, depth: int) -> Function:
        name = self._keyword()
        self.skip()
        while self._operator() in {"(", ")", "\n"}:
            self.skip()
        node = self._command(depth + 1) if depth < _DEEPEST else None
        return Function(name, node.body if isinstance(node, Group) else () if node is None else (node,))

    def _parse_simple(self) -> Simple | None:
        words: list[Word] = []
        redirections: list[Redirection] = []
        while not self.is_at_end:
            if self._operator() in _REDIRECTIONS:
                redirections += self._redirections()
            elif self._operator():
                break
            else:
                words.append(self._tokens[self._at].word)
                self.skip()
        return Simple(tuple(words), tuple(redirections)) if words or redirections else None

    def _redirections(self) -> tuple[Redirection, ...]:
        found: list[Redirection] = []
        while (operator := self._operator()) in _REDIRECTIONS:
            self.skip()
            if not self.is_at_end and not self._operator():
                found.append(Redirection(operator, self._tokens[self._at].word))
                self.skip()
        return tuple(found)
