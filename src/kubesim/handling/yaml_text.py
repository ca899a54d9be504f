"""JSON data as the YAML that the server writes: keys in order, lists flush with their key, double quotes."""

from typing import Any

import yaml

_TEXT = "tag:yaml.org,2002:str"


class _Dumper(yaml.SafeDumper):
    """Writes every value in full: the server uses no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _text(dumper: yaml.SafeDumper, data: str) -> yaml.ScalarNode:
    is_plain = dumper.resolve(yaml.ScalarNode, data, (True, False)) == _TEXT  # type: ignore[no-untyped-call]
    style = "|" if "\n" in data else None if is_plain else '"'
    return dumper.represent_scalar(_TEXT, data, style)


_Dumper.add_representer(str, _text)


def yaml_text(value: Any) -> str:
    """`value` as YAML."""
    return yaml.dump(value, Dumper=_Dumper, default_flow_style=False, allow_unicode=True)
