"""What operators wish for without saying how: a repair, more capacity, a service that survives, a rollout seen through.

Words only; whether and how a wish is granted is decided by the skills.
"""

import re

_FLAGS = re.IGNORECASE
_REPAIR = re.compile(
    r"\b(?:fix(?:es)?|repair|remediate|resolve|recover|heal|restore|mend|cure|troubleshoot|handle|"
    r"(?:take care|get rid) of|deal with|(?:you|please) look after|sort\b[^.!?]{0,20}\bout|do something about|"
    r"get\b[^.!?]{0,40}\b(?:running|working|back|healthy|going|up)|"
    r"(?:need|want)\b[^.!?]{0,30}\b"
    r"(?:back (?:on|up|in|running|working)|up (?:again|and running)|working|running|healthy)|"
    r"bring\b[^.!?]{0,40}\b(?:back|up)|make\b[^.!?]{0,30}\b(?:work|run|healthy)|put\b[^.!?]{0,20}\bright)\b",
    _FLAGS,
)
_HANDS_OFF = re.compile(
    r"\b(?:do not|don't|without|never)\s+(?:\w+\s+){0,3}?"
    r"(?:fix\w*|chang\w*|touch\w*|repair\w*|act\w*|modify\w*|restart\w*)\b"
    r"(?!\s+(?:anything|nothing)\s+else)",
    _FLAGS,
)
_SURVIVE = re.compile(
    r"\b(?:high(?:ly)?[- ]availab\w+|fault[- ]toleran\w+|resilien\w+|redundan\w+|"
    r"(?:surviv\w*|withstand\w*|outliv\w*|tolerat\w*|cope with|keeps? (?:running|working|serving)\b[^.!?]{0,30})"
    r"[^.!?]{0,40}\b(?:nodes?|failures?|outages?|loss|drain\w*|machines?|zones?))\b",
    _FLAGS,
)
_LOSES = re.compile(
    r"\b(?:nodes?|machines?|servers?|hosts?)\b[^.!?]{0,30}"
    r"\b(?:dies?|fails?|goes (?:down|away)|is (?:lost|drained|gone|taken)|breaks?|crashes)\b",
    _FLAGS,
)
_BEARS_NO_LOSS = re.compile(
    r"\b(?:must (?:not|stay|keep|remain|survive)|(?:can't|cannot|can not) (?:have|afford|be|go)|may not|"
    r"(?:has|have|needs?) to (?:stay|keep|remain|survive|go on)|should (?:not|stay|keep|remain|survive))\b",
    _FLAGS,
)
_LOAD = r"(?:load|traffic|demand|volume|requests?|orders?|throughput|users?|visitors?|capacity|usage|jobs?)"
_MULTIPLE = (
    r"(?:(?P<times>\d+(?:\.\d+)?)\s*(?:x|times|-?fold)|"
    r"(?P<word>half|twice|double|triple|three times|four times|quadruple)|"
    r"(?P<more>\d+)\s*(?:%|percent)\s+more)"
)
_GROWTH = r"(?:(?P<word2>doubles?|triples?)|by (?P<more2>\d+)\s*(?:%|percent))"
_FACTOR = re.compile(rf"\b{_MULTIPLE}\b[^.!?]{{0,40}}?\b{_LOAD}\b|\b{_LOAD}\b[^.!?]{{0,40}}?\b{_GROWTH}", re.IGNORECASE)
_SHRINKS = re.compile(
    r"\b(?:drop\w*|fall\w*|fell|declin\w*|decreas\w*|reduc\w*|shr[aiu]nk\w*|lower\w*|less|fewer|down)\b", _FLAGS
)
_WORDS = {"half": 0.5, "twice": 2, "double": 2, "doubles": 2, "triple": 3, "triples": 3, "three times": 3,
          "four times": 4, "quadruple": 4}  # fmt: skip
_TAKE_EFFECT = re.compile(
    r"\b(?:picks?\b[^.!?]{0,20}\bup|takes? effect|"
    r"(?:runs?|starts?|works?|running) with (?:the new|it\b|that\b|them\b)|uses? the new|using the new|"
    r"loads? the new|reads? the new|becomes? effective|goes? live)\b",
    _FLAGS,
)


def wants_repair(text: str) -> bool:
    """Whether something broken is to be put right, and not only looked at."""
    return bool(_REPAIR.search(text)) and not _HANDS_OFF.search(text)


def wants_survival(text: str) -> bool:
    """Whether something has to live through the loss of a machine."""
    return bool(_SURVIVE.search(text) or (_LOSES.search(text) and _BEARS_NO_LOSS.search(text)))


def wanted_factor(text: str) -> float | None:
    """How many times the present load has to be coped with; "by 20%" can be more or less, as its sentence says."""
    found = _FACTOR.search(text)
    if found is None:
        return None
    groups = found.groupdict()
    if groups["more2"] and _SHRINKS.search(re.split(r"[.!?]", text[: found.end()])[-1]):
        return None
    if groups["times"]:
        return float(groups["times"])
    word = groups["word"] or groups["word2"]
    if word:
        return float(_WORDS[word.lower()])
    return 1 + float(groups["more"] or groups["more2"]) / 100


def wants_effect(text: str) -> bool:
    """Whether a new setting has to reach what is running."""
    return bool(_TAKE_EFFECT.search(text))
