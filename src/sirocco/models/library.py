"""Models of providers with protocols of their own, through pydantic-ai: Anthropic, Azure, Bedrock and Google.

The library is loaded only here. It retries, logs in and translates; its replies are converted into our own values, so
that nothing above this package knows whether a model was reached through it
(docs/decisions/0054-one-client-for-models.md).
"""

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sirocco.errors import ConfigError, ModelFault
from sirocco.models.chat import Finish, Message, Parameters, Reply, ToolCall, Usage
from sirocco.oasis.tools import Tool

_RETRIES = 4
_FINISHES = {"length": Finish.LENGTH, "content_filter": Finish.CONTENT_FILTER}


def library_model(provider: str, name: str, parameters: Parameters, *, seconds: float) -> "LibraryModel":
    """The model as the library provides it, with credentials from the environment; ConfigError if they are missing."""
    exceptions, models = (importlib.import_module(f"pydantic_ai.{part}") for part in ("exceptions", "models"))
    try:
        model = models.infer_model(f"{provider}:{name}")
    except (exceptions.UserError, ImportError, ValueError) as error:
        raise ConfigError(f"model:{provider}", " ".join(str(error).split()), "provide what is missing") from error
    return LibraryModel(model, provider, name, parameters, seconds=seconds)


class LibraryModel:
    """One model behind the library (implements ChatModel)."""

    def __init__(self, model: Any, provider: str, name: str, parameters: Parameters, *, seconds: float) -> None:
        self._model = model
        self._provider = provider
        self._name = name
        self._parameters = parameters
        self._seconds = seconds
        self._messages = importlib.import_module("pydantic_ai.messages")
        self._exceptions = importlib.import_module("pydantic_ai.exceptions")

    @property
    def name(self) -> str:
        """The provider's name for it."""
        return self._name

    @property
    def parameters(self) -> Parameters:
        """What is sent with every request."""
        return self._parameters

    async def reply(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), schema: Mapping[str, Any] | None = None
    ) -> Reply:
        """The next reply; ModelFault with the library's words if there is none."""
        direct = importlib.import_module("pydantic_ai.direct")
        failures = self._exceptions
        try:
            said = await direct.model_request(
                self._model,
                self._history(messages),
                model_settings=self._settings(),
                model_request_parameters=_request_parameters(tools, schema),
            )
        except failures.ContentFilterError:
            return Reply("", model=self._name, finish=Finish.CONTENT_FILTER)
        except (failures.AgentRunError, failures.UserError) as error:
            raise self._fault(error) from error
        return self._read(said)

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self._parameters.document()
        effort = settings.pop("reasoning_effort", None)
        if effort is not None:
            settings["thinking"] = False if effort == "none" else effort
        return {**settings, "timeout": self._seconds, "max_retries": _RETRIES}

    def _history(self, messages: Sequence[Message]) -> list[Any]:
        """The conversation in the library's terms: others' messages go into requests, the model's do not."""
        kinds, history = self._messages, []
        names = {call.id: call.name for message in messages for call in message.calls}
        for message in messages:
            if message.role == "assistant":
                parts = [kinds.TextPart(message.content)] if message.content else []
                parts += [kinds.ToolCallPart(call.name, call.arguments, call.id) for call in message.calls]
                history.append(kinds.ModelResponse(parts=parts))
                continue
            if message.answers:
                part = kinds.ToolReturnPart(names.get(message.answers, ""), message.content, message.answers)
            elif message.role == "system":
                part = kinds.SystemPromptPart(message.content)
            else:
                part = kinds.UserPromptPart(message.content)
            if history and isinstance(history[-1], kinds.ModelRequest):
                history[-1].parts.append(part)
            else:
                history.append(kinds.ModelRequest(parts=[part]))
        return history

    def _read(self, said: Any) -> Reply:
        kinds = self._messages
        calls = [part for part in said.parts if isinstance(part, kinds.ToolCallPart)]
        return Reply(
            content="".join(part.content for part in said.parts if isinstance(part, kinds.TextPart)),
            calls=tuple(ToolCall(call.tool_call_id, call.tool_name, _text(call.args)) for call in calls),
            model=said.model_name or self._name,
            usage=Usage(said.usage.input_tokens, said.usage.output_tokens),
            finish=_FINISHES.get(said.finish_reason, Finish.WHOLE),
        )

    def _fault(self, error: Exception) -> ModelFault:
        status = int(getattr(error, "status_code", 0) or 0)
        if isinstance(error, self._exceptions.UnexpectedModelBehavior):
            status = 200
        is_overflow = isinstance(error, self._exceptions.ModelContextWindowExceededError)
        problem = " ".join(str(error).split())[:300]
        remedy = "see the provider's documentation, and check its variables"
        return ModelFault(f"{self._name} of {self._provider}", problem, remedy, status, is_overflow=is_overflow)


def _request_parameters(tools: Sequence[Tool], schema: Mapping[str, Any] | None) -> Any:
    models, defined = importlib.import_module("pydantic_ai.models"), importlib.import_module("pydantic_ai.tools")
    offered = [
        defined.ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters)
        )
        for tool in tools
    ]
    if schema is None:
        return models.ModelRequestParameters(function_tools=offered)
    output = importlib.import_module("pydantic_ai.output")
    form = output.OutputObjectDefinition(json_schema=dict(schema), name="reply")
    return models.ModelRequestParameters(function_tools=offered, output_mode="native", output_object=form)


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})
