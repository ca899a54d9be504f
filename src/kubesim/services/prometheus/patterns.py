"""Regular expressions of label matchers, matched in time linear in the text whatever an agent writes.

Python's own engine goes back and forth, so that a few characters can keep it busy for ever; this one follows all ways
at once. It knows what RE2 and people who type matchers have in common.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kubesim.services.prometheus.errors import QueryError

_STATES = 4000
_DEPTH = 50
_REPEAT = 1000
Test = Callable[[str], bool]


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def _is_digit(char: str) -> bool:
    return char.isascii() and char.isdigit()


def _is_space(char: str) -> bool:
    return char in " \t\n\r\f"


_CLASSES: dict[str, Test] = {"w": _is_word, "d": _is_digit, "s": _is_space}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


@dataclass(slots=True)
class _State:
    """A step: take a character that passes the test, or go on to others without one."""

    test: Test | None = None
    after: list["_State"] = field(default_factory=list)


_Build = Callable[[_State], _State]
"""Makes the first state of a part, given the state that follows it."""


class Pattern:
    """A regular expression that must match the whole text."""

    def __init__(self, text: str) -> None:
        self._end = _State()
        self._start = _Reader(text).pattern()(self._end)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        current = _closure([self._start])
        for char in text:
            current = _closure([after for state in current if state.test and state.test(char) for after in state.after])
            if not current:
                return False
        return any(state is self._end for state in current)


@lru_cache(maxsize=256)
def pattern(text: str) -> Pattern:
    """The pattern; raise QueryError when it cannot be read."""
    return Pattern(text)


def _closure(states: list[_State]) -> list[_State]:
    """The states that wait for a character, or are the end, which can be reached without one."""
    seen: set[int] = set()
    waiting: list[_State] = []
    pending = list(states)
    while pending:
        state = pending.pop()
        if id(state) in seen:
            continue
        seen.add(id(state))
        if state.test is not None or not state.after:
            waiting.append(state)
        else:
            pending += state.after
    return waiting


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._states = 0
        self._depth = 0
        self._any: Test = lambda char: char != "\n"
        self._folds = False

    def pattern(self) -> _Build:
        if self._text.startswith("(?i)"):
            self._folds, self._at = True, 4
        elif self._text.startswith("(?s)"):
            self._any, self._at = lambda _: True, 4
        build = self._alternatives()
        if self._at < len(self._text):
            raise self._error("unexpected )")
        return build

    def _alternatives(self) -> _Build:
        self._depth += 1
        if self._depth > _DEPTH:
            raise self._error("expression nests too deeply")
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        self._depth -= 1
        if len(branches) == 1:
            return branches[0]
        return lambda after: self._state(after=[branch(after) for branch in branches])

    def _sequence(self) -> _Build:
        parts: list[_Build] = []
        while (char := self._peek()) and char not in "|)":
            parts.append(self._repeated(self._part()))

        def build(after: _State) -> _State:
            for part in reversed(parts):
                after = part(after)
            return after

        return build

    def _part(self) -> _Build:
        char = self._next()
        match char:
            case "(":
                if self._text.startswith("?:", self._at):
                    self._at += 2
                elif self._peek() == "?":
                    raise self._error("invalid or unsupported Perl syntax")
                build = self._alternatives()
                if self._peek() != ")":
                    raise self._error("missing closing )")
                self._at += 1
                return build
            case "[":
                return self._taking(self._set())
            case ".":
                return self._taking(self._any)
            case "^" | "$":  # matchers are anchored anyway
                return lambda after: after
            case "*" | "+" | "?":
                raise self._error(f"missing argument to repetition operator: `{char}`")
            case "\\":
                return self._taking(self._escape())
        return self._taking(self._equal(char))

    def _repeated(self, part: _Build) -> _Build:
        while True:
            match self._peek():
                case "*":
                    self._at += 1
                    part = self._times(part, 0, None)
                case "+":
                    self._at += 1
                    part = self._times(part, 1, None)
                case "?":
                    self._at += 1
                    part = self._times(part, 0, 1)
                case "{" if bounds := self._bounds():
                    part = self._times(part, *bounds)
                case _:
                    return part
            if self._peek() == "?":  # reluctant; the whole text must match, so it makes no difference
                self._at += 1

    def _bounds(self) -> tuple[int, int | None] | None:
        closing = self._text.find("}", self._at)
        least, comma, most = self._text[self._at + 1 : closing].partition(",")
        if closing < 0 or not _is_number(least) or (most and not _is_number(most)):
            return None
        bounds = int(least), (int(most) if most else None if comma else int(least))
        if bounds[0] > _REPEAT or (bounds[1] is not None and (bounds[1] > _REPEAT or bounds[1] < bounds[0])):
            raise self._error("invalid repeat count")
        self._at = closing + 1
        return bounds

    def _times(self, part: _Build, least: int, most: int | None) -> _Build:
        def build(after: _State) -> _State:
            if most is None:
                loop = self._state()
                loop.after += [part(loop), after]
                after = loop
            else:
                for _ in range(most - least):
                    after = self._state(after=[part(after), after])
            for _ in range(least):
                after = part(after)
            return after

        return build

    def _set(self) -> Test:
        negated = self._peek() == "^"
        if negated:
            self._at += 1
        tests: list[Test] = []
        first = True
        while (char := self._peek()) != "]" or first:
            first = False
            if not char:
                raise self._error("missing closing ]")
            self._at += 1
            if char == "[" and self._peek() == ":":
                raise self._error("invalid character class range")
            if char == "\\":
                tests.append(self._escape())
            elif self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                tests.append(self._between(char, self._next()))
            else:
                tests.append(self._equal(char))
        self._at += 1
        return lambda char: any(test(char) for test in tests) is not negated

    def _escape(self) -> Test:
        char = self._next()
        if (test := _CLASSES.get(char.lower())) is not None:
            return test if char.islower() else lambda other: not test(other)
        if char.isascii() and char.isalnum() and char not in _ESCAPES:
            raise self._error(f"invalid escape sequence: `\\{char}`")
        return self._equal(_ESCAPES.get(char, char))

    def _equal(self, char: str) -> Test:
        if self._folds:
            return lambda other: other.casefold() == char.casefold()
        return lambda other: other == char

    def _between(self, low: str, high: str) -> Test:
        if low > high:
            raise self._error(f"invalid character class range: `{low}-{high}`")
        return lambda char: low <= char <= high

    def _taking(self, test: Test) -> _Build:
        return lambda after: self._state(test, [after])

    def _state(self, test: Test | None = None, after: Sequence[_State] = ()) -> _State:
        self._states += 1
        if self._states > _STATES:
            raise self._error("expression too large")
        return _State(test, list(after))

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise self._error("trailing backslash at end of expression")
        self._at += 1
        return char

    def _error(self, why: str) -> QueryError:
        return QueryError(f"error parsing regexp: {why}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6
