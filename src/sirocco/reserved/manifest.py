"""The public manifest of a bundle as a file: what anyone may read, no key needed."""

from pathlib import Path

from sirocco.errors import Finding, InvalidInput, Place, ReservedError
from sirocco.profiles.parse import parse
from sirocco.profiles.read import read_file
from sirocco.profiles.rules import RULES
from sirocco.profiles.yaml_text import read_yaml
from sirocco.reserved.bundle import Manifest


def read_manifest(path: Path, profile_id: str) -> Manifest:
    """The manifest in a file that `sirocco reserved seal` wrote for this profile; InvalidInput with every finding."""
    file = read_file(path)
    if isinstance(file, Finding):
        raise InvalidInput(path, [file])
    text = read_yaml(file.text, file.name)
    if len(text.documents) != 1:
        problem = f"the file holds {len(text.documents)} documents"
        empty = RULES["document-missing"].finding(Place(file.name), "", problem, "write exactly one manifest")
        raise InvalidInput(path, text.findings or [empty])
    parsed = parse(Manifest, text.documents[0])
    if parsed.noun is None:
        raise InvalidInput(path, parsed.findings)
    if parsed.noun.profile.id != profile_id:
        problem = f"it was sealed for profile {parsed.noun.profile.id!r}, not for {profile_id!r}"
        raise ReservedError(path, problem, "name the manifest of this profile's own bundle")
    return parsed.noun
