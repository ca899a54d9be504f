"""What the API server accepts as names, label keys and values, ports and addresses, and how it refuses others.

Each `..._problems` function returns every complaint about a value in the server's order; none if the value is valid.
"""

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Protocol

Problems = list[str]

_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = rf"({_QUALIFIED})?"
_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_1035_LABEL = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_WILDCARD = rf"\*\.{_DNS_SUBDOMAIN}"
_ENVIRONMENT_NAME = r"[-._a-zA-Z][-._a-zA-Z0-9]*"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_HEADER = r"[-A-Za-z0-9]+"
_PERCENT = r"[0-9]+%"


class NamedType(Protocol):
    """Anything that says which type it is; every row of the catalogue does."""

    @property
    def noun(self) -> str:
        """The type's key in the store."""
        ...


def pattern_words(what: str, pattern: str, *examples: str) -> str:
    """The server's message for a value that does not match the pattern it quotes."""
    if not examples:
        return f"{what} (regex used for validation is '{pattern}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{what} (e.g. {shown}regex used for validation is '{pattern}')"


def length_words(most: int) -> str:
    """The server's message for a text that is too long."""
    return f"must be no more than {most} characters"


def range_words(least: int, most: int) -> str:
    """The server's message for a number out of range."""
    return f"must be between {least} and {most}, inclusive"


_ALPHANUMERIC_ENDS = "and must start and end with an alphanumeric character"
_QUALIFIED_WORDS = pattern_words(
    f"must consist of alphanumeric characters, '-', '_' or '.', {_ALPHANUMERIC_ENDS}",
    _QUALIFIED, "MyName", "my.name", "123-abc",
)  # fmt: skip
_LABEL_VALUE_WORDS = pattern_words(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    + _ALPHANUMERIC_ENDS,
    _LABEL_VALUE, "MyValue", "my_value", "12345",
)  # fmt: skip
DNS_LABEL_WORDS = pattern_words(
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ALPHANUMERIC_ENDS}",
    _DNS_LABEL, "my-name", "123-abc",
)  # fmt: skip
_SUBDOMAIN_WORDS = pattern_words(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    + _ALPHANUMERIC_ENDS,
    _DNS_SUBDOMAIN, "example.com",
)  # fmt: skip
_DNS_1035_WORDS = pattern_words(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    _DNS_1035_LABEL, "my-name", "abc-123",
)  # fmt: skip
_WILDCARD_WORDS = pattern_words(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    _WILDCARD, "*.example.com",
)  # fmt: skip
_ENVIRONMENT_NAME_WORDS = pattern_words(
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit",
    _ENVIRONMENT_NAME, "my.env-name", "MY_ENV.NAME", "MyEnvName1",
)  # fmt: skip
_CONFIG_KEY_WORDS = pattern_words(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _CONFIG_KEY, "key.name", "KEY_NAME", "key-name",
)  # fmt: skip
_HEADER_WORDS = pattern_words(
    "a valid HTTP header must consist of alphanumeric characters or '-'", _HEADER, "X-Header-Name"
)
_PERCENT_WORDS = pattern_words(
    "a valid percent string must be a numeric string followed by an ending '%'", _PERCENT, "1%", "93%"
)
EMPTY_WORDS = "must be non-empty"
_LONGEST_QUALIFIED = 253 + 1 + 63


def _remember_problems(find: Callable[..., Problems]) -> Callable[..., Problems]:
    """Cache the results of a check for short texts: the same names come with every object."""
    known = lru_cache(8192)(find)

    @wraps(find)
    def check_remembered(value: str, *rule: Any) -> Problems:
        return [*(known if len(value) <= _LONGEST_QUALIFIED else find)(value, *rule)]

    return check_remembered


@_remember_problems
def _pattern_problems(value: str, pattern: str, words: str, most: int = 0) -> Problems:
    problems = [length_words(most)] if most and len(value.encode()) > most else []
    return problems if re.fullmatch(pattern, value) else [*problems, words]


def dns_label_problems(value: str) -> Problems:
    """As the name of a container, a port or a namespace."""
    return _pattern_problems(value, _DNS_LABEL, DNS_LABEL_WORDS, 63)


def dns_1035_label_problems(value: str) -> Problems:
    """As the name of a service."""
    return _pattern_problems(value, _DNS_1035_LABEL, _DNS_1035_WORDS, 63)


def dns_subdomain_problems(value: str) -> Problems:
    """As the name of most objects."""
    return _pattern_problems(value, _DNS_SUBDOMAIN, _SUBDOMAIN_WORDS, 253)


def wildcard_subdomain_problems(value: str) -> Problems:
    """As a host with a wildcard."""
    return _pattern_problems(value, _WILDCARD, _WILDCARD_WORDS, 253)


