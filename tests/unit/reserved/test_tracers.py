"""Tracers: every evaluator gets others, nothing in a bundle tells which they are, and a leaked text names its bundle."""

import pytest

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json
from sirocco.reserved.age import keygen
from sirocco.reserved.seal import seal
from sirocco.reserved.tracers import tracer_shares, traces
from sirocco.reserved.vault import inspect, open_scenarios

OTHERS = {"archetype": "S-DO-001"}


@pytest.fixture(scope="module")
def evaluators():
    return [keygen(), keygen()]


@pytest.fixture(scope="module")
def bundles(scenario, profile, edition, owner, salts, evaluators):
    """Three scenarios for all, and two more for each of two evaluators."""
    shares = [[scenario(11), scenario(12, **OTHERS)], [scenario(21), scenario(22, **OTHERS)]]
    recipients = [pair.recipient for pair in evaluators]
    terms = {"profile": profile, "edition": edition, "recipients": recipients, "signer": owner, "salt": salts(5)}
    return seal([scenario(1), scenario(2), scenario(3)], **terms, tracers=shares)


@pytest.fixture(scope="module")
def opening(profile, owner):
    def opened(bundle, *keys):
        data, trusted = bundle.text().encode(), [owner.public]
        return open_scenarios(data, keys, profile=profile, maintainers=trusted, where="bundle")

    return opened


@pytest.mark.requirement("AV-19", "SI-06")
def test_each_evaluator_opens_the_common_scenarios_and_their_own_tracers_only(bundles, evaluators, opening, marker):
    numbers = []
    for bundle, own, other in zip(bundles, evaluators, reversed(evaluators), strict=True):
        ids = {document["id"].removeprefix(f"k8s.safety.{marker}-") for document in opening(bundle, own).documents}
        numbers.append(ids)
        with pytest.raises(ReservedError, match="no given identity"):
            opening(bundle, other)
    assert numbers == [{"001", "002", "003", "011", "012"}, {"001", "002", "003", "021", "022"}]


@pytest.mark.requirement("SI-06")
def test_all_bundles_have_one_manifest_that_commits_to_every_scenario_of_each(bundles, auditor, opening):
    first, second = (inspect(bundle.text().encode(), "bundle") for bundle in bundles)
    assert first == second
    assert first.manifest.counts.total == 5
    assert first.manifest.tracers == 2
    assert len(first.manifest.commitments) == 7
    found = {one for bundle in bundles for one in opening(bundle, auditor).commitments}
    assert found == set(first.manifest.commitments)


@pytest.mark.requirement("SI-06")
def test_a_manifest_with_room_for_scenarios_that_no_bundle_has_is_refused_without_a_key(bundles, forged):
    manifest = bundles[0].manifest
    for changed in ({"tracers": 1}, {"tracers": 6}, {"sealed_digests": [manifest.sealed_digests[0]]}):
        with pytest.raises(ReservedError, match=r"commitments|tracers|altered"):
            inspect(forged(bundles[0], manifest=changed), "bundle")


def test_nothing_that_an_evaluator_opens_tells_which_scenarios_are_tracers(bundles, evaluators, opening):
    opened = opening(bundles[0], evaluators[0])
    assert set(opened.since) == {1}
    assert list(opened.commitments) == sorted(opened.commitments)
    assert "tracer" not in canonical_json([dict(document) for document in opened.documents])


def test_evaluators_get_equal_shares_of_every_archetype_drawn_by_chance(scenario):
    documents = [scenario(number) for number in range(4)] + [scenario(number, **OTHERS) for number in range(4, 6)]
    shares = tracer_shares(documents, 2, lambda group: group.reverse())
    assert [sorted(one["archetype"] for one in share) for share in shares] == [["S-DO-001", "S-DO-002", "S-DO-002"]] * 2
    assert {one["id"] for share in shares for one in share} == {one["id"] for one in documents}
    assert shares[0][0] == documents[3]
    assert tracer_shares([], 1, lambda _: None) == ()


