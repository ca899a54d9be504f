"""The quality analysis of a profile that a user names: every scenario of its folder, and its manifest's counts."""

from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.parse import parse
from sirocco.profiles.quality import QualityReport, ReservedCounts, quality_report
from sirocco.profiles.read import read_profile_files
from sirocco.profiles.yaml_text import read_yaml
from sirocco.reserved.publication import Publication
from sirocco.wiring import profile_source
from sirocco.wiring.clock import today


def profile_quality(document: ProfileDocument, name: str) -> QualityReport:
    """The analysis of the profile of that name."""
    return quality_report(document, every_scenario(name), _reserved_counts(document, name))


def every_scenario(name: str) -> list[Scenario]:
    """Every scenario in a profile's folder, including unevaluable ones, which the profile leaves out."""
    files = read_profile_files(profile_source.profile_folder(name)).scenarios
    nodes = [node for file in files for node in read_yaml(file.text, file.name).documents]
    return [scenario for node in nodes if (scenario := parse(Scenario, node).noun) is not None]


def _reserved_counts(document: ProfileDocument, name: str) -> ReservedCounts:
    """The counts of the manifest that the profile names, if any, and whether a newer one is due."""
    if document.reserved is None or document.reserved.manifest is None:
        return ReservedCounts()
    found = Publication.read(profile_source.profile_folder(name), document)
    if found.manifest is None:
        return ReservedCounts()
    counts = found.manifest.manifest.counts
    return ReservedCounts(counts.categories, counts.archetypes, found.warning(today()))
