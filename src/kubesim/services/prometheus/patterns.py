"""Regular expressions of label matchers, matched by RE2 as in Prometheus: in linear time, whatever a client writes.

Python's own engine backtracks, so that `(a+)+b` keeps it busy for seconds on 24 characters.
"""

from functools import lru_cache

import re2

from kubesim.services.prometheus.errors import QueryError

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_GO_WORDS = {
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
}
"""The messages of Go's implementation, which Prometheus uses, where the library's differ."""


class Pattern:
    """A regular expression that must match the whole text."""

    def __init__(self, text: str) -> None:
        try:
            self._compiled = re2.compile(_bytes(text), _OPTIONS)
        except re2.error as error:
            raise QueryError(f"error parsing regexp: {_in_go_words(error)}") from error

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        return self._compiled.fullmatch(_bytes(text)) is not None


@lru_cache(maxsize=256)
def pattern(text: str) -> Pattern:
    """The pattern; raise QueryError when it cannot be read."""
    return Pattern(text)


def _bytes(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which JSON can hold, is replaced as in Go."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _in_go_words(error: Exception) -> str:
    """The library's complaint in Go's words, with the part that it is about."""
    (complaint,) = error.args
    text = complaint.decode(errors="replace") if isinstance(complaint, bytes) else str(complaint)
    words, colon, part = text.partition(": ")
    return _GO_WORDS.get(words, words) + (f": `{part}`" if colon else "")
