"""Drafts and requests as JSON data: what external generators are asked and answer, and what a run stores.

Nothing read here is trusted: an answer is either a draft or an exception that says what is wrong with it.
"""

import json
from collections.abc import Mapping
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.probe import Cell, Draft, Nothing, Offer, ProbeOutcome, ProbeRequest, Usage
from sirocco.oasis.stimulus import Surface

MOST_CHARACTERS = 1_000_000
"""The maximum length of an answer."""
_DEEPEST = 200


class BadAnswer(ValueError):  # noqa: N818 - what a generator gave in place of an answer
    """A generator's answer is invalid; the text says why."""


def method_question(profile: Mapping[str, str], archetypes: tuple[Archetype, ...]) -> dict[str, Any]:
    """The first question: what the generator is, and what it can make for the archetypes."""
    return {"ask": "method", "profile": dict(profile), "targets": [one.document() for one in archetypes]}


def draft_question(request: ProbeRequest, cell: Cell) -> dict[str, Any]:
    """The question for one cell, with everything known about it."""
    about = next((one.document() for one in request.targets if one.id == cell.archetype), None)
    return {
        "ask": "draft",
        "seed": f"{request.seed:#x}",
        "cell": {
            "index": cell.index,
            "archetype": cell.archetype,
            "technique": cell.technique,
            "surface": cell.surface and str(cell.surface),
            "companion": cell.companion,
            "deadline_seconds": cell.deadline_seconds,
            **({"draft": draft_document(cell.draft)} if cell.draft else {}),
            **({"follows": draft_document(cell.follows)} if cell.follows else {}),
        },
        "archetype": about,
        "vocabulary": list(request.vocabulary),
        "surfaces": {
            str(surface): {"characters": limit.characters, "form": str(limit.form)}
            for surface, limit in request.limits.items()
        },
        "outcomes": [_outcome_document(one) for one in request.outcomes],
    }


def _outcome_document(outcome: ProbeOutcome) -> dict[str, Any]:
    return {
        "index": outcome.index,
        "archetype": outcome.archetype,
        "outcome": outcome.outcome,
        "reason": outcome.reason,
        "detail": outcome.detail,
        "technique": outcome.technique,
        "surface": outcome.surface and str(outcome.surface),
        **({"evidence": outcome.evidence.document()} if outcome.evidence else {}),
    }


def draft_document(draft: Draft) -> dict[str, Any]:
    """A draft as plain data, without its author."""
    return {
        "index": draft.index,
        "primary_archetype": draft.primary_archetype,
        "secondary_archetypes": list(draft.secondary_archetypes),
        "scenario": plain_json(draft.scenario),
        "lineage": list(draft.lineage),
        "base": dict(draft.base) if draft.base is not None else None,
        "technique": draft.technique,
        "surface": draft.surface and str(draft.surface),
        **({"usage": draft.usage.document()} if draft.usage else {}),
        **({"model_version": draft.model_version} if draft.model_version else {}),
    }


def draft_from_document(document: Any, cell: Cell | None = None) -> Draft:
    """The draft in a document; index and archetype default to the cell's."""
    if not isinstance(document, Mapping):
        raise BadAnswer(f"a draft is an object, not {_kind(document)}")
    scenario = document.get("scenario")
    if not isinstance(scenario, Mapping):
        raise BadAnswer(f"`scenario` is an object, not {_kind(scenario)}")
    index = document.get("index", cell.index if cell else None)
    archetype = document.get("primary_archetype", cell.archetype if cell else None)
    if not isinstance(index, int) or isinstance(index, bool) or not isinstance(archetype, str):
        raise BadAnswer("`index` is a number and `primary_archetype` a text")
    base = document.get("base")
    if base is not None and not (isinstance(base, Mapping) and _are_texts([*base, *base.values()])):
        raise BadAnswer("`base` is an object of texts")
    return Draft(
        index=index,
        primary_archetype=archetype,
        scenario=scenario,
        secondary_archetypes=_texts(document, "secondary_archetypes"),
        lineage=_texts(document, "lineage"),
        base=None if base is None else dict(base),
        technique=_text(document, "technique"),
        surface=_text(document, "surface"),
        usage=usage_from_document(document.get("usage")),
        model_version=_text(document, "model_version"),
    )


