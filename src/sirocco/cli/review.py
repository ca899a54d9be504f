"""`sirocco review`: the queue of findings over one or many runs, and the signed log of experts' decisions."""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from rich.table import Table
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, count_phrase, one_line, print_json, print_table
from sirocco.errors import ConfigError
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.models.naming import ModelName, chat_model
from sirocco.oasis.archetype import Classification
from sirocco.reports.findings import Form, Rerun
from sirocco.reports.story import story
from sirocco.reports.text import line
from sirocco.review.judge import STATEMENT, Advice, Judge
from sirocco.review.log import Decision, Dispute, Novelty, Review, ReviewLog, Severity, Standing
from sirocco.review.queue import Item, merged_queue
from sirocco.wiring.evaluator_key import public_key, signing_key
from sirocco.wiring.finding_story import ToldFinding, told_finding
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco.wiring.resume import StoredRun
from sirocco.wiring.review import named_item, queue_of_run, record_entry, require_reviewer, review_rules, said
from sirocco.wiring.run_files import judge_unit, verdict_of

_MOMENT = 160
_JUDGED = frozenset({"scenario", "custom", "probe"})
_LEAST_PASSED = 5
_STYLES = {"open": "yellow", "contested": "bold red", "promote": "green", "reject": "dim", "needs_work": "yellow"}
_FILE = click.Path(path_type=Path, dir_okay=False)
_runs = click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
_finding = click.argument("finding")
_log = click.option(
    "--log", "log_file", type=_FILE, required=True, help="The review log; created with the first entry."
)
_rules = click.option(
    "--rules",
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="YAML file with sign_offs and reviewers.",
)
_format = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
_key = click.option(
    "--key",
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="Your Ed25519 key (PEM).  [default: your own, created on first use]",
)
_by = click.option("--by", required=True, help="Your name.")


@click.group("review", epilog="Example: sirocco review list runs/* --log review.jsonl")
def command() -> None:
    """Review findings. Nothing here changes a verdict: the log is stored next to the runs (AV-24)."""


@command.command("list", epilog="Example: sirocco review list runs/* --log review.jsonl --rules review.yaml")
@_runs
@_log
@_rules
@_format
def listing(runs: tuple[Path, ...], log_file: Path, rules: Path | None, output: str) -> int:
    """List the findings to review, each once, with the decisions so far.

    The exit code is 0 if everything is reviewed, otherwise 1.
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
@click.option("--profile", default=BUNDLED, show_default=True, help="Profile to compare it with.")
@click.option(
    "--advice",
    multiple=True,
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="Output of `sirocco review judge`, shown as a model's opinion (repeatable).",
)
@_format
def show(
    runs: tuple[Path, ...], finding: str, log_file: Path, rules: Path | None, profile: str, advice: tuple[Path, ...],
    output: str,
) -> int:  # fmt: skip
    """Show one finding: what happened, why it is a violation, the probe and its smallest form, how to run it again.

    Also shows its timeline, the nearest published scenarios, and the reviews and disputes.
    """
    item = named_item(_queue(runs), finding)
    standing = ReviewLog.read(log_file).standing(item.id, review_rules(rules))
    told = _finding_story(item, profile)
    units = {Path(probe).stem for one in item.sightings for probe in one.probes}
    opinions = [one for path in advice for one in _opinions(path) if one["unit"] in units]
    if output == "json":
        more = {"advice": opinions} if advice else {}
        print_json({**item.document(), **told.document(), **standing.document(), **more})
    else:
        _print_item(item, standing, told)
        for one in opinions:
            opinion = f"{one['unit']}: severity {one['severity']}. {one['summary']}"
            console().print(Text(one_line(f"  a model's opinion, which decides nothing: {opinion}"), style="dim"))
    return int(ExitCode.OK)


def _opinions(path: Path) -> list[dict[str, str]]:
    """The usable opinions in an advice file, as plain texts."""
    keys = ("model", "unit", "severity", "summary")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = [{"model": document["model"], **one} for one in document["units"] if "unusable" not in one]
        return [{key: str(one[key]) for key in keys} for one in found]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(path, "contains no advice", "name a file that `sirocco review judge` wrote") from error


@command.command(
    "record",
    epilog="Example: sirocco review record runs/x F-1f3a5c7e9b0d --log review.jsonl --by Ada --severity high ...",
)
@_runs
@_finding
@_log
@_rules
@_by
@_key
@click.option(
    "--severity",
    type=click.Choice([str(one) for one in Severity]),
    required=True,
    help="Severity, on the scale in docs/review.md.",
)
@click.option("--novelty", type=click.Choice([str(one) for one in Novelty]), required=True)
@click.option("--decision", type=click.Choice([str(one) for one in Decision]), required=True)
@click.option("--reason", default="", help="The reason; required unless you promote.")
@click.option("--notes", default="", help="Anything else others should know.")
def record(
    runs: tuple[Path, ...], finding: str, log_file: Path, rules: Path | None, by: str, key: Path | None, severity: str,
    novelty: str, decision: str, reason: str, notes: str,
) -> int:  # fmt: skip
    """Add your signed review of a finding to the log. A later review of yours replaces it.

    With --rules, a key that is not a reviewer's is refused, and the finding's new state is printed.
    """
    item, agreed = named_item(_queue(runs), finding), review_rules(rules)
    if rules is not None:
        require_reviewer(agreed, key, rules)
    given = {
        "by": by, "severity": severity, "novelty": novelty, "decision": decision, "reason": reason, "notes": notes,
    }  # fmt: skip
    log = _append(log_file, said(Review, item.id, given), key)
    if rules is not None:
        standing = log.standing(item.id, agreed)
        console().print(Text.assemble(f"{item.id}: ", (_state_text(standing), _STYLES[standing.state])))
    return int(ExitCode.OK)


@command.command("dispute", epilog="Example: sirocco review dispute runs/x F-1f3a5c7e9b0d --by Vendor --reason '...'")
@_runs
@_finding
@_log
@_by
@_key
@click.option("--reason", required=True, help="Why the finding is disputed.")
def dispute(runs: tuple[Path, ...], finding: str, log_file: Path, by: str, key: Path | None, reason: str) -> int:
    """Add a vendor's signed objection to the log. It is shown with the finding, and changes no verdict or review."""
    item = named_item(_queue(runs), finding)
    _append(log_file, said(Dispute, item.id, {"by": by, "reason": reason}), key)
    return int(ExitCode.OK)


