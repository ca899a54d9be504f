"""What the schema of a custom resource refuses in a value, in the words of the library that checks it."""

import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from kubesim.kinds.validation.fields import invalid, not_supported, required
from kubesim.status import Cause, Json

_DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_ROOT = "<nil>"
_UUID = r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"


def schema_causes(schema: Json, value: Any, path: str = "") -> list[Cause]:
    """All that is wrong with a value; an item of a list is reported under the path of the list."""
    if value is None:
        return [*_type_causes(schema, value, path), *_enum_causes(schema, value, path)]
    causes = [*_type_causes(schema, value, path), *_junction_causes(schema, value, path)]
    if isinstance(value, str):
        causes += _string_causes(schema, value, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        causes += _number_causes(schema, value, path)
    elif isinstance(value, list):
        causes += _list_causes(schema, value, path)
    causes += _enum_causes(schema, value, path)
    return [*causes, *_object_causes(schema, value, path)] if isinstance(value, dict) else causes


def _invalid_cause(path: str, value: Any, words: str) -> Cause:
    return invalid(path.removeprefix(".") or _ROOT, value, f"{path} in body {words}")


def _types(schema: Json) -> list[str]:
    if schema.get("x-kubernetes-int-or-string"):
        return ["integer", "string"]
    return [schema["type"]] if schema.get("type") else []


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _type_causes(schema: Json, value: Any, path: str) -> list[Cause]:
    wanted, found = _types(schema), _type_of(value)
    if not wanted or (value is None and schema.get("nullable")) or found in wanted:
        return []
    if found == "integer" and "number" in wanted:
        return []
    if found == "number" and "integer" in wanted and float(value).is_integer():
        return []
    if found == "string" and schema.get("format") and not {"integer", "number"} & {*wanted}:
        return []
    return [_invalid_cause(path, found, f'must be of type {",".join(wanted)}: "{found}"')]


def _junction_causes(schema: Json, value: Any, path: str) -> list[Cause]:
    """Alternatives and combinations; of several failures a server shows the one that got furthest, we the first."""
    causes: list[Cause] = []
    shown = json.dumps(path)
    if options := schema.get("anyOf"):
        failures = [schema_causes(option, value, path) for option in options]
        if all(failures):
            causes += [invalid(_ROOT, "", f"{shown} must validate at least one schema (anyOf)"), *failures[0]]
    if options := schema.get("oneOf"):
        failures = [schema_causes(option, value, path) for option in options]
        valid = sum(not failure for failure in failures)
        if valid != 1:
            words = f"Found {valid} valid alternatives" if valid else "Found none valid"
            causes.append(invalid(_ROOT, "", f"{shown} must validate one and only one schema (oneOf). {words}"))
            causes += [] if valid else failures[0]
    if options := schema.get("allOf"):
        failures = [schema_causes(option, value, path) for option in options]
        causes += [cause for failure in failures for cause in failure]
        if any(failures):
            words = ". None validated" if all(failures) else ""
            causes.append(invalid(_ROOT, "", f"{shown} must validate all the schemas (allOf){words}"))
    if schema.get("not") is not None and not schema_causes(schema["not"], value, path):
        causes.append(invalid(_ROOT, "", f"{shown} must not validate the schema (not)"))
    return causes


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None


def _string_causes(schema: Json, value: str, path: str) -> list[Cause]:
    causes = []
    most, least, pattern = (schema.get(name) for name in ("maxLength", "minLength", "pattern"))
    if most is not None and len(value) > most:
        causes.append(_invalid_cause(path, value, f"should be at most {most} chars long"))
    if least is not None and len(value) < least:
        causes.append(_invalid_cause(path, value, f"should be at least {least} chars long"))
    if pattern and (compiled := _pattern(pattern)) and not compiled.search(value):
        causes.append(_invalid_cause(path, value, f"should match '{pattern}'"))
    kind = str(schema.get("format"))
    if kind in _FORMATS and not _FORMATS[kind](value):
        causes.append(_invalid_cause(path, value, f"must be of type {kind}: {json.dumps(value)}"))
    return causes


def _is_address(version: int) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version
        except ValueError:
            return False

    return check


_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": lambda text: re.fullmatch(_DATE, text) is not None,
    "date-time": lambda text: re.fullmatch(
        rf"{_DATE}[Tt ][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]+)?)?([Zz]|[+-][0-9]{{2}}:?[0-9]{{2}})?", text
    ) is not None,
    "ipv4": _is_address(4),
    "ipv6": _is_address(6),
    "uuid": lambda text: re.fullmatch(_UUID, text) is not None,
    "byte": lambda text: re.fullmatch(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", text) is not None,
    "email": lambda text: re.fullmatch(r"[^@\s]+@[^@\s]+", text) is not None,
}  # fmt: skip


def _number_causes(schema: Json, value: float, path: str) -> list[Cause]:
    causes = []
    factor, most, least = (schema.get(name) for name in ("multipleOf", "maximum", "minimum"))
    if factor and not float(value / factor).is_integer():
        causes.append(_invalid_cause(path, value, f"should be a multiple of {_number(factor)}"))
    if most is not None and (value >= most if schema.get("exclusiveMaximum") else value > most):
        words = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        causes.append(_invalid_cause(path, value, f"should be {words} {_number(most)}"))
    if least is not None and (value <= least if schema.get("exclusiveMinimum") else value < least):
        words = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        causes.append(_invalid_cause(path, value, f"should be {words} {_number(least)}"))
    return causes


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e21 else str(value)


def _list_causes(schema: Json, value: list[Any], path: str) -> list[Cause]:
    causes = []
    if isinstance(schema.get("items"), dict):
        causes = [cause for item in value for cause in schema_causes(schema["items"], item, path)]
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        causes.append(_invalid_cause(path, len(value), f"should have at least {least} items"))
    if most is not None and len(value) > most:
        causes.append(_invalid_cause(path, len(value), f"should have at most {most} items"))
    return causes


def _enum_causes(schema: Json, value: Any, path: str) -> list[Cause]:
    options = schema.get("enum")
    if not options or any(value == option and type(value) is type(option) for option in options):
        return []
    texts = [option if isinstance(option, str) else json.dumps(option) for option in options]
    return [not_supported(path.removeprefix("."), value, texts)]


def _object_causes(schema: Json, value: Json, path: str) -> list[Cause]:
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        return [_invalid_cause(path, "", f"should have at least {least} properties")]
    if most is not None and len(value) > most:
        return [_invalid_cause(path, "", f"should have at most {most} properties")]
    properties: Json = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    causes: list[Cause] = []
    for name, item in value.items():
        inner = properties.get(name) or (additional if isinstance(additional, dict) else None)
        if inner:
            place = f"{path}.{name}" if path or name not in properties else name
            causes += schema_causes(inner, item, place)
    return causes + [
        required(f"{path}.{name}".removeprefix("."))
        for name in schema.get("required") or ()
        if name not in value and "default" not in (properties.get(name) or {})
    ]