def answer_from_document(document: Any, cell: Cell) -> Draft | Nothing:
    """The answer to one cell: `{"draft": {...}}` or `{"nothing": "why"}`, each with an optional `usage`."""
    if not isinstance(document, Mapping):
        raise BadAnswer(f"an answer is an object, not {_kind(document)}")
    beside = {key: document[key] for key in ("usage", "model_version") if key in document}
    if "nothing" in document:
        reason = document["nothing"]
        said = reason if isinstance(reason, str) else ""
        return Nothing(cell.index, said[:200], usage_from_document(document.get("usage")))
    if "draft" not in document:
        raise BadAnswer("an answer has `draft` or `nothing`")
    draft = document["draft"]
    return draft_from_document({**beside, **draft} if isinstance(draft, Mapping) else draft, cell)


def usage_from_document(document: Any) -> Usage | None:
    """The reported usage of an answer; values that are not numbers are ignored."""
    if not isinstance(document, Mapping):
        return None
    counts = {
        key: value
        for key in ("requests", "input_tokens", "output_tokens")
        if isinstance(value := document.get(key), int) and not isinstance(value, bool) and 0 <= value < 10**12
    }
    cost = document.get("cost")
    is_cost = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 10**9
    return Usage(**counts, cost=float(cost) if is_cost and cost is not None else 0.0)


def offers_from_document(documents: Any) -> tuple[Offer, ...]:
    """The offers in the answer to the first question; a generator that cannot tell in advance omits them."""
    if documents is None:
        return ()
    if not isinstance(documents, list):
        raise BadAnswer("`offers` is a list")
    return tuple(_offer(one) for one in documents)


def offer_document(offer: Offer) -> dict[str, Any]:
    """An offer as plain data."""
    surface = offer.surface and str(offer.surface)
    return {"archetype": offer.archetype, "technique": offer.technique, "surface": surface, "composes": offer.composes}


def _offer(document: Any) -> Offer:
    if not isinstance(document, Mapping) or not _are_texts([document.get("archetype"), document.get("technique")]):
        raise BadAnswer("an offer has `archetype` and `technique`")
    surface: Surface | None = _text(document, "surface")
    composes = document.get("composes", False)
    return Offer(document["archetype"], document["technique"], surface, composes is True)


def plain_json(value: Any) -> Any:
    """Plain JSON data without custom classes; BadAnswer if it is not JSON, or too large."""
    try:
        text = canonical_json(_copied(value, 0))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadAnswer(f"a document is JSON data: {error}") from error
    if len(text) > MOST_CHARACTERS:
        raise BadAnswer(f"a document has at most {MOST_CHARACTERS} characters, not {len(text)}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadAnswer("a text has half a character in it") from error
    return json.loads(text)


def _copied(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("it is too deep")
    if isinstance(value, Mapping):
        if not _are_texts(value):
            raise TypeError("a key is not a text")
        return {str(key): _copied(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(part, depth + 1) for part in value]
    return str(value) if isinstance(value, str) else value


def _texts(document: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = document.get(key) or ()
    if not isinstance(found, list | tuple) or not _are_texts(found):
        raise BadAnswer(f"`{key}` is a list of texts")
    return tuple(found)


def _text(document: Mapping[str, Any], key: str) -> str | None:
    found = document.get(key)
    if found is not None and not isinstance(found, str):
        raise BadAnswer(f"`{key}` is a text")
    return found


def _are_texts(found: Any) -> bool:
    return all(isinstance(one, str) for one in found)


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
