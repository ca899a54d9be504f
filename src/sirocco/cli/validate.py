"""`sirocco validate`: findings in profiles, scenarios, suites, probes and run files."""

import importlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.run_file import is_run_file, read_run_file
from sirocco.cli.terminal import console, count_phrase, one_line, print_findings, print_json
from sirocco.errors import ConfigError, Finding, Severity
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import LoadedProfile, load_profile, load_scenario_file, load_suite
from sirocco.profiles.read import (
    MARKDOWN_FILES,
    MAX_BYTES,
    PROFILE_FILE,
    SCENARIOS_FOLDER,
    STIMULI_FILE,
    SUITES_FOLDER,
    Form,
    SourceFile,
    read_file,
)
from sirocco.profiles.rules import RULES
from sirocco.profiles.yaml_text import read_yaml
from sirocco.wiring import profile_source
from sirocco.wiring.domains import domain_for
from sirocco.wiring.profile_source import is_profile

STDIN = "-"
SUITE_KEYS = {"domain_profile", "scenarios"}
# The files that loading a profile reads; other files in its folder are checked separately.
PROFILE_PARTS = {PROFILE_FILE, STIMULI_FILE, SCENARIOS_FOLDER, SUITES_FOLDER, *MARKDOWN_FILES}
_SUFFIXES = {".yaml", ".yml"}


