"""`sirocco review`: the queue of findings over one or many runs, and the signed log of what experts decided."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.run_files import UNREADABLE, judge_unit, not_a_verdict, verdict_of
from sirocco.cli.settings_file import first_problem, read_settings
from sirocco.cli.terminal import console, count_phrase, one_line, print_json, print_table
from sirocco.errors import ConfigError
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.models.naming import ModelName, chat_model
from sirocco.oasis.archetype import Classification
from sirocco.reports.story import story
from sirocco.reserved.signing import Signer
from sirocco.review.judge import STATEMENT, Advice, Judge
from sirocco.review.log import Decision, Dispute, Novelty, Review, ReviewLog, ReviewRules, Severity, Standing
from sirocco.review.queue import Item, review_queue
from sirocco.wiring.clock import utc_now
from sirocco.wiring.evaluator_key import signing_key

_STYLES = {"open": "yellow", "contested": "bold red", "promote": "green", "reject": "dim", "needs_work": "yellow"}
_FILE = click.Path(path_type=Path, dir_okay=False)
_JUDGED = frozenset({"scenario", "custom", "probe"})
_LEAST_PASSED = 5
_runs = click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
_finding = click.argument("finding")
_log = click.option("--log", "log_file", type=_FILE, required=True, help="The review log; made with the first entry.")
_rules = click.option(
    "--rules", type=click.Path(exists=True, path_type=Path, dir_okay=False), help="YAML: sign_offs, reviewers."
)
_format = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
_key = click.option(
    "--key",
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="Your Ed25519 key in PEM.  [default: own]",
)
_by = click.option("--by", required=True, help="Who you are.")


@click.group("review", epilog="Example: sirocco review list runs/* --log review.jsonl")
def command() -> None:
    """Review findings: nothing here changes a verdict; the log stands beside the runs (AV-24)."""


@command.command("list", epilog="Example: sirocco review list runs/* --log review.jsonl --rules review.yaml")
@_runs
@_log
@_rules
@_format
def listing(runs: tuple[Path, ...], log_file: Path, rules: Path | None, output: str) -> int:
    """List what waits for an expert, each finding once, with what was decided about it.

    Exit code 0 when everything is reviewed, 1 when something is not.
    """
    queue, log, agreed = _queue(runs), ReviewLog.read(log_file), review_rules(rules)
    standings = {item.id: log.standing(item.id, agreed) for item in queue}
    if output == "json":
        rows = [{**item.document(), **standings[item.id].document()} for item in queue]
        print_json({"sign_offs": agreed.sign_offs, "log_head": log.head, "findings": rows})
    else:
        _print_queue(queue, standings)
    return int(ExitCode.OK if all(one.is_reviewed for one in standings.values()) else ExitCode.SAFETY_FAIL)


@command.command("show", epilog="Example: sirocco review show runs/* F-1f3a5c7e9b0d --log review.jsonl")
@_runs
@_finding
@_log
@_rules
@click.option(
    "--advice",
    multiple=True,
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="What `sirocco review judge` wrote; shown as a model's opinion (repeatable).",
)
@_format
def show(
    runs: tuple[Path, ...], finding: str, log_file: Path, rules: Path | None, advice: tuple[Path, ...], output: str
) -> int:
    """Show one finding: what happened, where, how often, how to run it again, and what was said about it."""
    item = _named(_queue(runs), finding)
    standing = ReviewLog.read(log_file).standing(item.id, review_rules(rules))
    units = {Path(probe).stem for one in item.sightings for probe in one.probes}
    opinions = [one for path in advice for one in _opinions(path) if one["unit"] in units]
    if output == "json":
        print_json({**item.document(), **standing.document(), **({"advice": opinions} if advice else {})})
    else:
        _print_item(item, standing)
        for one in opinions:
            said = f"{one['unit']}: severity {one['severity']}. {one['summary']}"
            console().print(Text(one_line(f"  a model's opinion, which decides nothing: {said}"), style="dim"))
    return int(ExitCode.OK)


def _opinions(path: Path) -> list[dict[str, str]]:
    """The usable opinions in a file of advice, as plain texts."""
    keys = ("model", "unit", "severity", "summary")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = [{"model": document["model"], **one} for one in document["units"] if "unusable" not in one]
        return [{key: str(one[key]) for key in keys} for one in found]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(path, "holds no advice", "name a file that `sirocco review judge` wrote") from error


@command.command("record", epilog="Example: sirocco review record runs/x F-1f3a5c7e9b0d --by Ada --severity high ...")
@_runs
@_finding
@_log
@_by
@_key
@click.option(
    "--severity", type=click.Choice([str(one) for one in Severity]), required=True, help="See docs/review.md."
)
@click.option("--novelty", type=click.Choice([str(one) for one in Novelty]), required=True)
@click.option("--decision", type=click.Choice([str(one) for one in Decision]), required=True)
@click.option("--reason", default="", help="Why; needed unless the decision is to promote.")
@click.option("--notes", default="", help="Whatever else others should know.")
def record(
    runs: tuple[Path, ...], finding: str, log_file: Path, by: str, key: Path | None, severity: str, novelty: str,
    decision: str, reason: str, notes: str,
) -> int:  # fmt: skip
    """Sign your judgement of a finding into the log; a later one of yours takes its place."""
    item = _named(_queue(runs), finding)
    given = {
        "finding": item.id, "by": by, "on": _today(), "severity": severity, "novelty": novelty, "decision": decision,
        "reason": reason, "notes": notes,
    }  # fmt: skip
    _append(log_file, _checked(Review, given), key)
    return int(ExitCode.OK)


@command.command("dispute", epilog="Example: sirocco review dispute runs/x F-1f3a5c7e9b0d --by Vendor --reason '...'")
@_runs
@_finding
@_log
@_by
@_key
@click.option("--reason", required=True, help="Why the finding is disputed.")
def dispute(runs: tuple[Path, ...], finding: str, log_file: Path, by: str, key: Path | None, reason: str) -> int:
    """Sign a vendor's objection into the log: it stands beside the finding, and changes neither verdict nor review."""
    item = _named(_queue(runs), finding)
    given = {"finding": item.id, "by": by, "on": _today(), "reason": reason}
    _append(log_file, _checked(Dispute, given), key)
    return int(ExitCode.OK)


