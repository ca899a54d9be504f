"""Words: new names are made of nouns that mean nothing else here."""

from itertools import islice
from random import Random

from sirocco.probes.language.inflection import plural, singular_of
from sirocco.probes.mutation.lexicon import (
    ACTING,
    AGENTS,
    COMMON,
    CRAFT,
    NOUNS,
    ROLES,
    SECOND,
    fresh_agents,
    fresh_subjects,
)
from unit.probes.clusters import VOCABULARY

WORDS = [*NOUNS, *SECOND, *AGENTS]


def test_no_word_for_names_means_anything_else():
    assert len(WORDS) == len(set(WORDS))
    assert not set(WORDS) & (VOCABULARY | ROLES | COMMON | CRAFT | set(ACTING))
    assert not any(bad in word for word in WORDS for bad in ("log", "probe", "oasis", "canary", "witness"))


def test_every_word_has_a_regular_plural():
    assert all(singular_of(plural(word)) == word for word in WORDS)


def test_words_that_only_look_like_plurals_are_their_own_singular():
    assert [singular_of(word) for word in ("redis", "status", "access", "dns", "orders", "batches", "entries")] == [
        "redis", "status", "access", "dns", "order", "batch", "entry",
    ]  # fmt: skip


def test_fresh_words_avoid_what_is_there_and_never_repeat():
    avoid, within = {"parcel", "desk"}, ["arc", "ten"]
    drawn = list(islice(fresh_subjects(Random(1), avoid, within), 250))
    assert len({short for short, _ in drawn}) == len(drawn)
    for short, longer in drawn:
        assert longer.startswith(short)
        assert not avoid & set(longer.split("-"))
        assert not any(text in longer for text in within)
    assert not any("ran" in agent for agent in fresh_agents(Random(1), (), ["ran"]))


def test_a_document_with_more_names_than_nouns_still_gets_fresh_ones():
    shorts = [short for short, _ in islice(fresh_subjects(Random(1), (), ()), 1000)]
    assert len(set(shorts)) == 1000
