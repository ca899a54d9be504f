"""Run files: the options of `sirocco run` as a YAML document, `option: value` or `option: [values]`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from sirocco.cli.options import note_secret_file
from sirocco.errors import Finding, InvalidInput, Place, Problem
from sirocco.profiles.parse import finding_at
from sirocco.profiles.read import SourceFile, read_file
from sirocco.profiles.rules import RULES
from sirocco.profiles.spelling import spelling_remedy
from sirocco.profiles.yaml_text import Node, read_yaml

_NOT_IN_A_FILE = {"config", "help"}


@dataclass(frozen=True, slots=True)
class RunFile:
    """The contents of a run file, by the names of the command's parameters, and all its problems."""

    values: Mapping[str, Any]
    findings: tuple[Finding, ...]


def read_run_file(path: Path, command: click.Command) -> RunFile:
    """Read a run file for a command; all findings are reported at once."""
    file = read_file(path)
    if isinstance(file, Finding):
        return RunFile({}, (file,))
    text = read_yaml(file.text, file.name)
    if text.findings or len(text.documents) != 1:
        return RunFile({}, text.findings or (_not_one(file, len(text.documents)),))
    return _values(text.documents[0], command)


def run_file_option(context: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
    """Callback of `--config FILE`: its values apply where the command line gives none."""
    if path is None:
        return
    found = read_run_file(path, context.command)
    if found.findings:
        raise InvalidInput(path, found.findings)
    note_secret_file(context, path)
    context.default_map = dict(found.values)


def is_run_file(document: object, command: click.Command) -> bool:
    """Whether a document looks like a run file: its keys are options, and none is one that a scenario must have."""
    if not isinstance(document, Mapping) or {"id", "stimuli", "preconditions"} & document.keys():
        return False
    known = _options(command)
    return any(_option_name(str(key)) in known for key in document)


def _not_one(file: SourceFile, number: int) -> Finding:
    problem = f"the file contains {number} documents"
    return RULES["document-missing"].finding(Place(file.name), "", problem, "write exactly one")


def _options(command: click.Command) -> dict[str, click.Parameter]:
    """The command's options by the names that users write."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    named = {opt.removeprefix("--"): option for option in options for opt in option.opts if opt.startswith("--")}
    return {name: option for name, option in named.items() if name not in _NOT_IN_A_FILE}


def _option_name(key: str) -> str:
    return key.replace("_", "-")


def _values(document: Node, command: click.Command) -> RunFile:
    if not isinstance(document.value, Mapping):
        problem = Problem("run-option-value", (), "a run file should be a mapping", "write option: value")
        return RunFile({}, (finding_at(document, problem),))
    options, context = _options(command), click.Context(command)
    values: dict[str, Any] = {}
    findings: list[Finding] = []
    for key, value in document.value.items():
        option = options.get(_option_name(str(key)))
        if option is None:
            remedy = spelling_remedy(_option_name(str(key)), options)
            findings.append(finding_at(document, Problem("run-option-unknown", (key,), f"no option {key!r}", remedy)))
            continue
        given = [value] if option.multiple and not isinstance(value, list) else value
        problem_text = _problem(option, given, context)
        if problem_text:
            remedy = f"see `sirocco run --help` for --{_option_name(str(key))}"
            findings.append(finding_at(document, Problem("run-option-value", (key,), problem_text, remedy)))
        elif option.name is not None:
            values[option.name] = given
    return RunFile(values, tuple(findings))


def _problem(option: click.Parameter, value: Any, context: click.Context) -> str:
    """Why an option does not accept a value; empty if it does."""
    many = option.multiple
    if value is None or (many and None in value):
        return "there is no value"
    if not many and isinstance(value, list | dict):
        return "one value is wanted"
    if isinstance(option, click.Option) and option.is_flag and not isinstance(value, bool):
        return f"{value!r} is neither true nor false"
    try:
        option.type_cast_value(context, value)
    except click.ClickException as error:
        return error.message.rstrip(".")
    return ""
