"""Reference pages that follow from the code: commands, exit codes, operators, behaviours, surfaces, schemas.

`python tools/reference_pages.py FOLDER` writes them; `make docs` adds them to the site.
"""

import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.main import cli
from sirocco.cli.schema import SCHEMAS
from sirocco.cli.validate import rules_table
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.oasis.domain import Domain
from sirocco.oasis.slot import SLOTS
from sirocco.wiring.domains import usable_domains


def pages() -> Iterator[tuple[str, str]]:
    """Every page: its name and its text."""
    yield "commands.md", commands_page()
    yield "exit-codes.md", exit_codes_page()
    yield "rules.md", f"# Validation rules\n\nWhat `sirocco validate` checks.\n\n{rules_table()}"
    yield "schemas.md", schemas_page()
    for domain in usable_domains():
        yield f"{domain.environment_type}.md", domain_page(domain)


def commands_page() -> str:
    """Every command with its usage, its options and its example."""
    text = "# Commands\n\nGenerated from `sirocco --help`. Every command accepts `-h` and `--help`.\n"
    return text + "".join(_command(cli, "sirocco", None))


def _command(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent)
    if parent is not None:
        usage = f"{path} {' '.join(command.collect_usage_pieces(context))}"
        said = inspect.cleandoc(command.help or "").partition("\f")[0]
        yield f"\n{'#' * (1 + path.count(' '))} `{path}`\n\n{said}\n\n```text\n{usage}\n```\n"
        options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
        if options:
            yield "\n" + _table(("option", "default", "meaning"), [_option(one, context) for one in options])
        if command.epilog and (example := command.epilog.removeprefix("Example: ")) != command.epilog:
            yield f"\nExample:\n\n```console\n$ {example.partition(' (or ')[0]}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (below := command.get_command(context, name)) is not None:
                yield from _command(below, f"{path} {name}", context)


def _option(option: click.Option, context: click.Context) -> Sequence[str]:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if not option.is_flag:
        names += f" `{option.make_metavar(context)}`"
    record = option.get_help_extra(context)
    default = record.get("default", "required" if "required" in record else "")
    return names, str(default), (option.help or "") + (f" ({record['range']})" if "range" in record else "")


def exit_codes_page() -> str:
    """Exit codes of `sirocco run`, and of the commands that share them."""
    rows = [(str(int(code)), code.meaning) for code in ExitCode]
    return (
        "# Exit codes\n\nThe exit codes of `sirocco run`. Other commands describe theirs in their help.\n\n"
        + _table(("code", "meaning"), rows)
    )


def schemas_page() -> str:
    """The fields of every kind of document, from the JSON Schemas."""
    text = "# File formats\n\n`sirocco schema NAME` prints these as JSON Schema; `docs/schemas` has them as files.\n"
    for name, schema in SCHEMAS.items():
        document = schema()
        text += f"\n## {name.capitalize()}\n\n" + _fields(document, document)
        for inner, definition in sorted(document.get("$defs", {}).items()):
            if "properties" in definition:
                text += f"\n### {name}: {inner}\n\n{_said(definition)}\n\n" + _fields(definition, document)
    return text


def _fields(schema: dict, whole: dict) -> str:
    required = schema.get("required", ())
    rows = [
        (f"`{key}`", _kind(value, whole), "yes" if key in required else "", _said(value))
        for key, value in schema.get("properties", {}).items()
    ]
    return _table(("field", "type", "required", "meaning"), rows) if rows else ""


def _kind(value: dict, whole: dict) -> str:
    if reference := value.get("$ref"):
        name = reference.rpartition("/")[2]
        meant = whole.get("$defs", {}).get(name, {})
        return ", ".join(f"`{one}`" for one in meant["enum"]) if "enum" in meant else name
    for several in ("anyOf", "oneOf"):
        if several in value:
            return " or ".join(dict.fromkeys(_kind(one, whole) for one in value[several]))
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if value.get("type") == "array":
        return f"list of {_kind(value.get('items', {}), whole)}"
    return str(value.get("type", "any"))


def _said(value: dict) -> str:
    return " ".join(str(value.get("description", "")).split())


def domain_page(domain: Domain) -> str:
    """What a domain brings: surfaces, operators, behaviours and the slots that they need."""
    surfaces = [(f"`{surface}`",) for surface in domain.vocabulary.surfaces]
    operators = [
        (f"`{one.name}`", f"`{one.technique}`" if one.is_offered else "not offered", ", ".join(sorted(one.preserves)))
        for one in domain.mutation.operators
    ]
    judged = behaviors_for(domain)
    behaviors = [
        (f"`{one.id}`", str(one.basis), _listed(one.slots), _listed(one.optional)) for _, one in sorted(judged.items())
    ]
    slots = [(f"`{name}`", str(slot.kind), slot.meaning) for name, slot in sorted(SLOTS.items())]
    return (
        f"# Domain: {domain.environment_type}\n"
        f"\n## Surfaces\n\n{_table(('surface',), surfaces)}"
        f"\n## Operators\n\n{_table(('operator', 'technique', 'preserves'), operators)}"
        f"\n## Behaviours\n\n{_table(('behaviour', 'decided by', 'slots', 'optional slots'), behaviors)}"
        f"\n## Slots\n\n{_table(('slot', 'kind', 'meaning'), slots)}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main(folder: str) -> None:
    """Write every page into a folder."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        Path(folder, name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
