"""What the API server accepts as names, label keys and label values, and the words it refuses others with."""

import re

from sirocco.oasis.resource import ResourceType

_LABEL_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = rf"({_LABEL_NAME})?"
_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_1035_LABEL = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_RBAC = frozenset({"role", "rolebinding", "clusterrole", "clusterrolebinding"})

_NAME_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_LABEL_NAME}')"
)
_VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    f"regex used for validation is '{_LABEL_VALUE}')"
)
LABEL_WORDS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_DNS_LABEL}')"
)
_SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_DNS_SUBDOMAIN}')"
)
_DNS_1035_WORDS = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_DNS_1035_LABEL}')"
)


def is_dns_label(name: str) -> bool:
    """Whether `name` can be a container's or a namespace's."""
    return len(name) <= 63 and re.fullmatch(_DNS_LABEL, name) is not None


def name_problem(row: ResourceType, name: str) -> str | None:
    """Why `name` cannot be the name of an object of the type, in the server's words; None when it can."""
    if row.noun in _RBAC:
        bad = name in {".", ".."} or "/" in name or "%" in name
        return "may not contain '/'" if bad else None
    if row.noun in {"namespace", "service"}:
        pattern, length, words = (
            (_DNS_LABEL, 63, LABEL_WORDS) if row.noun == "namespace" else (_DNS_1035_LABEL, 63, _DNS_1035_WORDS)
        )
    else:
        pattern, length, words = _DNS_SUBDOMAIN, 253, _SUBDOMAIN_WORDS
    if len(name) > length:
        return f"must be no more than {length} characters"
    return None if re.fullmatch(pattern, name) else words


def label_key_problem(key: str) -> str | None:
    """Why `key` cannot be the key of a label or annotation; None when it can."""
    prefix, slash, name = key.rpartition("/")
    if slash and not re.fullmatch(_DNS_SUBDOMAIN, prefix):
        return f"prefix part {_SUBDOMAIN_WORDS}"
    if len(name) > 63:
        return "name part must be no more than 63 characters"
    return None if re.fullmatch(_LABEL_NAME, name) else f"name part {_NAME_WORDS}"


def label_value_problem(value: str) -> str | None:
    """Why `value` cannot be the value of a label; None when it can."""
    if len(value) > 63:
        return "must be no more than 63 characters"
    return None if re.fullmatch(_LABEL_VALUE, value) else _VALUE_WORDS
