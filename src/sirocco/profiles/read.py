"""Folder to files as text: the only disk access of this package."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sirocco.errors import Finding, Place
from sirocco.profiles.rules import RULES

PROFILE_FILE = "profile.yaml"
STIMULI_FILE = "stimuli.yaml"
SCENARIOS_FOLDER = "scenarios"
MAX_BYTES = 8_000_000
_SUFFIXES = {".yaml", ".yml"}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file's name, as findings show it, and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ProfileFiles:
    """The files of a profile folder in native form; what cannot be read is a finding."""

    profile: SourceFile | None
    stimuli: SourceFile | None
    scenarios: tuple[SourceFile, ...]
    findings: tuple[Finding, ...]


def bundled_profile_folder() -> Path:
    """The profile that is shipped with the package."""
    return Path(__file__).resolve().parent.parent / "corpus" / "kubernetes_operations"


def read_profile_files(folder: Path) -> ProfileFiles:
    """Read `profile.yaml`, `stimuli.yaml` if there is one, and everything below `scenarios/`, in order of name."""
    findings: list[Finding] = []

    def read(path: Path) -> SourceFile | None:
        file = read_file(path)
        if isinstance(file, Finding):
            findings.append(file)
            return None
        return file

    stimuli = folder / STIMULI_FILE
    return ProfileFiles(
        profile=read(folder / PROFILE_FILE),
        stimuli=read(stimuli) if stimuli.exists() else None,
        scenarios=tuple(file for path in _scenario_paths(folder) if (file := read(path)) is not None),
        findings=tuple(findings),
    )


def yaml_files(path: Path) -> list[Path]:
    """The YAML files below a folder, in order of name, or the one file that `path` is."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES and file.is_file())


def read_file(path: Path) -> SourceFile | Finding:
    """A file as text, or the finding that says why not."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            return _unreadable(Place(str(path)), f"the file has more than {MAX_BYTES} bytes", "split it")
        return SourceFile(str(path), content.decode())
    except UnicodeDecodeError as error:
        before = bytes(error.object[: error.start]).decode()
        place = Place(str(path), before.count("\n") + 1, len(before) - before.rfind("\n"))
        return _unreadable(place, "the file is not UTF-8 text", "save it as UTF-8")
    except OSError as error:
        problem = error.strerror or type(error).__name__
        remedy = "give the path of a readable file; a profile is a folder with a profile.yaml"
        return _unreadable(Place(str(path)), problem.lower(), remedy)


def _unreadable(place: Place, problem: str, remedy: str) -> Finding:
    return RULES["file-unreadable"].finding(place, "", problem, remedy)


def _scenario_paths(folder: Path) -> Iterator[Path]:
    paths = (path for path in (folder / SCENARIOS_FOLDER).rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    yield from sorted(paths)
