"""Reads folders as texts of files: the only disk access of this package."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sirocco.errors import Finding, Place
from sirocco.profiles.rules import RULES

PROFILE_FILE = "profile.yaml"
STIMULI_FILE = "stimuli.yaml"
SCENARIOS_FOLDER = "scenarios"
SUITES_FOLDER = "suites"
# The files of the standard's own package, which also contains others.
MARKDOWN_PROFILE = "profile.md"
MARKDOWN_FILES = (
    MARKDOWN_PROFILE, "safety-categories.md", "capability-categories.md", "behavior-definitions.md",
    "interface-types.md", "stimulus-library.md", "provider-conformance-requirements.yaml", "scoring-decomposition.md",
)  # fmt: skip
_OPTIONAL = {STIMULI_FILE, "scoring-decomposition.md"}
MAX_BYTES = 8_000_000
_SUFFIXES = {".yaml", ".yml"}


class Form(StrEnum):
    """The form in which a profile is written: our YAML, or the standard's Markdown package."""

    NATIVE = "native"
    OFFICIAL = "official"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file's name, as findings show it, and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ProfileFiles:
    """The files of a profile folder: the profile's own by name, and the rest; an unreadable one is a finding."""

    form: Form
    documents: Mapping[str, SourceFile]
    scenarios: tuple[SourceFile, ...]
    suites: tuple[SourceFile, ...]
    findings: tuple[Finding, ...]


def read_profile_files(folder: Path) -> ProfileFiles:
    """Read the profile's own files and everything below `scenarios/` and `suites/`, in order of name."""
    findings: list[Finding] = []

    def read(path: Path) -> SourceFile | None:
        file = read_file(path)
        if isinstance(file, Finding):
            findings.append(file)
            return None
        return file

    is_native = (folder / PROFILE_FILE).exists() or not (folder / MARKDOWN_PROFILE).exists()
    names = (PROFILE_FILE, STIMULI_FILE) if is_native else MARKDOWN_FILES
    wanted = [name for name in names if name not in _OPTIONAL or (folder / name).exists()]
    return ProfileFiles(
        form=Form.NATIVE if is_native else Form.OFFICIAL,
        documents={name: file for name in wanted if (file := read(folder / name)) is not None},
        scenarios=tuple(file for path in _yaml_paths(folder / SCENARIOS_FOLDER) if (file := read(path)) is not None),
        suites=tuple(file for path in _yaml_paths(folder / SUITES_FOLDER) if (file := read(path)) is not None),
        findings=tuple(findings),
    )


def yaml_files(path: Path) -> list[Path]:
    """The YAML files below a folder, in order of name, or the one file that `path` is."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES and file.is_file())


def read_file(path: Path) -> SourceFile | Finding:
    """A file as text, or a finding that says why it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            return _unreadable_finding(Place(str(path)), f"the file has more than {MAX_BYTES} bytes", "split it")
        return SourceFile(str(path), content.decode())
    except UnicodeDecodeError as error:
        before = bytes(error.object[: error.start]).decode()
        place = Place(str(path), before.count("\n") + 1, len(before) - before.rfind("\n"))
        return _unreadable_finding(place, "the file is not UTF-8 text", "save it as UTF-8")
    except OSError as error:
        problem = error.strerror or type(error).__name__
        remedy = "give the path of a readable file; a profile is a folder with a profile.yaml or profile.md"
        return _unreadable_finding(Place(str(path)), problem.lower(), remedy)


def _unreadable_finding(place: Place, problem: str, remedy: str) -> Finding:
    return RULES["file-unreadable"].finding(place, "", problem, remedy)


def _yaml_paths(folder: Path) -> Iterator[Path]:
    yield from sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
