"""The bundle itself: files in, one signed and encrypted text out, and back only for those who may."""

import json

import pytest

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json
from sirocco.reserved.age import keygen
from sirocco.reserved.bundle import open_bundle, seal_files
from sirocco.reserved.signing import Signer

FILES = {"grammar/verbs.yaml": "- prüfen\n".encode(), "lexicon.txt": b"saffron-lantern\n"}


@pytest.fixture
def owner():
    return Signer.generate()


@pytest.fixture
def reader():
    return keygen()


@pytest.mark.requirement("AV-19", "SI-06")
def test_files_come_back_for_each_recipient_and_show_nothing(owner, reader):
    other = keygen()
    data = seal_files(FILES, [reader.recipient, other.recipient], owner, "material", {"name": "verbs"})
    assert b"saffron" not in data
    for pair in (reader, other):
        assert open_bundle(data, [pair], "material", maintainers=[owner.public]) == FILES


@pytest.mark.requirement("SI-06")
def test_a_bundle_by_a_stranger_is_refused(owner, reader):
    data = seal_files(FILES, [reader.recipient], Signer.generate(), "material")
    with pytest.raises(ReservedError, match="somebody who is not a maintainer"):
        open_bundle(data, [reader], "material", maintainers=[owner.public])


@pytest.mark.requirement("SI-06")
def test_a_strangers_bundle_under_a_maintainers_name_is_refused(owner, reader):
    stranger = seal_files(FILES, [reader.recipient], Signer.generate(), "material")
    document = json.loads(stranger)
    document["signature"]["key"] = owner.public
    with pytest.raises(ReservedError, match="signature does not hold"):
        open_bundle((canonical_json(document) + "\n").encode(), [reader], "material", maintainers=[owner.public])


def test_what_the_maintainer_says_of_a_bundle_is_signed_too(owner, reader):
    data = seal_files(FILES, [reader.recipient], owner, "material", {"name": "verbs"})
    with pytest.raises(ReservedError, match="signature does not hold"):
        open_bundle(
            data.replace(b'"name":"verbs"', b'"name":"nouns"'), [reader], "material", maintainers=[owner.public]
        )


def test_material_is_not_taken_for_scenarios(owner, reader):
    data = seal_files(FILES, [reader.recipient], owner, "material")
    with pytest.raises(ReservedError, match="kind material, not reserved"):
        open_bundle(data, [reader], "reserved", maintainers=[owner.public])


def test_bytes_that_are_no_text_are_refused_before_anything_is_sealed(owner, reader):
    with pytest.raises(ReservedError, match="not UTF-8"):
        seal_files({"a.bin": b"\xff"}, [reader.recipient], owner, "material")


def test_a_signers_repr_shows_no_private_key(owner):
    assert owner.pem().decode().splitlines()[1] not in repr(owner)