def rules_table() -> str:
    """All rules as a Markdown table: what each requires, and how severe a violation is for whom."""
    head = ("rule", "native", "standard's package", "`--strict`", "an input passes when")
    rows = [(f"`{rule.id}`", rule.severity, rule.official, rule.strict, rule.asks) for rule in RULES.values()]
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _print_rules(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if wanted:
        console().print(rules_table(), end="")
        context.exit()


@click.command("validate", epilog="Example: sirocco validate my-profile/ runs/demo/memorizer/adversarial/probe-*.yaml")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option(
    "--profile",
    help="Profile that single files belong to.  [default: the profile that contains them, or the bundled one]",
)
@click.option("--strict", is_flag=True, help="For authors: treat missing recommended parts as errors.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "concise", "json"]),
    default="text",
    show_default=True,
    help="Findings with their source lines, one line each, or JSON.",
)
@click.option(
    "--rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_rules,
    help="List the rules with their severities and exit.",
)
def command(*, paths: tuple[Path, ...], profile: str | None, strict: bool, output: str) -> int:
    """Check profile folders, scenarios, suites, probes and run files, and report every problem with its location.

    Each finding begins with one line: file:line:column rule problem; remedy. A folder means everything in it, and `-`
    means standard input. The exit code is 2 if there is an error.
    """
    validation = _Validation(profile, strict=strict)
    for path in paths:
        validation.check(path)
    findings = validation.in_order()
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    if output == "json":
        print_json(_document(findings, errors))
    else:
        out = console()
        print_findings(findings, out=out, texts=validation.texts, concise=output == "concise")
        if findings and output == "text":
            out.print()
        out.print(_summary(findings, errors))
        for line in validation.evaluable_lines():
            out.print(one_line(line))
    return int(ExitCode.INVALID if errors else ExitCode.OK)


@dataclass
class _Validation:
    """All findings so far; a file is checked once, however often it is named."""

    profile: str | None
    strict: bool
    texts: dict[str, str] = field(default_factory=dict)
    _profiles: dict[Path, LoadedProfile] = field(default_factory=dict)
    _homes: dict[str, Profile] = field(default_factory=dict)
    _found: dict[Finding, None] = field(default_factory=dict)

    def in_order(self) -> list[Finding]:
        """The findings by file and place."""
        return sorted(self._found, key=lambda finding: (finding.place, finding.rule, finding.path))

    def evaluable_lines(self) -> Iterator[str]:
        """How much of a standard package can be evaluated; in a native profile, everything must be."""
        for folder, loaded in self._profiles.items():
            if loaded.profile is not None and loaded.form is Form.OFFICIAL:
                evaluable = len(loaded.profile.scenarios)
                number = count_phrase(evaluable + len(loaded.unbound), "scenario")
                yield f"{folder}: {evaluable} of {number} can be evaluated"

    def check(self, path: Path) -> None:
        """Check everything at a path."""
        if str(path) == STDIN:
            self._add(self._of_text(sys.stdin.buffer.read(MAX_BYTES + 1), STDIN))
            return
        try:
            subjects = list(_subjects(path))
        except OSError as error:
            raise ConfigError(error.filename, error.strerror or "cannot be read", "make it readable") from error
        if not subjects:
            raise ConfigError(
                path, "it contains neither a profile nor a YAML file", "name a file, or the folder of a profile"
            )
        for subject in subjects:
            self._add(self._of_profile(subject) if is_profile(subject) else self._of_file(subject))

    def _add(self, findings: Iterable[Finding]) -> None:
        self._found |= dict.fromkeys(findings)

    def _of_profile(self, folder: Path) -> tuple[Finding, ...]:
        if folder not in self._profiles:
            self._profiles[folder] = load_profile(folder, domain_for, strict=self.strict)
        return self._profiles[folder].findings

    def _of_file(self, path: Path) -> tuple[Finding, ...]:
        """A file on its own, or as part of the profile in whose folder it is."""
        if not path.is_file():
            with path.open("rb") as pipe:
                return self._of_text(pipe.read(MAX_BYTES + 1), str(path))
        if self.profile is not None:
            return self._of_single_file(path, self.profile)
        file = path.absolute()
        folder = next(filter(is_profile, file.parents), None)
        if folder is None:
            return self._of_single_file(path, profile_source.BUNDLED)
        if file.relative_to(folder).parts[0] not in PROFILE_PARTS:
            return self._of_single_file(path, str(folder))
        return _with_file(
            (finding for finding in self._of_profile(folder) if finding.place.file == str(file)), str(path)
        )

    def _of_single_file(self, path: Path, profile: str) -> tuple[Finding, ...]:
        """A file of scenarios, probes or a suite, by the rules that need no other file."""
        documents = _documents(path)
        run = importlib.import_module("sirocco.cli.run").command if any(map(_may_be_run_file, documents)) else None
        if run is not None and any(is_run_file(document, run) for document in documents):
            return read_run_file(path, run).findings
        if profile not in self._homes:
            self._homes[profile] = profile_source.required_profile(profile)[0]
        load = load_suite if any(map(_is_suite, documents)) else load_scenario_file
        return load(path, self._homes[profile], strict=self.strict).findings

    def _of_text(self, content: bytes, name: str) -> tuple[Finding, ...]:
        """Text from a pipe; it is kept, because it cannot be read again."""
        self.texts[name] = content.decode(errors="replace")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "piped.yaml"
            file.write_bytes(content)
            return _with_file(self._of_single_file(file, self.profile or profile_source.BUNDLED), name)


def _with_file(findings: Iterable[Finding], file: str) -> tuple[Finding, ...]:
    return tuple(replace(finding, place=replace(finding.place, file=file)) for finding in findings)


def _documents(path: Path) -> tuple[Any, ...]:
    file = read_file(path)
    documents = read_yaml(file.text, file.name).documents if isinstance(file, SourceFile) else ()
    return tuple(document.value for document in documents)


def _is_suite(document: object) -> bool:
    """Whether a document has keys that only suites have."""
    return isinstance(document, Mapping) and not SUITE_KEYS.isdisjoint(document)


def _may_be_run_file(document: object) -> bool:
    """Whether loading the command to check is worthwhile; a scenario and a suite have an id."""
    return isinstance(document, Mapping) and "id" not in document and not _is_suite(document)


def _subjects(path: Path) -> Iterator[Path]:
    """The profiles and files at a path, in order of name."""
    if not path.is_dir() or is_profile(path):
        yield path
        return
    for entry in sorted(path.iterdir()):
        # A symlinked folder could lead back here.
        is_folder = entry.is_dir() and not entry.is_symlink()
        if (entry.suffix in _SUFFIXES and entry.is_file()) or (is_folder and not entry.name.startswith(".")):
            yield from _subjects(entry)


def _summary(findings: list[Finding], errors: int) -> str:
    if not findings:
        return "no findings"
    files = len({finding.place.file for finding in findings})
    warnings = count_phrase(len(findings) - errors, "warning")
    return f"{count_phrase(errors, 'error')}, {warnings} in {count_phrase(files, 'file')}"


def _document(findings: list[Finding], errors: int) -> dict[str, Any]:
    rows = []
    for finding in findings:
        row = asdict(finding)
        rows.append({"severity": str(row.pop("severity")), **row.pop("place"), **row})
    return {"findings": rows, "summary": {"errors": errors, "warnings": len(findings) - errors}}