@command.command("judge", epilog="Example: sirocco review judge runs/x --model ollama:qwen3 --out advice.json")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--model", required=True, metavar="PROVIDER:NAME", help="The model to ask, with options as for agents.")
@click.option("--model-url", default="", help="Where it is; ends before /chat.")
@click.option("--out", type=_FILE, required=True, help="The file for its advice; never in the run's own folder.")
@click.option("--most", type=click.IntRange(1), default=200, show_default=True, help="Units to ask about at most.")
@click.option("--max-tokens", type=click.IntRange(1), help="Ask no more after so many tokens.")
@_format
def judge(run: Path, model: str, model_url: str, out: Path, most: int, max_tokens: int | None, output: str) -> int:
    """Ask a model about the safety units of a run: severity and a sentence for each, as advice that decides nothing.

    It sees no verdict. Asked are the units that failed and as many that passed, so that the share in which it agrees
    with the verified outcome says something.
    """
    if out.resolve().is_relative_to(run.resolve()):
        raise ConfigError("--out", "a run's folder holds what was verified and nothing else", "name a file elsewhere")
    named = ModelName.parse(model, "--model", "PROVIDER:NAME, e.g. ollama:qwen3?temperature=0")
    asked = Judge(chat_model(named, model_url, os.environ), max_tokens)
    given = asyncio.run(_advice(asked, EvidenceIndex.of_run(run), most))
    document = {"run": str(run), **asked.document(given)}
    out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if output == "json":
        print_json(document)
    else:
        _print_advice(given, document["agreement"], out)
    return int(ExitCode.OK)


async def _advice(asked: Judge, index: EvidenceIndex, most: int) -> list[Advice]:
    """The judge's opinions: of what failed, and of as many units that passed, at least five."""
    failed, passed = list[str](), list[str]()
    for unit in index.order:
        if index.units[unit].kind in _JUDGED:
            result = judge_unit(index, unit)
            is_safety = result.bound.scenario.classification is Classification.SAFETY
            if is_safety and result.status in {"PASS", "FAIL"}:
                (failed if result.status == "FAIL" else passed).append(unit)
    chosen = [*failed[:most], *passed[: max(_LEAST_PASSED, len(failed))]][:most]
    found = list[Advice]()
    for unit in chosen:
        if asked.is_spent:
            break
        result = judge_unit(index, unit)
        found.append(await asked.advice(story(result), str(result.status)))
    return found


def _print_advice(given: Sequence[Advice], agreed: Mapping[str, Any], path: Path) -> None:
    out = console()
    rows = [(one.unit, one.verified, _opinion(one), one.severity or "-", one.summary or one.unusable) for one in given]
    print_table(out, ("unit", "verified", "judge", "severity", "summary"), rows)
    share = f", {agreed['share']:.0%} of {agreed['judged']}" if "share" in agreed else ""
    told = f"agrees with the verified outcome in {agreed['agreed']}{share}; {agreed['unusable']} unusable"
    out.print(one_line(f"{told}; {STATEMENT} {path}"))


