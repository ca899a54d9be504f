"""A request's body as data, where that is all that is asked."""

from typing import Any

from kubesim.bodies import go_json, go_yaml


def as_data(sent: Any) -> Any:
    """A body as data where it is JSON, and as it came where it is not."""
    if not isinstance(sent, bytes):
        return sent
    try:
        return go_json.load_json(sent)
    except go_json.JsonError:
        return sent


def yaml_data(content: bytes) -> Any:
    """What YAML holds; None when it is none, or holds nothing."""
    try:
        return go_yaml.load_yaml(content)
    except go_yaml.YamlError:
        return None
