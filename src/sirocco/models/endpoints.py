"""The addresses of endpoints that speak OpenAI's protocol, by the name of their provider."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from sirocco.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address and its key; an empty key is not sent."""

    url: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class _Known:
    url: str
    key_variable: str = ""
    """Empty for one that runs on the user's own machine and requires none."""


_KNOWN: Mapping[str, _Known] = {
    "deepseek": _Known("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "gemini": _Known("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "groq": _Known("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "llamacpp": _Known("http://127.0.0.1:8080/v1"),
    "lmstudio": _Known("http://127.0.0.1:1234/v1"),
    "mistral": _Known("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "ollama": _Known("http://127.0.0.1:11434/v1"),
    "openai": _Known("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": _Known("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": _Known("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "vllm": _Known("http://127.0.0.1:8000/v1"),
}


THROUGH_A_LIBRARY = ("anthropic", "azure", "bedrock", "google", "google-cloud")
"""Providers with a different protocol, or a different way to log in."""


def is_spoken_to_directly(provider: str) -> bool:
    """Whether a provider's models, including unknown providers', are reached by OpenAI's protocol."""
    return provider not in THROUGH_A_LIBRARY


def endpoint(provider: str, url: str, environment: Mapping[str, str]) -> Endpoint:
    """Where a provider's models are reached; `url` replaces the known address.

    The key is in the provider's usual variable; for an unknown provider, in `<PROVIDER>_API_KEY`.
    """
    known = _KNOWN.get(provider)
    if known is None and not url:
        closest = get_close_matches(provider, (*_KNOWN, *THROUGH_A_LIBRARY), n=1)
        known_names = sorted((*_KNOWN, *THROUGH_A_LIBRARY))
        remedy = f"did you mean {closest[0]!r}?" if closest else f"known: {', '.join(known_names)}"
        raise ConfigError("--model-url", f"no address is known for {provider!r}", f"{remedy}; or add --model-url URL")
    variable = known.key_variable if known else f"{provider.upper().replace('-', '_')}_API_KEY"
    key = environment.get(variable, "") if variable else ""
    if not url:
        assert known is not None, "without an address of its own it is a known one"  # noqa: S101
        if known.key_variable and not key:
            raise ConfigError(f"model:{provider}", f"{variable} is not set", f"export {variable}=... before the run")
        return Endpoint(known.url, key)
    return Endpoint(url.rstrip("/").removesuffix("/chat/completions"), key)