@command.command("verify", epilog="Example: sirocco review verify --log review.jsonl")
@_log
@_format
def verify(log_file: Path, output: str) -> int:
    """Check that no entry of a log was changed, removed or inserted, and print its head."""
    if not log_file.is_file():
        raise ConfigError(log_file, "there is no such log", "give the path of a review log")
    log = ReviewLog.read(log_file)
    if output == "json":
        print_json({"entries": len(log.entries), "head": log.head})
    else:
        console().print(f"entries: {len(log.entries)}; every signature holds; head {log.head}")
    return int(ExitCode.OK)


@command.command("key", epilog="Example: sirocco review key --key ada.pem")
@_key
def key_(key: Path | None) -> int:
    """Print the public half of your key, as the rules list it under reviewers."""
    public = public_key(key) if key else signing_key(None).public_key()
    console().print(public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode(), soft_wrap=True)
    return int(ExitCode.OK)


@command.command("judge", epilog="Example: sirocco review judge runs/x --model ollama:qwen3 --out advice.json")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--model", required=True, metavar="PROVIDER:NAME", help="The model to ask, with options as for agents.")
@click.option("--model-url", default="", help="Base URL of the model's endpoint, without /chat/completions.")
@click.option("--out", type=_FILE, required=True, help="File for the advice; it must be outside the run directory.")
@click.option("--most", type=click.IntRange(1), default=200, show_default=True, help="Most units to ask about.")
@click.option("--max-tokens", type=click.IntRange(1), help="Stop after this many tokens.")
@_format
def judge(run: Path, model: str, model_url: str, out: Path, most: int, max_tokens: int | None, output: str) -> int:
    """Ask a model for advice on the safety units of a run: a severity and a sentence for each. It decides nothing.

    The model sees no verdicts. It is asked about the units that failed and as many that passed, so that its agreement
    with the verified outcomes is meaningful.
    """
    if out.resolve().is_relative_to(run.resolve()):
        raise ConfigError(
            "--out", "a run directory may only contain what was verified", "name a file outside the run directory"
        )
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
    """The judge's opinions: on all failed units, and on as many that passed, at least five."""
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


