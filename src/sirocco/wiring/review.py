"""The review desk: runs to a queue, a rules file to rules, and an expert's or a vendor's words into the signed log."""

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
    """The rules in a file; one sign-off by anybody where there is none."""
    if file is None:
        return ReviewRules()
    remedy = "write sign_offs: NUMBER, and reviewers: a mapping of names to keys in the form of OpenSSH"
    return read_settings(file, ReviewRules, "a file of rules", remedy)


def queue_of_run(run: Path, name: str) -> tuple[Item, ...]:
    """What waits for an expert in one run; ConfigError for a run whose verdict cannot be told."""
    return queue_of_verdict(run, name, verdict_of(run)["verdict"])


def queue_of_verdict(run: Path, name: str, verdict: Mapping[str, Any]) -> tuple[Item, ...]:
    """What waits for an expert in a verdict that was read from a run."""
    try:
        return review_queue([(name, verdict)])
    except UNREADABLE as error:
        raise not_a_verdict(run, error) from error


def named_item(queue: Sequence[Item], finding: str) -> Item:
    """The one finding that an id, or the beginning of one, means."""
    found = [item for item in queue if item.id.startswith(finding)]
    if len(found) != 1:
        problem = f"{len(found)} findings of these runs are called {finding!r}"
        raise ConfigError("sirocco review", problem, "take one from `sirocco review list`")
    return found[0]


def said(kind: type[Said], finding: str, given: Mapping[str, str]) -> Said:
    """A review or dispute of today; ConfigError in words for one that cannot be recorded."""
    try:
        return kind.model_validate({**given, "finding": finding, "on": utc_now()[:10]})
    except ValidationError as error:
        raise ConfigError("sirocco review", first_problem(error), "see `sirocco review --help`") from error


def require_reviewer(rules: ReviewRules, key: Path | None, file: Path) -> None:
    """Raise ConfigError for a key whose reviews would not count under the rules: the log cannot take one back."""
    if rules.reviewers and Signer(signing_key(key)).public not in rules.reviewers.values():
        problem = f"this key belongs to none of the reviewers: {', '.join(rules.reviewers)}"
        raise ConfigError("--key", problem, f"sign with the key of a reviewer, or add yours to {file}")


def record_entry(log_file: Path, event: Review | Dispute, key: Path | None) -> ReviewLog:
    """Sign an entry into the log; without a key file the evaluator's own key signs."""
    return ReviewLog.read(log_file).append(event, Signer(signing_key(key)))
