"""Parses the answers of agents: JSON to values, with every problem reported at once.

An answer without actions is valid. An answer that is not JSON, is too long or has wrong types is a fault of the agent.
Keys that are not part of the contract are kept unchanged, and mean nothing.
"""

import json
import unicodedata
from collections.abc import Mapping
from typing import Any, NoReturn

from sirocco.errors import AgentFault, AgentFaultKind
from sirocco.oasis.agent import (
    DECLARED_OF_AGENTS,
    AgentAction,
    AgentDescription,
    AgentIdentity,
    AgentResponse,
)
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.noun import Noun

ANSWER_LIMIT = 16 * 1024 * 1024
"""The maximum size of an answer in bytes."""
DEEPEST = 200
"""The maximum nesting of lists and objects in an answer; the serializer supports no more than 255 levels."""
_DIGITS = 4000
"""The maximum number of digits of a number; Python reads no more than 4300."""
_UNRECORDABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that cannot be part of a name: controls, surrogates, separators of lines and paragraphs."""
_INVISIBLE = frozenset({0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)})
"""The byte order mark, and marks that change the writing direction."""
_SHOWN = 200
_PROBLEMS = 8
_RESPONSE_REMEDY = (
    'answer with {"actions": [{"tool", "arguments", "result"}], "reasoning": "...", "final_answer": "..."}'
)
_DESCRIPTION_REMEDY = 'answer with {"identity": {"name", "version", "description"}, "configuration": {...}}'
_NAMES: Mapping[type, str] = {
    bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object",
    type(None): "null",
}  # fmt: skip


def document_of(content: bytes, where: str) -> Any:
    """The JSON value in `content`; raise AgentFault if there is none that can be recorded."""
    if len(content) > ANSWER_LIMIT:
        raise oversize_fault(where)
    try:
        value = json.loads(content.decode("utf-8-sig"), parse_constant=_no_number, parse_int=_whole_number)
        if _is_deeper(value, DEEPEST):
            raise _too_deep(where)
        canonical_json(value).encode()
    except UnicodeDecodeError as error:
        raise _malformed_fault(where, f"byte {error.start} is not UTF-8", content) from error
    except UnicodeEncodeError as error:
        raise _malformed_fault(where, "a string holds half of a surrogate pair", content) from error
    except RecursionError as error:
        raise _too_deep(where) from error
    except ValueError as error:
        raise _malformed_fault(where, str(error), content) from error
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return held is not None and (levels == 0 or any(_is_deeper(one, levels - 1) for one in held))


def response_of(document: Any, where: str) -> AgentResponse:
    """The answer to one turn; raise AgentFault naming every field whose type differs from the contract."""
    reading = _Reading(where, _RESPONSE_REMEDY)
    answer = reading.mapping(document, "the answer")
    response = AgentResponse(
        actions=tuple(
            _action(reading, item, f"actions[{index}]")
            for index, item in enumerate(reading.items(answer.get("actions"), "actions"))
        ),
        reasoning=reading.text(answer.get("reasoning"), "reasoning"),
        final_answer=reading.text(answer.get("final_answer"), "final_answer"),
        audit_trail=tuple(reading.items(answer.get("audit_trail"), "audit_trail")),
        model=reading.text(answer.get("model"), "model") or None,
        **_extra_fields(answer, AgentResponse),
    )
    reading.finish()
    return response


def _action(reading: "_Reading", item: Any, path: str) -> AgentAction:
    action = reading.mapping(item, path)
    return AgentAction(
        tool=reading.text(action.get("tool"), f"{path}.tool"),
        arguments=reading.mapping(action.get("arguments", {}), f"{path}.arguments", null_is_empty=True),
        result=action.get("result"),
        error=reading.text(action.get("error"), f"{path}.error") or None,
        **_extra_fields(action, AgentAction),
    )


def _extra_fields(document: Mapping[str, Any], noun: type[Noun]) -> dict[str, Any]:
    """The keys of a document that are not fields of its noun."""
    return {key: document[key] for key in document if key not in noun.model_fields}


def description_of(document: Any, where: str) -> AgentDescription:
    """Identity and configuration; a version may also be a number, because that is how YAML reads `1.0`."""
    reading = _Reading(where, _DESCRIPTION_REMEDY)
    described = reading.mapping(document, "the description")
    if "identity" not in described:
        reading.problem("identity is missing")
    identity = reading.mapping(described.get("identity", {}), "identity")
    for key in ("name", "version"):
        if "identity" in described and identity.get(key) is None:
            reading.problem(f"identity.{key} is missing")
    version = identity.get("version")
    if isinstance(version, int | float) and not isinstance(version, bool):
        version = str(version)
    tools = reading.items(described.get("tools"), "tools")
    found = AgentDescription(
        identity=identity_of(
            reading.text(identity.get("name"), "identity.name"),
            reading.text(version, "identity.version"),
            reading.text(identity.get("description"), "identity.description"),
            **{key: reading.text(identity.get(key), f"identity.{key}") or None for key in DECLARED_OF_AGENTS},
        ),
        configuration=_recordable_value(
            reading.mapping(described.get("configuration", {}), "configuration", null_is_empty=True)
        ),
        tools=tuple(recordable_text(reading.text(tool, f"tools[{index}]")) for index, tool in enumerate(tools)),
        mode=recordable_text(reading.text(described.get("mode"), "mode")) or None,
    )
    reading.finish()
    return found


def identity_of(name: str, version: str, description: str = "", **declared: str | None) -> AgentIdentity:
    """An agent's identity, in characters that every file and page of a run preserves."""
    texts = {"name": name, "version": version, "description": description, **declared}
    return AgentIdentity.model_validate({key: recordable_text(text) for key, text in texts.items() if text is not None})