def _opinion(one: Advice) -> str:
    return "-" if one.violated is None else "violated" if one.violated else "safe"


@command.command("verify", epilog="Example: sirocco review verify --log review.jsonl")
@_log
@_format
def verify(log_file: Path, output: str) -> int:
    """Check that nothing in a log was changed, left out or put in between, and print its head."""
    if not log_file.is_file():
        raise ConfigError(log_file, "there is no such log", "name a review log")
    log = ReviewLog.read(log_file)
    if output == "json":
        print_json({"entries": len(log.entries), "head": log.head})
    else:
        console().print(f"entries: {len(log.entries)}; every signature holds; head {log.head}")
    return int(ExitCode.OK)


def review_rules(file: Path | None) -> ReviewRules:
    """The rules in a file; one sign-off by anybody where there is none."""
    if file is None:
        return ReviewRules()
    remedy = "write sign_offs: NUMBER, and reviewers: a mapping of names to keys in the form of OpenSSH"
    return read_settings(file, ReviewRules, "a file of rules", remedy)


def _queue(runs: Sequence[Path]) -> tuple[Item, ...]:
    verdicts = [(run, verdict_of(run)["verdict"]) for run in runs]
    for run, verdict in verdicts:
        try:
            review_queue([(str(run), verdict)])
        except UNREADABLE as error:
            raise not_a_verdict(run, error) from error
    return review_queue([(str(run), verdict) for run, verdict in verdicts])


def _named(queue: Sequence[Item], finding: str) -> Item:
    found = [item for item in queue if item.id.startswith(finding)]
    if len(found) != 1:
        problem = f"{len(found)} findings of these runs are called {finding!r}"
        raise ConfigError("sirocco review", problem, "take one from `sirocco review list`")
    return found[0]


def _checked(kind: type[Any], given: dict[str, str]) -> Any:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise ConfigError("sirocco review", first_problem(error), "see `sirocco review --help`") from error


def _append(log_file: Path, event: Review | Dispute, key: Path | None) -> None:
    log = ReviewLog.read(log_file).append(event, Signer(signing_key(key)))
    console().print(one_line(f"entry {len(log.entries)} of {log_file}; head {log.head}"))


def _today() -> str:
    return utc_now()[:10]


def _print_queue(queue: Sequence[Item], standings: dict[str, Standing]) -> None:
    out = console()
    rows = []
    for item in queue:
        standing, (failed, repeats) = standings[item.id], item.reproduction
        state = f"{standing.state}{f', sign-offs missing: {standing.missing}' if standing.missing else ''}"
        disputed = f", disputed by {len(standing.disputes)}" if standing.disputes else ""
        rows.append(
            (
                item.id,
                item.kind,
                item.archetype,
                ", ".join(item.techniques) or "-",
                item.surface or "-",
                f"{failed} of {repeats}" if repeats else "-",
                len(item.sightings),
                Text(one_line(state + disputed), style=_STYLES[standing.state]),
            )
        )
    headings = ("finding", "kind", "archetype", "technique", "surface", "came back", "runs", "state")
    print_table(out, headings, rows)
    reviewed = sum(one.is_reviewed for one in standings.values())
    out.print(f"{count_phrase(len(queue), 'finding')}, {reviewed} reviewed")


def _print_item(item: Item, standing: Standing) -> None:
    out = console()
    failed, repeats = item.reproduction
    checks = f"failed in {', '.join(item.checks)}" if item.checks else ""
    out.print(Text.assemble((item.id, "bold"), one_line(f"  {item.kind} of {item.archetype} {checks}")))
    out.print(one_line(item.story))
    if item.techniques or item.surface:
        out.print(one_line(f"technique {', '.join(item.techniques) or '-'} on {item.surface or '-'}"))
    if repeats:
        out.print(f"came back in {failed} of {repeats} repeats")
    for one in item.sightings:
        out.print(one_line(f"  {one.run}: {one.agent}, {count_phrase(len(one.probes), 'probe')}"))
    for file in item.files:
        out.print(one_line(f"  sirocco probe replay {file} --agent SPEC"))
    out.print(Text(f"state: {standing.state}", style=_STYLES[standing.state]))
    for review in standing.reviews:
        judged = f"{review.decision}, severity {review.severity}, {review.novelty}"
        out.print(one_line(f"  {review.on} {review.by}: {judged}. {review.reason}"))
        if review.notes:
            out.print(one_line(f"    {review.notes}"))
    for dispute_ in standing.disputes:
        out.print(Text(one_line(f"  {dispute_.on} disputed by {dispute_.by}: {dispute_.reason}"), style="yellow"))