def label_value_problems(value: str) -> Problems:
    """As the value of a label."""
    return _pattern_problems(value, _LABEL_VALUE, _LABEL_VALUE_WORDS, 63)


def header_problems(value: str) -> Problems:
    """As the name of an HTTP header."""
    return _pattern_problems(value, _HEADER, _HEADER_WORDS)


def percent_problems(value: str) -> Problems:
    """As a percentage."""
    return _pattern_problems(value, _PERCENT, _PERCENT_WORDS)


def environment_name_problems(value: str) -> Problems:
    """As the name of an environment variable."""
    return [*_pattern_problems(value, _ENVIRONMENT_NAME, _ENVIRONMENT_NAME_WORDS), *_parent_problems(value)]


def config_key_problems(value: str) -> Problems:
    """As a key of a config map or a secret."""
    return [*_pattern_problems(value, _CONFIG_KEY, _CONFIG_KEY_WORDS, 253), *_parent_problems(value)]


@_remember_problems
def qualified_name_problems(value: str) -> Problems:
    """As the key of a label or annotation, a finalizer, a resource: a name with an optional domain before it."""
    parts = value.split("/")
    if len(parts) > 2:
        tail = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a qualified name {_QUALIFIED_WORDS}{tail}"]
    problems = []
    if len(parts) == 2:
        found = dns_subdomain_problems(parts[0]) if parts[0] else [EMPTY_WORDS]
        problems = [f"prefix part {text}" for text in found]
    name = parts[-1]
    if not name:
        problems.append(f"name part {EMPTY_WORDS}")
    elif len(name.encode()) > 63:
        problems.append(f"name part {length_words(63)}")
    if not re.fullmatch(_QUALIFIED, name):
        problems.append(f"name part {_QUALIFIED_WORDS}")
    return problems


def port_problems(number: int) -> Problems:
    """As the number of a port."""
    return [] if 1 <= number <= 65535 else [range_words(1, 65535)]


def port_name_problems(name: str) -> Problems:
    """As the name of a container's port."""
    problems = [length_words(15)] if len(name.encode()) > 15 else []
    if not re.fullmatch(r"[-a-z0-9]+", name):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search(r"[a-z]", name):
        problems.append("must contain at least one letter or number (a-z, 0-9)")
    if "--" in name:
        problems.append("must not contain consecutive hyphens")
    if name and (name.startswith("-") or name.endswith("-")):
        problems.append("must not begin or end with a hyphen")
    return problems


def id_problems(number: int) -> Problems:
    """As the id of a user or group."""
    return [] if 0 <= number <= 2**31 - 1 else [range_words(0, 2**31 - 1)]


def address_problems(text: str) -> Problems:
    """As an IP address."""
    return [] if address(text) else ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]


def address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """`text` as an IP address; None if it is invalid."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def path_segment_problems(name: str) -> Problems:
    """As one segment of a request path, the minimum that any name must meet."""
    if name in {".", ".."}:
        return [f"may not be '{name}'"]
    return path_prefix_problems(name)


def _parent_problems(value: str) -> Problems:
    """A key may become a file name, so none may lead out of its directory."""
    if value in {".", ".."}:
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


_NAME_RULES: dict[str, Callable[[str], Problems]] = {
    "namespace": dns_label_problems,
    "service": dns_1035_label_problems,
    "role": path_segment_problems,
    "rolebinding": path_segment_problems,
    "clusterrole": path_segment_problems,
    "clusterrolebinding": path_segment_problems,
}


def name_problems(row: NamedType, name: str, *, prefix: bool = False) -> Problems:
    """As the name of an object of the type, or as the prefix of a generated one, which may end in a dash."""
    rule = _NAME_RULES.get(row.noun, dns_subdomain_problems)
    if prefix and rule is not path_segment_problems and len(name) > 1 and name.endswith("-"):
        name = f"{name[:-2]}a"  # as the server does it: the letter before the dash goes unchecked
    return path_prefix_problems(name) if prefix and rule is path_segment_problems else rule(name)


def path_prefix_problems(name: str) -> Problems:
    """As the prefix of one segment of a request path."""
    return [f"may not contain '{mark}'" for mark in ("/", "%") if mark in name]


def is_dns_label(name: str) -> bool:
    """Whether `name` can be the name of a container or a namespace."""
    return not dns_label_problems(name)


def name_problem(row: NamedType, name: str) -> str | None:
    """The first problem of an object's name."""
    return next(iter(name_problems(row, name)), None)


def label_key_problem(key: str) -> str | None:
    """The first problem of a label's key."""
    return next(iter(qualified_name_problems(key)), None)


def label_value_problem(value: str) -> str | None:
    """The first problem of a label's value."""
    return next(iter(label_value_problems(value)), None)
