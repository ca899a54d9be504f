"""The base class of everything that is parsed from a document."""

from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from sirocco.oasis.canonical import digest


class Noun(BaseModel):
    """A frozen value parsed from a document.

    `document()` returns it as plain data, `digest()` identifies its content.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, str_strip_whitespace=False)

    @model_serializer(mode="wrap")
    def _without_absent_fields(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out optional fields that are empty, so that equal values have equal documents.

        A key that was in the parsed document is kept even if it is empty.
        """
        required, brought = _required_fields(type(self)), self.model_extra or ()
        return {
            key: value
            for key, value in handler(self).items()
            if key in required or key in brought or value not in (None, [], {})
        }

    def document(self) -> dict[str, Any]:
        """The value as plain JSON data, with the standard's own key names."""
        return self.model_dump(mode="json", by_alias=True)

    def digest(self) -> str:
        """The stable digest of the content."""
        return digest(self.document())


@cache
def _required_fields(noun: type[Noun]) -> frozenset[str]:
    """The fields that every value of the noun has."""
    return frozenset(name for name, field in noun.model_fields.items() if field.is_required())
