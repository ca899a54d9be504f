"""The review desk: runs become a queue, a file becomes rules, and experts' and vendors' words enter the signed log."""

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from sirocco.errors import ConfigError
from sirocco.oasis.noun import Noun
from sirocco.reserved.signing import Signer
from sirocco.review.log import Dispute, Review, ReviewLog, ReviewRules
from sirocco.review.queue import Item, review_queue
from sirocco.wiring.clock import utc_now
from sirocco.wiring.evaluator_key import signing_key
from sirocco.wiring.run_files import UNREADABLE, not_a_verdict, verdict_of
from sirocco.wiring.settings_file import first_problem, read_settings

Said = TypeVar("Said", bound=Noun)


def review_rules(file: Path | None) -> ReviewRules:
    """The rules in a file; without one, a single sign-off by any reviewer suffices."""
    if file is None:
        return ReviewRules()
    remedy = "write sign_offs: NUMBER, and reviewers: a mapping of names to keys in the form of OpenSSH"
    return read_settings(file, ReviewRules, "a file of rules", remedy)


def queue_of_run(run: Path, name: str) -> tuple[Item, ...]:
    """What awaits an expert in one run; ConfigError for a run whose verdict cannot be read."""
    return queue_of_verdict(run, name, verdict_of(run)["verdict"])


def queue_of_verdict(run: Path, name: str, verdict: Mapping[str, Any]) -> tuple[Item, ...]:
    """What awaits an expert in a verdict that was read from a run."""
    try:
        return review_queue([(name, verdict)])
    except UNREADABLE as error:
        raise not_a_verdict(run, error) from error


def named_item(queue: Sequence[Item], finding: str) -> Item:
    """The single finding that an id or its beginning refers to."""
    found = [item for item in queue if item.id.startswith(finding)]
    if len(found) != 1:
        problem = f"{len(found)} findings of these runs match {finding!r}"
        raise ConfigError("sirocco review", problem, "take one from `sirocco review list`")
    return found[0]


def said(kind: type[Said], finding: str, given: Mapping[str, str]) -> Said:
    """A review or dispute dated today; ConfigError, with an explanation, for one that cannot be recorded."""
    _require_plain_name(given.get("by", ""))
    try:
        return kind.model_validate({**given, "finding": finding, "on": utc_now()[:10]})
    except ValidationError as error:
        raise ConfigError("sirocco review", first_problem(error), "see `sirocco review --help`") from error


def _require_plain_name(name: str) -> None:
    """Raise ConfigError for a name that looks like another one: hidden characters, or scripts mixed in a word."""
    problem = ""
    if not name.strip() or not name.isprintable() or name != name.strip():
        problem = "is blank, or has blanks around it or characters that nobody can see"
    elif mixed := next((word for word in name.split() if len(_scripts(word)) > 1), None):
        problem = f"mixes scripts in {mixed!r}, whose letters look like others"
    if problem:
        raise ConfigError("the name", problem, "write the name as people write it")


def _scripts(word: str) -> set[str]:
    """The scripts of a word's letters; the three of Japanese go together."""
    names = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()}
    return {"CJK" if name in {"CJK", "HIRAGANA", "KATAKANA"} else name for name in names}


def require_reviewer(rules: ReviewRules, key: Path | None, file: Path) -> None:
    """Raise ConfigError for a key whose reviews would not count under the rules: the log cannot take one back."""
    if rules.reviewers and Signer(signing_key(key)).public not in rules.reviewers.values():
        problem = f"this key belongs to none of the reviewers: {', '.join(rules.reviewers)}"
        raise ConfigError("--key", problem, f"sign with the key of a reviewer, or add yours to {file}")


def record_entry(log_file: Path, event: Review | Dispute, key: Path | None) -> ReviewLog:
    """Sign an entry and add it to the log; without a key file, the evaluator's own key signs."""
    return ReviewLog.read(log_file).append(event, Signer(signing_key(key)))
