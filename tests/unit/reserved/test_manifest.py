"""Commitments, counts and the contents that a manifest follows from."""

import pytest
from pydantic import ValidationError

from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.errors import ReservedError
from sirocco.oasis.archetype import Classification
from sirocco.oasis.canonical import digest
from sirocco.oasis.profile import Profile, ProfileDocument
from sirocco.reserved.manifest import Contents, Counts, ProfileReference, commitment, counts

SALT = "00" * 32


@pytest.mark.requirement("SI-06")
def test_a_commitment_follows_from_salt_and_document_whatever_the_order_of_keys(scenario):
    document = scenario()
    reordered = dict(reversed(document.items()))
    assert commitment(reordered, SALT) == commitment(document, SALT)


@pytest.mark.requirement("SI-06")
def test_another_salt_or_any_other_content_gives_another_commitment(scenario):
    original = commitment(scenario(), SALT)
    others = [
        commitment(scenario(), "01" * 32),
        commitment(scenario(tier=2), SALT),
        commitment(scenario(description=None), SALT),
        commitment(scenario(name="removal"), SALT),
    ]
    assert len({original, *others}) == 5


def test_a_commitment_is_not_the_bare_digest_that_a_guess_could_be_checked_against(scenario):
    assert digest(scenario()) != commitment(scenario(), SALT)


@pytest.mark.requirement("AV-19", "AV-21")
def test_counts_cover_classification_category_and_archetype(scenario):
    diagnosis = {"classification": "capability", "category": "diagnostic-accuracy", "archetype": "C-DA-001"}
    documents = [scenario(1), scenario(2), scenario(3, archetype="S-DO-001"), scenario(4, **diagnosis)]
    assert counts(documents, "set") == Counts(
        total=4,
        classifications={Classification.SAFETY: 3, Classification.CAPABILITY: 1},
        categories={"destructive-operations": 3, "diagnostic-accuracy": 1},
        archetypes={"S-DO-002": 2, "S-DO-001": 1, "C-DA-001": 1},
    )


def test_a_scenario_that_cannot_be_counted_is_named_by_number_and_field_only(scenario, marker, everything_said):
    broken = scenario(2, classification=f"{marker}-class", archetype=[marker])
    with pytest.raises(ReservedError, match="scenario 2 has no valid archetype, classification") as caught:
        counts([scenario(1), broken], "set")
    assert marker not in everything_said(caught.value)


def test_two_scenarios_with_one_id_are_named_by_number_only(scenario, marker, everything_said):
    with pytest.raises(ReservedError, match="scenarios 2 and 4 have the same id") as caught:
        counts([scenario(1), scenario(2), scenario(3), scenario(2, tier=2)], "set")
    assert marker not in everything_said(caught.value)


@pytest.mark.parametrize("group", ["classifications", "categories", "archetypes"])
def test_counts_that_do_not_add_up_cannot_be_built(group):
    right = {"classifications": {"safety": 2}, "categories": {"a": 1, "b": 1}, "archetypes": {"A": 2}}
    Counts.model_validate({"total": 2} | right)
    with pytest.raises(ValidationError, match="add up"):
        Counts.model_validate({"total": 2} | right | {group: {"safety": 3}})


@pytest.mark.parametrize("salts", [(), (SALT, SALT)])
def test_contents_without_one_salt_for_each_scenario_cannot_be_built(salts, scenario, profile):
    with pytest.raises(ValidationError, match="as many salts and editions as scenarios"):
        Contents(profile=profile, salts=salts, since=(1,), scenarios=(scenario(),))


def test_contents_that_cannot_be_built_are_not_quoted(scenario, profile, marker):
    with pytest.raises(ValidationError) as caught:
        Contents.model_validate(
            {"profile": profile, "salts": [marker], "since": [1], "scenarios": [scenario()], "format": marker}
        )
    assert marker not in str(caught.value) + repr(caught.value)


def test_contents_show_neither_scenarios_nor_salts(scenario, profile, marker):
    contents = Contents(profile=profile, salts=(SALT,), since=(1,), scenarios=(scenario(),))
    assert marker not in repr(contents) + str(contents)
    assert SALT not in repr(contents) + str(contents)


def test_a_reference_names_a_loaded_profile_and_its_content():
    document = ProfileDocument(
        id="harbour-operations",
        name="Harbour operations",
        version="1.4.0",
        description="Operations of a harbour.",
        oasis_core="1.0.0-rc1.5",
        canary="none",
        licence="Apache-2.0",
        vocabulary={},
        categories=(),
        archetypes=(),
        tiers=(),
        conformance={},
    )
    profile = Profile(document=document, scenarios=(), domain=KUBERNETES)
    reference = ProfileReference.from_profile(profile)
    assert str(reference) == "harbour-operations 1.4.0"
    assert reference.document()["digest"] == profile.digest()
