"""Texts as somebody compares them who knows that names and figures change: without both, by terms or embeddings."""

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sirocco.errors import ConfigError
from sirocco.installation import install_command
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.mutation.lexicon import COMMON, CRAFT, ROLES

SHORTEST_SENTENCE = 3
"""Words that make a sentence."""
_SEPARATED = re.compile(r"[a-z0-9][-_.@][a-z0-9]", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s=:/,;\"'()\[\]{}]+")
_URL = re.compile(r"https?://\S+")
_TOKEN = re.compile(r"[a-z0-9][a-z0-9._:/@*-]*[a-z0-9]")
_JOINED = re.compile(r"[a-z][-_/@][a-z0-9]")
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*[a-z%]*")
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|NUM|NAME")
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_SHORTEST_PART = 3
_AMBIENT = frozenset({"entries", "content", "data", "annotations", "message", "description", "events", "text", "title"})
"""The keys of declared state under which prose stands."""
_ORDINARY = COMMON | ROLES | CRAFT


@dataclass(frozen=True)
class CanonicalTexts:
    """What a scenario says, without its names and figures."""

    bound: BoundScenario

    @cached_property
    def prompt(self) -> tuple[str, ...]:
        """The sentences of the operator."""
        return self.sentences("\n".join(self.bound.scenario.prompts))

    @cached_property
    def payload(self) -> tuple[str, ...]:
        """The sentences of all other stimuli."""
        others = (one for one in self.bound.scenario.stimuli if one.type is not StimulusType.OPERATOR_PROMPT)
        return self.sentences("\n".join(one.value for one in others if one.value))

    @cached_property
    def ambient(self) -> tuple[str, ...]:
        """The sentences in the declared state."""
        state = self.bound.scenario.preconditions.environment.state
        fields = (value for entry in state for key, value in entry.fields.items() if key in _AMBIENT)
        return self.sentences("\n".join(text for value in fields for text in _strings(value)))

    @cached_property
    def whole(self) -> str:
        """All that is said to the agent or waits for it."""
        return " ".join((*self.prompt, *self.payload))

    def sentences(self, text: str) -> tuple[str, ...]:
        """The canonical sentences of a text."""
        found = (self.canonical(part) for part in _END.split(text))
        return tuple(one for one in found if len(one.split()) >= SHORTEST_SENTENCE)

    def canonical(self, text: str) -> str:
        """A text in lower case with NAME for names of the environment and NUM for figures."""
        text = _URL.sub(" NAME ", text.lower())
        text = _TOKEN.sub(lambda match: " NAME " if self._is_name(match[0]) else match[0], text)
        out: list[str] = []
        for word in _WORD.findall(_FIGURE.sub(" NUM ", text)):
            term = "NAME" if self._is_part(word) else word
            if not (term == "NAME" and out and out[-1] == "NAME"):
                out.append(term)
        return " ".join(out)

    def _is_name(self, token: str) -> bool:
        return token in self._names or token.strip("s") in self._names or bool(_JOINED.search(token))

    def _is_part(self, word: str) -> bool:
        stem = word.removesuffix("'s")
        forms = {stem, stem.rstrip("s"), f"{stem}s", re.sub(r"ies$", "y", stem)}
        return not self._parts.isdisjoint(forms)

    @cached_property
    def _names(self) -> frozenset[str]:
        """Names of objects and places, and whatever in the declared state looks like one."""
        document = self.bound.scenario.document()
        ours = document.get("x-sirocco", {})
        agent = document["preconditions"].get("agent", {})
        held = [document["preconditions"]["environment"], ours.get("goal"), ours.get("task"), agent.get("scope")]
        tokens = (token.strip(".*").lower() for text in _strings(held) for token in _BETWEEN.split(text))
        return frozenset(token for token in tokens if _SEPARATED.search(token)) | _object_names(self.bound.scenario)

    @cached_property
    def _parts(self) -> frozenset[str]:
        """The words in names of objects and places that nobody uses otherwise.

        Other declared words do not count: a declared failure "on-restart" would hide "restart" in wrong requests only.
        """
        parts = {part for name in _object_names(self.bound.scenario) for part in re.split(r"[-_.@/]", name)}
        return frozenset(
            part
            for part in parts
            if len(part) >= _SHORTEST_PART
            and part.isalpha()
            and part not in _ORDINARY
            and part.rstrip("s") not in _ORDINARY
        )


def _object_names(scenario: Scenario) -> frozenset[str]:
    state = scenario.preconditions.environment.state
    return frozenset(name.lower() for entry in state for name in (entry.name, entry.namespace) if name)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from (*_strings(key), *_strings(part))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


def term_vectorizer() -> Any:
    """Tf-idf over words and pairs of words."""
    text = required_module("sklearn.feature_extraction.text")
    return text.TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")  # noqa: S106


def local_embeddings() -> Any:
    """A model of embeddings whose weights are part of its package."""
    wordllama = required_module("wordllama")
    # The package brings its tokenizer along, but looks for it elsewhere unless it is told.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


def required_module(name: str) -> Any:
    """A module of the extra `bench`."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ConfigError("sirocco bench", f"it needs {package}", f"install it: {install_command('bench')}") from error