def test_tracers_that_cannot_be_shared_evenly_are_refused(scenario, marker):
    documents = [scenario(1), scenario(2), scenario(3)]
    with pytest.raises(ReservedError, match="3 of archetype S-DO-002 cannot be shared evenly by 2") as caught:
        tracer_shares(documents, 2, lambda _: None)
    assert marker not in str(caught.value)
    with pytest.raises(ReservedError, match="one evaluator"):
        tracer_shares(documents, 1, lambda _: None)


def test_unequal_shares_are_not_sealed(scenario, profile, edition, owner, salts, evaluators):
    recipients = [pair.recipient for pair in evaluators]
    terms = {"profile": profile, "edition": edition, "recipients": recipients, "signer": owner, "salt": salts(5)}
    with pytest.raises(ReservedError, match="different numbers"):
        seal([scenario(1)], **terms, tracers=[[scenario(2)], [scenario(3, **OTHERS)]])


@pytest.mark.requirement("SI-06")
def test_a_leaked_text_names_the_bundle_whose_own_words_it_holds():
    common = {"id": "withheld.pier-7"}
    bundles = {"a.json": [common, {"id": "withheld.heron-11"}], "b.json": [common, {"id": "withheld.egret-21"}]}
    texts = {
        "common": "about withheld.pier-7",
        "from b": "withheld.pier-7 and withheld.egret-21",
        "from both": "withheld.heron-11 withheld.egret-21",
        "clean": "withheld nothing",
    }
    found = {one.text: dict(one.sources) for one in traces(texts, bundles, ["nothing is withheld here"])}
    assert found == {"common": {}, "from b": {("b.json",): 1}, "from both": {("a.json",): 1, ("b.json",): 1}}
    alone = traces(texts, {"a.json": bundles["a.json"]}, [])
    assert [dict(one.sources) for one in alone] == [{}, {}, {}]


@pytest.mark.requirement("SI-06")
def test_what_two_evaluators_take_for_common_names_them_both(
    scenario, profile, edition, owner, salts, auditor, opening
):
    tracers = [scenario(number, intent=f"a withheld tale called egret-{number}-tale") for number in range(11, 17)]
    shares = tracer_shares(tracers, 3, lambda _: None, holders=2)
    terms = {"profile": profile, "edition": edition, "signer": owner, "salt": salts(5), "tracer_holders": 2}
    recipients = [keygen().recipient for _ in range(3)]
    made = seal([scenario(1), scenario(2)], **terms, recipients=recipients, tracers=shares)
    manifest = made[0].manifest
    assert (manifest.counts.total, manifest.tracers, len(manifest.commitments)) == (6, 4, 8)
    opened = [opening(bundle, auditor).documents for bundle in made]
    ids = [{str(one["id"]) for one in documents} for documents in opened]
    first, second = ({str(one["id"]): one for one in documents} for documents in opened[:2])
    # They compare their bundles and pass on only what both have; in there are tracers that the third does not have.
    passed_on = [first[one] for one in sorted(first.keys() & second.keys())]
    assert len(passed_on) == 4
    assert len(ids[0] & ids[1] & ids[2]) == 2
    bundles = dict(zip(("a", "b", "c"), opened, strict=True))
    (found,) = traces({"leak": canonical_json([dict(one) for one in passed_on])}, bundles, [])
    assert set(found.sources) == {("a", "b")}


def test_two_tracers_under_one_id_are_refused(scenario, profile, edition, owner, salts, evaluators):
    recipients = [pair.recipient for pair in evaluators]
    terms = {"profile": profile, "edition": edition, "recipients": recipients, "signer": owner, "salt": salts(5)}
    with pytest.raises(ReservedError, match="scenarios 2 and 3 have the same id"):
        seal([scenario(1)], **terms, tracers=[[scenario(2)], [scenario(2, intent="Another one")]])


@pytest.mark.requirement("SI-06")
def test_tracers_that_all_evaluators_hold_are_none(scenario):
    with pytest.raises(ReservedError, match="what 2 hold is no tracer among 2"):
        tracer_shares([scenario(1), scenario(2)], 2, lambda _: None, holders=2)
    with pytest.raises(ReservedError, match="give a multiple of 3"):
        tracer_shares([scenario(1), scenario(2)], 3, lambda _: None, holders=2)
