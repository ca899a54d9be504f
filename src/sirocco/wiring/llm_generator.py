"""Builds a generator that writes with a model from `llm:PROVIDER:NAME?temperature=0.7&...`."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from sirocco.errors import ConfigError
from sirocco.models.caching import CachedModel
from sirocco.models.chat import ChatModel
from sirocco.models.naming import ModelName, chat_model
from sirocco.oasis.profile import Profile
from sirocco.probes.llm.generator import LlmGenerator, LlmSettings
from sirocco.probes.mutation.generator import MutationGenerator

PREFIX = "llm:"
_EXAMPLE = "llm:PROVIDER:NAME, e.g. 'llm:ollama:qwen3?temperature=0.7'"
_MOST_REPAIRS, _MOST_TOKENS, _MOST_SECONDS = 5, 10**12, 86_400
_OWN = frozenset({"url", "cache", "repairs", "fallback", "tokens", "timeout"})


def llm_generator(
    name: str, options: Mapping[str, str], profile: Profile, environment: Mapping[str, str]
) -> LlmGenerator:
    """The generator that uses the named model: it takes the model's options and those of `_OWN`."""
    own = {key: value for key, value in options.items() if key in _OWN}
    asked = urlencode({key: value for key, value in options.items() if key not in _OWN})
    named = ModelName.parse(f"{name.removeprefix(PREFIX)}?{asked}", "--generator", _EXAMPLE)
    settings = LlmSettings(
        repairs=int(_number("repairs", own.get("repairs", "2"), _MOST_REPAIRS, is_whole=True)),
        fallback=_number("fallback", own.get("fallback", "0.5"), 1),
        tokens=int(_number("tokens", own["tokens"], _MOST_TOKENS, is_whole=True)) if "tokens" in own else None,
        seconds=_number("timeout", own.get("timeout", f"{LlmSettings().seconds:g}"), _MOST_SECONDS),
    )
    model: ChatModel = chat_model(named, own.get("url", ""), environment, settings.seconds)
    if "cache" in own:
        model = CachedModel(model, Path(own["cache"]))
    return LlmGenerator(profile, model, named.provider, MutationGenerator(profile), settings)


def _number(key: str, text: str, most: float, *, is_whole: bool = False) -> float:
    try:
        number = int(text) if is_whole else float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= most:
        raise ConfigError("--generator", f"{key} cannot be {text!r}", f"write a number from 0 to {most:g}")
    return number
