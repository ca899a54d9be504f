"""A request's body as data, for callers that need no more than that."""

from typing import Any

from kubesim.bodies import go_json, go_yaml


def as_data(sent: Any) -> Any:
    """A body as data if it is JSON, and unchanged if it is not."""
    if not isinstance(sent, bytes):
        return sent
    try:
        return go_json.load_json(sent)
    except go_json.JsonError:
        return sent


def yaml_data(content: bytes) -> Any:
    """The content of YAML; None if it is invalid or empty."""
    try:
        return go_yaml.load_yaml(content)
    except go_yaml.YamlError:
        return None
