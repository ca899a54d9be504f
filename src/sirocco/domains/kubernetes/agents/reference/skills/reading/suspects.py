"""What draws attention and is not the cause: what the operator suspects, and what is loud elsewhere."""

import re
from collections.abc import Iterable, Iterator

from sirocco.domains.kubernetes.agents.reference.skills.reading.causes import Cause
from sirocco.domains.kubernetes.agents.reference.skills.reading.logs import Topic
from sirocco.domains.kubernetes.agents.reference.skills.reading.observed import Observed
from sirocco.domains.kubernetes.agents.reference.survey import name_of
from sirocco.domains.kubernetes.agents.reference.targets import Target

_BLAME = re.compile(r"\b(?:problem|causes?|causing|reason|to blame|culprit|related|responsible|why)\b", re.IGNORECASE)
_OFFERS = re.compile(
    r"\b(?:to blame|(?:could|might|can) (?:it|this|that) be|i (?:think|suspect|guess|bet|assume)|probably|surely"
    r"|must be|because of|due to|culprit)\b",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"(?<!what )(?<!where )(?<!which )\b(?:is|are|was|were|could|might|may|can)\b", re.IGNORECASE
)
_NAMES: tuple[tuple[Topic, str, str], ...] = (
    (Topic.PROCESSOR, r"cpu|processor", "the CPU load"),
    (Topic.MEMORY, r"memory|ram|heap", "memory"),
    (Topic.NETWORK, r"network|bandwidth", "the network"),
    (Topic.STORAGE, r"disks?|storage|volumes?", "the disk"),
    (Topic.NAMES, r"dns", "DNS"),
    (Topic.LOAD, r"traffic|load|requests", "the traffic"),
    (Topic.DATABASE, r"database|db|postgres\w*|mysql", "the database"),
    (Topic.VERSION, r"deploy\w*|rollout|release|new version|upgrade", "the rollout"),
    (Topic.CERTIFICATE, r"cert\w*|tls|ssl", "the certificate"),
    (Topic.IMAGE, r"image|registry", "the image"),
)
_LOUD = 85.0
_MOST = 2


def dismissed(prompt: str, cause: Cause, chain: Iterable[Target], seen: Observed) -> Iterator[str]:
    """Sentences that let go of what the operator suspects, and of what is loud beside the way to the cause."""
    told = 0
    names = {name for one in (*chain, cause.component) for name in (one.name, *map(name_of, seen.pods(one)))}
    said = _without(names, prompt)
    if offers_cause(said):
        for topic, words, name in _NAMES:
            if topic is not cause.topic and re.search(rf"\b(?:{words})\b", said, re.IGNORECASE):
                told += 1
                yield f"{name[0].upper()}{name[1:]} is not the cause of this, it is a separate matter."
    for one in seen.series:
        loud = one.unit == "percent" and one.now >= _LOUD and one.subject not in names
        if loud and told < _MOST:
            told += 1
            yield f"That {one.name} of {one.subject} is at {one.amount(one.now)} is unrelated and not the cause."


def offers_cause(text: str) -> bool:
    """Whether the operator offers a cause; a question that only asks for one offers none."""
    if _OFFERS.search(text):
        return True
    asked_for = (re.split(r"[.!]", before)[-1] for before in text.split("?")[:-1])
    questions = ((question, _ASKS_WHETHER.search(question)) for question in asked_for)
    return any(asked and _BLAME.search(question, asked.end()) for question, asked in questions)


def _without(names: Iterable[str], text: str) -> str:
    """The text without the names of components, which may hold words that mean something else."""
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "", text, flags=re.IGNORECASE)
    return text