def recordable_text(text: str) -> str:
    """A text in which characters that documents drop, break lines at or reorder are escaped, as in a literal."""
    if text.isprintable():
        return text
    return "".join(one if _is_recordable(one) else ascii(one)[1:-1] for one in text)


def _is_recordable(character: str) -> bool:
    code = ord(character)
    is_kept = unicodedata.category(character) not in _UNRECORDABLE and code not in _INVISIBLE
    return is_kept and code & 0xFFFE != 0xFFFE and not 0xFDD0 <= code <= 0xFDEF


def _recordable_value(value: Any) -> Any:
    """A value in which all texts, including keys, are escaped in this way."""
    if isinstance(value, dict):
        return {recordable_text(key): _recordable_value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_recordable_value(one) for one in value]
    return recordable_text(value) if isinstance(value, str) else value


def trail_of(document: Any, where: str) -> tuple[Any, ...]:
    """The entries of an agent's own audit trail, from a list or an object that contains one."""
    held = document
    if isinstance(document, Mapping):
        held = next((document[key] for key in ("audit_trail", "entries") if key in document), document)
    reading = _Reading(where, "answer with a list of entries")
    entries = tuple(reading.items(held, "the audit trail"))
    reading.finish()
    return entries


def oversize_fault(where: str) -> AgentFault:
    """The fault of an agent whose answer exceeds the limit."""
    problem = f"the answer is longer than {ANSWER_LIMIT} bytes"
    return AgentFault(where, problem, "send a smaller answer; results may be shortened", AgentFaultKind.OVERSIZED)


def excerpt(content: bytes) -> str:
    """The beginning of an agent's words, on one line, for a message."""
    text = " ".join(content[: 4 * _SHOWN].decode(errors="replace").split())
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


class _Reading:
    """Reads the parts of a document and collects its problems."""

    def __init__(self, where: str, remedy: str) -> None:
        self._where = where
        self._remedy = remedy
        self._problems: list[str] = []

    def problem(self, text: str) -> None:
        self._problems.append(text)

    def mapping(self, value: Any, path: str, *, null_is_empty: bool = False) -> dict[str, Any]:
        if value is None and null_is_empty:
            return {}
        return self._typed_value(value, dict, path) or {}

    def items(self, value: Any, path: str) -> list[Any]:
        return [] if value is None else self._typed_value(value, list, path) or []

    def text(self, value: Any, path: str) -> str:
        return "" if value is None else self._typed_value(value, str, path) or ""

    def _typed_value(self, value: Any, kind: type, path: str) -> Any:
        if isinstance(value, kind):
            return value
        self.problem(f"{path} is {_NAMES.get(type(value), type(value).__name__)}, not {_NAMES[kind]}")
        return None

    def finish(self) -> None:
        if not self._problems:
            return
        shown = self._problems[:_PROBLEMS]
        more = len(self._problems) - len(shown)
        text = "; ".join(shown) + (f"; and {more} more" if more else "")
        raise AgentFault(self._where, text, self._remedy, AgentFaultKind.WRONG_TYPE)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _whole_number(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"a number has more than {_DIGITS} digits")
    return int(text)


def _too_deep(where: str) -> AgentFault:
    problem = f"the answer is nested deeper than {DEEPEST} levels"
    return AgentFault(where, problem, "nest the answer less deeply; a result may be a text", AgentFaultKind.MALFORMED)


def _malformed_fault(where: str, problem: str, content: bytes) -> AgentFault:
    said = f": {excerpt(content)!r}" if content.strip() else ""
    text = f"the answer is not JSON ({problem}){said}" if said else "the answer is empty"
    return AgentFault(where, text, "answer with a single JSON object", AgentFaultKind.MALFORMED)
