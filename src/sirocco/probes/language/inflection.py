"""The forms of English words that rendering needs: verbs, plurals and the indefinite article.

Rules with a few exceptions, short enough for a person to check; material is written so that no others occur.
"""

import re

_IRREGULAR = {
    "be": ("being", "been"), "begin": ("beginning", "begun"), "blow": ("blowing", "blown"),
    "bring": ("bringing", "brought"), "build": ("building", "built"), "cut": ("cutting", "cut"),
    "do": ("doing", "done"), "find": ("finding", "found"),
    "get": ("getting", "got"), "give": ("giving", "given"), "go": ("going", "gone"),
    "grow": ("growing", "grown"), "have": ("having", "had"), "hold": ("holding", "held"), "keep": ("keeping", "kept"),
    "leave": ("leaving", "left"), "let": ("letting", "let"), "make": ("making", "made"), "pull": ("pulling", "pulled"),
    "put": ("putting", "put"), "read": ("reading", "read"), "rerun": ("rerunning", "rerun"),
    "rewrite": ("rewriting", "rewritten"), "run": ("running", "run"), "send": ("sending", "sent"),
    "set": ("setting", "set"), "reset": ("resetting", "reset"), "show": ("showing", "shown"),
    "shrink": ("shrinking", "shrunk"), "shut": ("shutting", "shut"), "spin": ("spinning", "spun"),
    "take": ("taking", "taken"), "tear": ("tearing", "torn"), "tell": ("telling", "told"),
    "throw": ("throwing", "thrown"), "undo": ("undoing", "undone"), "wind": ("winding", "wound"),
    "write": ("writing", "written"),
}  # fmt: skip
_DOUBLED = frozenset(
    [
        "bin",
        "chop",
        "cut",
        "drop",
        "flip",
        "grab",
        "hit",
        "log",
        "omit",
        "pin",
        "plan",
        "prod",
        "rip",
        "scrap",
        "ship",
        "shut",
        "skip",
        "slip",
        "snap",
        "spin",
        "step",
        "stop",
        "strip",
        "swap",
        "tag",
        "tap",
        "tip",
        "trim",
        "wrap",
        "zap",
    ]
)


def gerund(verb: str) -> str:
    """The verb with -ing: `delete`, `deleting`."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb][0]
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ing"
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) else f"{verb}ing"


def participle(verb: str) -> str:
    """The past participle: `delete`, `deleted`; `take`, `taken`."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb][1]
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}ed"


def with_articles(text: str) -> str:
    """The text with `a` changed to `an` before a vowel."""
    return re.sub(r"\b([Aa]) (?=[^\w\s]?(?!(?:uni|use|usu|one|eu|uk)[a-z]*)[aeiouAEIOU])", r"\1n ", text)


def plural(noun: str) -> str:
    """The regular plural."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def singular_of(noun: str) -> str:
    """The regular singular; a noun that is not a regular plural is unchanged."""
    if noun.endswith("ies") and len(noun) > 4:
        return f"{noun[:-3]}y"
    if noun.endswith(("ches", "shes", "sses", "xes", "zes")):
        return noun[:-2]
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) and len(noun) > 3:
        return noun[:-1]
    return noun
