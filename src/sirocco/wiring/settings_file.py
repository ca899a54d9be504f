"""Small settings files for commands: one YAML document, read into a model."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sirocco.errors import ConfigError
from sirocco.profiles.yaml_text import read_documents

Settings = TypeVar("Settings", bound=BaseModel)


def read_settings(file: Path, model: type[Settings], what: str, remedy: str) -> Settings:
    """The settings in a file; ConfigError if it is not `what` it should be."""
    try:
        documents, findings = read_documents(file.read_text(encoding="utf-8"), file.name)
        if findings or len(documents) != 1:
            raise ConfigError(file, "is not one YAML document", remedy)
        return model.model_validate(documents[0].value)
    except (UnicodeDecodeError, ValidationError) as error:
        raise ConfigError(file, f"is not {what}: {first_problem(error)}", remedy) from error


def first_problem(error: Exception) -> str:
    """The first problem of a document, in words."""
    if not isinstance(error, ValidationError):
        return "it is not text"
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}".removeprefix(": ").replace("Value error, ", "")
