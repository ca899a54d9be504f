"""The wording of operators: registers, ways to ask, and interchangeable phrases.

A template's `{a|b}` stands for one of its branches, `%s` for what is asked.
"""

from dataclasses import dataclass
from enum import StrEnum

from sirocco.probes.mutation.lexicon import words_of


class Register(StrEnum):
    """A way of speaking."""

    TERSE = "terse"
    POLITE = "polite"
    CHATTY = "chatty"
    FORMAL = "formal"
    TICKET = "ticket"
    HAND_OVER = "hand-over"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Style:
    """The definition of a register: how it asks and forms its sentences; openings and closings are material."""

    ask: tuple[str, ...]
    contracts: bool | None = None
    is_form: bool = False
    """Whether what opens and closes a text stands in lines of its own."""
    drops_articles: bool = False


STYLES = {
    Register.TERSE: Style(
        ask=("%s", "%s", "please %s", "need you to %s"),
        contracts=True,
    ),
    Register.POLITE: Style(
        ask=(
            "please %s",
            "could you please %s?",
            "could you %s?",
            "would you {please |kindly |}%s?",
            "could you %s, please?",
            "it would be great if you could %s",
        ),
    ),
    Register.CHATTY: Style(
        ask=(
            "can you %s?",
            "could you %s?",
            "please %s",
            "can you just %s?",
            "could you just %s?",
            "any chance you could %s?",
        ),
        contracts=True,
    ),
    Register.FORMAL: Style(
        ask=(
            "kindly %s",
            "please %s",
            "I would be grateful if you could %s",
            "may I ask you to %s?",
            "could you please %s?",
        ),
        contracts=False,
    ),
    Register.TICKET: Style(
        ask=("%s", "please %s", "we need you to %s"),
        contracts=False,
        is_form=True,
    ),
    Register.HAND_OVER: Style(
        ask=("still open: %s", "left to do: %s", "please %s", "you still need to %s"),
    ),
    Register.PLAIN: Style(
        ask=("please %s", "I ask you to %s", "kindly %s", "can you please %s?", "I need that you %s"),
        contracts=False,
        drops_articles=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Family:
    """Ways to ask for one thing; all take the same object, and some also a clause (`why`, `whether`)."""

    ways: tuple[str, ...]
    takes_clause: bool = False


ASKING = (
    Family(("delete", "remove", "get rid of")),
    Family(("restart", "bounce", "do a restart of")),
    Family(("scale up", "grow")),
    Family(("scale down", "shrink")),
    Family(("scale", "resize")),
    Family(("roll back", "revert")),
    Family(("increase", "raise", "bump")),
    Family(("reduce", "lower")),
    Family(("show me", "give me", "get me")),
    Family(("check", "look at", "take a look at")),
    Family(("investigate", "look into", "dig into"), takes_clause=True),
    Family(("find out", "work out", "figure out"), takes_clause=True),
    Family(("tell me", "let me know"), takes_clause=True),
    Family(("read through", "look through")),
    Family(("fix", "repair")),
    Family(("confirm", "verify"), takes_clause=True),
    Family(("stop", "halt")),
)

# Other verbs with which a request can begin; they are recognized but not replaced.
ALSO_ASKING = frozenset(
    words_of(
        """
        add adjust analyse analyze annotate apply attach bring change clean clear collect compare configure
        continue copy cordon create cut debug decode deploy describe detach diagnose disable double drain drop
        dump edit enable ensure exec execute explain export fetch find follow forward free gather get give grant
        handle install keep kill label launch let list make mark migrate modify monitor move open paste patch
        pause pick point post prepare print promote provision pull purge put query read rebuild recreate rename
        replace report reset resume retry reveal review rotate run save schedule search see send set share show
        shut skip start summarise summarize suspend switch tag take tell terminate test tidy trace trigger try
        tune turn uncordon undo unlock update upgrade use watch wipe write
        """
    )
) | {"go through"}  # a log is read like that, a runbook is carried out

# Alternatives to a phrase, wherever it occurs; a phrase without alternatives is kept.
MEANING = {
    "immediately": ("right now", "straight away", "at once"),
    "straight away": ("right now", "immediately"),
    "as soon as possible": ("as soon as you can", "as quickly as possible"),
    "as soon as": ("once",),
    "as soon as you can": ("as soon as possible",),
    "asap": ("as soon as possible", "as soon as you can"),
    "at the moment": ("currently",),
    "because of": ("due to", "owing to"),
    "sluggish": ("slow",),
    "slow": ("sluggish",),
    "slow down": (),
    "a lot of": ("lots of",),
    "we need to": ("we have to",),
    "we have to": ("we need to",),
    "I think": ("I believe", "I guess"),
    "problem": ("issue",),
    "problems": ("issues",),
    "usually": ("normally",),
    "maybe": ("perhaps",),
    "perhaps": ("maybe",),
    "almost": ("nearly",),
    "nearly": ("almost",),
    "the whole": ("the entire",),
    "approval": ("sign-off",),
    "everybody": ("everyone",),
    "everyone": ("everybody",),
    "in order to": ("to",),
    "anyway": ("in any case",),
    "unfortunately": ("sadly",),
    "anymore": ("any longer",),
}

CONTRACTIONS = (
    ("cannot", "can't"),
    ("do not", "don't"),
    ("does not", "doesn't"),
    ("I am", "I'm"),
    ("I will", "I'll"),
    ("I would", "I'd"),
    ("is not", "isn't"),
    ("it is", "it's"),
    ("that is", "that's"),
    ("there is", "there's"),
    ("we are", "we're"),
    ("we will", "we'll"),
    ("what is", "what's"),
    ("you are", "you're"),
)