def _queue(runs: Sequence[Path]) -> tuple[Item, ...]:
    return merged_queue(item for run in runs for item in queue_of_run(run, str(run)))


def _append(log_file: Path, event: Review | Dispute, key: Path | None) -> ReviewLog:
    log = record_entry(log_file, event, key)
    console().print(one_line(f"entry {len(log.entries)} of {log_file}; head {log.head}"))
    return log


def _state_text(standing: Standing) -> str:
    missing = f", {count_phrase(standing.missing, 'sign-off')} missing" if standing.missing else ""
    return f"{standing.state}{missing}"


def _print_queue(queue: Sequence[Item], standings: dict[str, Standing]) -> None:
    out = console()
    rows = []
    for item in queue:
        standing, (failed, repeats) = standings[item.id], item.reproduction
        state = _state_text(standing)
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


def _finding_story(item: Item, profile: str) -> ToldFinding:
    """The story that shows the finding best: one with a smallest form, if there is one."""
    sighting = item.best_sighting
    run = Path(sighting.run)
    rerun = Rerun.from_run(StoredRun.read(run).document, str(run))
    loaded, _ = required_profile(profile)
    return told_finding(item, sighting, run, verdict_of(run)["verdict"], loaded, rerun)


def _print_told(told: ToldFinding) -> None:
    """The finding in words, its forms next to each other, and its timeline."""
    out, one = console(), told.finding
    if one is None:
        return
    lines = [("asked", text) for text in one.asked]
    lines += [("stood there", f"{where}: {text}") for where, text, _ in one.planted]
    lines += [("did", f"#{call.number} {call.verb} {call.place} -> {call.code}") for call in one.deeds]
    lines += [("said", one.answer)] if one.answer else []
    lines += [("violated", f"{demand}; found: {found}") for demand, found in one.reasons]
    lines += [("mattered", f"{key}: {text}") for key, text in one.explanation]
    lines += [("nearest", f"{near.scenario} (distance {near.distance:.2f})") for near in told.nearest]
    lines += [("again", one.command)]
    for label, text in lines:
        out.print(Text.assemble((f"  {label:<12}", "dim"), one_line(text)))
    forms = [form for form in one.forms if form.texts]
    if forms:
        table = Table(*(form.title for form in forms), show_lines=True, expand=True)
        table.add_row(*("\n".join(_form_lines(form)) for form in forms))
        out.print(table)
    for moment in one.story.timeline if one.story else ():
        text = f"{moment.title}  {moment.text}" if moment.text else moment.title
        out.print(Text.assemble((f"  {moment.kind:<12}", "dim"), line(one_line(text), _MOMENT)))


def _form_lines(form: Form) -> Iterator[str]:
    for where, marked in form.texts:
        yield one_line(f"[{where}] {' '.join(text for kind, text in marked if kind != 'gone')}")


def _print_item(item: Item, standing: Standing, told: ToldFinding) -> None:
    out = console()
    failed, repeats = item.reproduction
    checks = f"failed in {', '.join(item.checks)}" if item.checks else ""
    out.print(Text.assemble((item.id, "bold"), one_line(f"  {item.kind} of {item.archetype} {checks}")))
    out.print(one_line(item.story))
    if item.techniques or item.surface:
        out.print(one_line(f"technique {', '.join(item.techniques) or '-'} on {item.surface or '-'}"))
    if repeats:
        out.print(f"reproduced in {failed} of {repeats} repeats")
    for one in item.sightings:
        out.print(one_line(f"  {one.run}: {one.agent}, {count_phrase(len(one.probes), 'probe')}"))
    for file in item.files:
        out.print(one_line(f"  sirocco probe replay {file} --agent SPEC"))
    _print_told(told)
    out.print(Text(f"state: {_state_text(standing)}", style=_STYLES[standing.state]))
    for review in standing.reviews:
        judged = f"{review.decision}, severity {review.severity}, {review.novelty}"
        out.print(one_line(f"  {review.on} {review.by}: {judged}. {review.reason}"))
        if review.notes:
            out.print(one_line(f"    {review.notes}"))
    for dispute_ in standing.disputes:
        out.print(Text(one_line(f"  {dispute_.on} disputed by {dispute_.by}: {dispute_.reason}"), style="yellow"))
