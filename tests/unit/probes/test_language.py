"""The grammar: planned texts in words, with every request in its place, from material that is data."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.domains.kubernetes.probes.kit import KIT
from sirocco.domains.kubernetes.probes.render import cluster_material
from sirocco.errors import ConfigError
from sirocco.probes.language.acts import (
    Aside,
    Ask,
    Claim,
    Closing,
    Condition,
    Deed,
    Greeting,
    Mention,
    Motive,
    Pointer,
    Quote,
    Report,
    TextPlan,
    Thing,
    Verbatim,
)
from sirocco.probes.language.inflection import gerund, participle, with_articles
from sirocco.probes.language.material import Material, material_faults, parse_material
from sirocco.probes.language.rendering import render_text
from sirocco.probes.language.slips import with_slips
from sirocco.probes.language.speech import PlainestChoice
from sirocco.probes.language.template import TemplateError, read_template, symbols
from sirocco.probes.mutation.generator import MutationGenerator
from unit.probes.town import town_profile

MATERIAL = cluster_material()
ENGLISH = MATERIAL.tongue("en")
CHANNELS = sorted(name for name in ENGLISH.rule_names("layout.") if not name.startswith("asked."))
REGISTERS = sorted(ENGLISH.registers.keys() - {"human", "clause"})
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]")
SLOTS = {
    "amount": "3 replicas",
    "count": "3",
    "field": "spec.paused",
    "value": "true",
    "key": "GREETING",
    "item": "label",
    "place": "harbour",
    "recipient": "the ticket",
}

names = st.from_regex(r"[a-z][a-z0-9]{2,9}(-[a-z0-9]{2,7})?", fullmatch=True)
things = st.builds(Thing, st.sampled_from(sorted(ENGLISH.kinds)), names, st.none() | names)
deeds = st.builds(lambda sense, thing: Deed(sense, thing, SLOTS), st.sampled_from(sorted(ENGLISH.senses)), things)
asks = st.builds(Ask, deeds)
claims = sorted(
    tuple(name.split(".", 1)) for name in ENGLISH.rule_names("claim.") if "." in name and "quota" not in name
)
others = st.one_of(
    st.builds(Report, things),
    st.builds(Motive, st.sampled_from(sorted(ENGLISH.senses))),
    st.sampled_from(claims).map(lambda pair: Claim(*pair)),
    st.builds(Pointer, things),
    st.sampled_from(["after", "later", "slow"]).map(lambda kind: Condition(kind, Thing("", "web"))),
    st.sampled_from([Aside(), Greeting(), Closing(), Verbatim("Which one is the newest?")]),
    st.builds(lambda ask: Quote("Mina", (ask,)), asks),
)
plans = st.builds(
    TextPlan,
    st.sampled_from(CHANNELS),
    st.lists(asks | others, min_size=1, max_size=6).map(tuple),
    register=st.sampled_from(REGISTERS),
    about=names,
    trade=st.sampled_from(["", *ENGLISH.trades]),
    one_line=st.booleans(),
)
seeds = st.integers(0, 2**32)


def asked(acts) -> list[Deed]:
    """The deeds that acts ask for, in order."""
    found = []
    for act in acts:
        found += [act.deed] if isinstance(act, Ask) else asked(act.acts) if isinstance(act, Quote) else []
    return found


def test_the_public_material_is_sound():
    assert material_faults(MATERIAL) == []


@given(plans, seeds)
@pytest.mark.requirement("AV-10")
def test_equal_dice_give_an_equal_text(plan, seed):
    assert render_text(plan, MATERIAL, Random(seed)) == render_text(plan, MATERIAL, Random(seed))


@given(plans, seeds)
@pytest.mark.requirement("SI-01")
def test_every_request_has_a_span_that_names_its_object(plan, seed):
    found = render_text(plan, MATERIAL, Random(seed))
    assert [span.deed for span in found.spans] == asked(plan.acts)
    for span in found.spans:
        said = found.text[span.start : span.end]
        assert said.strip() == said
        assert said
        if span.deed.sense != "authenticate":
            assert span.deed.thing.name in said
            assert (span.deed.thing.place or "") in said


@given(asks, st.sampled_from(REGISTERS), seeds)
@pytest.mark.requirement("SI-01")
def test_a_span_is_the_request_and_nothing_else(ask, register, seed):
    before, behind = "Something else comes first.", "Something else comes last!"
    plan = TextPlan("bare", (Verbatim(before), ask, Verbatim(behind)), register=register)
    found = render_text(plan, MATERIAL, Random(seed))
    (span,) = found.spans
    around = found.text[: span.start], found.text[span.end :]
    assert [part.strip(" .;") for part in around] == [before.strip("."), behind]


@given(plans, seeds)
def test_nothing_is_left_open_and_no_mark_or_control_character_stays(plan, seed):
    text = render_text(plan, MATERIAL, Random(seed)).text
    assert not CONTROL.search(text)
    assert not re.search(r"\{[a-z_.]+\}|\bNone\b", text), text
    assert not plan.one_line or "\n" not in text


@given(plans, seeds, st.integers(200, 600))
def test_a_text_keeps_to_the_room_that_there_is_and_to_its_requests(plan, seed, limit):
    tight = TextPlan(**{name: getattr(plan, name) for name in plan.__slots__} | {"limit": limit})
    try:
        found = render_text(tight, MATERIAL, Random(seed))
    except ValueError as error:
        assert "does not fit" in str(error)  # noqa: PT017 - rare, and right where requests alone are too long
        return
    assert len(found.text) <= limit
    assert [span.deed for span in found.spans] == asked(plan.acts)


@given(st.text(max_size=40), seeds)
def test_a_value_stands_in_the_text_as_it_is_but_for_control_characters(value, seed):
    deed = Deed("set_key", Thing("configmap", "rates", "shop"), {"key": "MODE", "value": value})
    text = render_text(TextPlan("bare", (Ask(deed),)), MATERIAL, Random(seed)).text
    assert not CONTROL.search(text)
    if value.isalnum():
        assert value in text


@pytest.mark.parametrize("language", MATERIAL.languages)
def test_every_language_says_what_it_has_a_sense_for(language):
    tongue = MATERIAL.tongue(language)
    for sense in tongue.senses:
        for seed in range(30):
            deed = Deed(sense, Thing("deployment", "web", "shop"), SLOTS)
            plan = TextPlan(
                "any", (Report(Thing("", "till")), Ask(deed), Motive(sense)), language=language, about="till"
            )
            found = render_text(plan, MATERIAL, Random(seed))
            said = found.text[found.spans[0].start : found.spans[0].end]
            assert sense in {"authenticate", "use_token", "give_token"} or ("web" in said and "shop" in said), said


def test_a_thing_can_be_meant_by_its_role_or_by_what_was_said_before():
    by_role = Thing("deployment", "web", role="storefront of the test site", mention=Mention.ROLE)
    earlier = Thing("deployment", "web", mention=Mention.EARLIER)
    for seed in range(20):
        said, again = (
            render_text(TextPlan("bare", (Ask(Deed("restart", thing)),)), MATERIAL, Random(seed)).text
            for thing in (by_role, earlier)
        )
        assert "storefront of the test site" in said
        assert "web" not in said + again


def test_the_texts_of_one_plan_hardly_ever_repeat_a_sentence():
    """SI-09: a request that is rendered a thousand times is worded a thousand ways, but for few."""
    deed = Deed("delete", Thing("deployment", "web", "shop"))
    plans = [TextPlan("prompt", (Motive("delete"), Ask(deed)), register=register) for register in REGISTERS]
    texts = [render_text(plans[seed % len(plans)], MATERIAL, Random(seed)).text for seed in range(1000)]
    assert len(set(texts)) > 980


def rendered(*acts, register="plain", language="en", channel="bare", material=MATERIAL, seeds=40) -> list[str]:
    """The same plan with other dice."""
    plan = TextPlan(channel, acts, register=register, language=language, about="till")
    return [render_text(plan, material, Random(seed)).text for seed in range(seeds)]


def test_what_is_said_of_one_kind_is_said_of_no_other():
    job, claim = (" ".join(rendered(Ask(Deed("delete", Thing(kind, "x-y", "shop"))))) for kind in ("job", "pvc"))
    assert "clear" in job
    assert "clear" not in claim


def test_nobody_sets_a_deadline_for_a_look_or_asks_programs_for_me():
    read = Deed("read", Thing("configmap", "rates", "shop"))
    assert not any(re.search(r" by |when it's done|report back", text) for text in rendered(Ask(read), seeds=200))
    reveal = Deed("reveal", Thing("secret", "rates", "shop"), {"key": "K"})
    for register in ("machine", "log", "written"):
        assert not any(re.search(r"\b(?:me|your)\b", text) for text in rendered(Ask(reveal), register=register))


def test_a_reason_for_several_things_says_it_of_none():
    many = Deed("delete", Thing("job", None, "shop", labels="a=b"))
    assert not any(re.search(r"\bit\b", text) for text in rendered(Motive.of(many)))


def test_steps_are_numbered_each_with_its_reason():
    deeds = [Deed("restart", Thing("deployment", name, "shop")) for name in ("web", "api")]
    acts = [act for deed in deeds for act in (Ask(deed), Motive.of(deed))]
    texts = rendered(*acts, register="written", channel="runbook")
    steps = [re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE) for text in texts]
    numbered = [found for found in steps if found]
    assert numbered
    for found in numbered:
        assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
        assert sum("web" in step or "api" in step for _, step in found) == 2


def test_a_text_has_one_name_for_a_kind_and_no_frame_twice():
    asked = [Ask(Deed("restart", Thing("deployment", name))) for name in ("alpha-a", "beta-b", "gamma-c")]
    for text in rendered(*asked, register="formal"):
        assert not {"deployment ", "Deployment "} <= set(
            re.findall(r"[dD]eployment (?=\w+-)", text.replace(". D", ". d"))
        )
        openings = re.findall(r"(?i)kindly|may I ask you|would be grateful|we would like", text)
        assert len(openings) == len(set(openings))


def test_a_log_line_has_no_capitals_and_full_stops():
    deed = Deed("restart", Thing("deployment", "web-a", "shop"))
    for text in rendered(Report(Thing("", "web-a"), "remedy.restart"), Ask(deed), register="log"):
        assert not text.endswith(".")
        assert text[0] == text[0].lower()


def test_a_language_melts_the_words_that_it_melts():
    deed = Deed("set_image", Thing("deployment", "web", "shop"), {"value": "web:2"})
    said = rendered(Ask(deed), language="es")
    assert any("del deployment" in text for text in said)
    assert not any("de el" in text for text in said)


@pytest.mark.requirement("SI-01")
def test_slips_spare_requests_and_names():
    request, name = "\ue100please delete every single parcel\ue200", "\ue002autumn harvest ledger\ue003"
    for seed in range(200):
        text = with_slips(f"{request} before {name} closes tomorrow morning", Random(seed), 3)
        assert request in text
        assert name in text


def test_a_slip_changes_a_word():
    changed = {with_slips("please wait until tomorrow morning", Random(seed), 1) for seed in range(40)}
    assert len(changed) > 10


def test_the_plainest_choice_is_the_first_of_everything():
    plan = TextPlan("bare", (Ask(Deed("delete", Thing("pvc", "a", "home"))),), register="clause")
    assert render_text(plan, MATERIAL, PlainestChoice()).text == "delete pvc a in namespace home"


@pytest.mark.parametrize(
    ("verb", "going", "gone"),
    [
        ("delete", "deleting", "deleted"),
        ("drop", "dropping", "dropped"),
        ("take", "taking", "taken"),
        ("apply", "applying", "applied"),
        ("put", "putting", "put"),
    ],
)
def test_verbs_are_inflected(verb, going, gone):
    assert (gerund(verb), participle(verb)) == (going, gone)


def test_the_article_goes_by_the_sound():
    assert with_articles("a order and a unit, a apple") == "an order and a unit, an apple"


def test_no_article_is_put_right_in_what_must_stay_as_it_is():
    said = " ".join("restart_DaemonSet_a-e_at_once")
    for seed in range(8):
        assert said in KIT.terms.speech.line("disguised.spaced", Random(seed), do=said, about="web")
    assert "b e" in KIT.terms.speech.line("disguised.spaced", Random(1), do=" b e", about="")


def test_templates_have_references_choices_and_numbers():
    assert symbols(read_template("{a} [b {c}|[d|{e}]|] {2..5} {hex4} {{x}} [plain]")) == {"a", "c", "e"}
    for bad in ("{a", "[a|b", "{5..2}", "{a b}"):
        with pytest.raises(TemplateError):
            read_template(bad)


# Material


def with_file(text: str) -> Material:
    return MATERIAL.with_files([parse_material(text, "more.yaml")])


def test_a_file_adds_to_what_is_there_and_replaces_what_it_says_that_it_replaces():
    added = with_file("language: en\nsenses: {delete: ['bury | {object}']}").tongue("en").senses["delete"]
    assert len(added) == len(ENGLISH.senses["delete"]) + 1
    replaced = with_file("language: en\nsenses: {delete!: ['bury | {object}']}").tongue("en").senses["delete"]
    assert [way["done"] for way in replaced] == ["buried"]
    trades = with_file("language: en\nreplaces: [trades]\ntrades: {circus: {items: [tents]}}").tongue("en").trades
    assert list(trades) == ["circus"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules: {x: [a]}", "language"),
        ("language: en\nrulez: {}", "rulez"),
        ("language: en\nrules: {x: [{text: a, weight: 0}]}", "weight"),
        ("language: en\nrules: [", "not YAML"),
    ],
)
def test_a_file_that_is_no_material_is_refused_with_the_place(text, problem):
    with pytest.raises(ConfigError, match=problem):
        parse_material(text, "more.yaml")


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("aside: ['{nobody} knows']", "'nobody'"),
        ("one: ['{two}'], two: ['{one}']", "leads back to itself"),
        ("aside: ['{']", "not closed"),
        ('aside: ["bell \\a"]', "cannot be part of a text"),
        ("object: [x]", "name of a slot"),
    ],
)
def test_what_rendering_would_stumble_on_is_found_beforehand(rules, problem):
    assert any(problem in str(fault) for fault in material_faults(with_file(f"language: en\nrules: {{{rules}}}")))


@pytest.mark.requirement("AV-10")
def test_the_material_is_part_of_the_configuration():
    """Whoever has the same material repeats the same probes; with another, nobody can take them for the same."""
    other = with_file("language: en\nrules: {person!: [Quirin]}")
    hashes = {MutationGenerator(town_profile(), material).method.config_hash for material in (None, MATERIAL, other)}
    assert len(hashes) == 2
    assert MutationGenerator(town_profile(), other).method.description
    assert KIT.with_material(other).terms.speech.material is other


@pytest.mark.parametrize("trade", sorted(ENGLISH.trades))
def test_what_has_a_date_is_named_once_in_a_text(trade):
    acts = [act for _ in range(2) for act in (Ask(Deed("delete", Thing("job", "x"))), Motive("delete"))]
    events = ENGLISH.trades[trade]["event"]
    for seed in range(15):
        said = render_text(TextPlan("prompt", tuple(acts), trade=trade), MATERIAL, Random(seed)).text
        assert all(said.count(event) <= 1 for event in events), said


def test_what_is_said_of_a_look_differs_from_what_is_said_of_a_repair():
    kinds = [("green", "build"), ("routine", "copy"), ("telemetry", "correlation")]
    for kind, form in kinds:
        of_looks, of_repairs = (
            {
                render_text(TextPlan("bare", (Claim(kind, one),), trade="parcels"), MATERIAL, Random(seed)).text
                for seed in range(40)
            }
            for one in (f"{form}.tell", form)
        )
        assert not of_looks & of_repairs
