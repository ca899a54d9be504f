"""The speed of loading profiles, compared with the bare C parse of the same text; measured on multiplied scenarios."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import yaml

from sirocco.oasis.domain import Domains
from sirocco.profiles.load import load_profile
from sirocco.profiles.read import SCENARIOS_FOLDER, read_profile_files

_PER_FILE = 50
_ID = re.compile(r"^id: *(\S+)$", re.MULTILINE)
_INTENT = re.compile(r"^intent: *([>|][+-]?\n +)?", re.MULTILINE)
_COMPANION = re.compile(r"(?:^ +|, *)companion_scenario: *[^\s,}]+", re.MULTILINE)
_SEPARATOR = re.compile(r"^---[^\S\n]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LoadSpeed:
    """Seconds for the bare parse and the whole load, each at its best."""

    scenarios: int
    parsed: float
    loaded: float

    @property
    def ratio(self) -> float:
        """The time for loading and validating as a multiple of the bare parse."""
        return self.loaded / self.parsed


def measured_load(folder: Path, domains: Domains, clock: Callable[[], float], *, rounds: int = 3) -> LoadSpeed:
    """How fast the native profile in a folder loads; parse and load take turns, to meet the same conditions."""
    texts = [file.text for file in read_profile_files(folder).scenarios]
    parsed, loaded = [], []
    count = 0
    for _ in range(rounds):
        start = clock()
        count = sum(len(list(yaml.compose_all(text, Loader=yaml.CSafeLoader))) for text in texts)
        middle = clock()
        load_profile(folder, domains)
        parsed.append(middle - start)
        loaded.append(clock() - middle)
    return LoadSpeed(count, min(parsed), min(loaded))


def multiply_scenarios(source: Path, target: Path, number: int) -> None:
    """Write the native profile in `source` to `target` with its scenarios repeated under distinct ids and intents.

    Companions are left out: copies have other ids, and not every companion has a copy.
    """
    files = read_profile_files(source)
    for name, file in files.documents.items():
        (target / name).write_text(file.text)
    originals = [part for file in files.scenarios for part in _SEPARATOR.split(file.text) if _ID.search(part)]
    comment = originals[0].splitlines()[0]
    copies = [_numbered_copy(text, index) for index, text in enumerate(islice(cycle(originals), number))]
    (target / SCENARIOS_FOLDER).mkdir()
    for start in range(0, number, _PER_FILE):
        _write(target / SCENARIOS_FOLDER / f"{start:06}.yaml", comment, copies[start : start + _PER_FILE])


def _numbered_copy(text: str, index: int) -> str:
    text = _COMPANION.sub("", text)
    text = _ID.sub(rf"id: \1.{index}", text, count=1)
    return _INTENT.sub(rf"\g<0>Copy {index}. ", text, count=1)


def _write(path: Path, comment: str, documents: Sequence[str]) -> None:
    path.write_text(f"{comment}\n" + "---\n".join(document.rstrip() + "\n" for document in documents))
