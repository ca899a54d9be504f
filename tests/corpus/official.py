"""The standard's own package as test input: its scenarios, parsed from where they lie."""

from collections.abc import Iterator
from pathlib import Path

from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.overlay import Overlay, overlay_for
from sirocco.profiles.parse import parse
from sirocco.profiles.yaml_text import read_yaml

PROFILE = ("oasis-profile-software-infrastructure", "0.2.0-rc3")


def overlay() -> Overlay:
    found = overlay_for(KUBERNETES, *PROFILE)
    assert found is not None
    return found


def scenarios(package: Path, classification: str = "*") -> Iterator[Scenario]:
    for path in sorted((package / "scenarios").glob(f"{classification}/*.yaml")):
        for node in read_yaml(path.read_text(), path.name).documents:
            if node.value is not None:
                parsed = parse(Scenario, node)
                assert parsed.noun is not None, parsed.findings
                yield parsed.noun
