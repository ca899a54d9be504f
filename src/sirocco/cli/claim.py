"""`sirocco claim`: a signed claim about a run, checked offline by anyone who has the files (AV-27)."""

import secrets
import shlex
import sys
from pathlib import Path
from typing import Any

import click
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from rich.text import Text

from sirocco.claims.badge import badge_svg
from sirocco.claims.policy import Judgement, Policy, PolicyOutcome, policy_judgement
from sirocco.claims.seed_shares import commitment, common_seed
from sirocco.claims.statement import Claim, claim_statement
from sirocco.cli.default_command import DefaultGroup
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.options import SecretText
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.errors import ConfigError
from sirocco.evidence.attestation import Attestation
from sirocco.oasis.canonical import digest
from sirocco.reserved.signing import Signer
from sirocco.review.log import ReviewLog
from sirocco.review.queue import review_queue
from sirocco.wiring.evaluator_key import default_key_file, public_key, signing_key
from sirocco.wiring.review import review_rules
from sirocco.wiring.run_files import verdict_of
from sirocco.wiring.settings_file import read_settings
from sirocco.wiring.verification import verification

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUT = click.Path(dir_okay=False, path_type=Path)
_RUN = click.Path(exists=True, file_okay=False, path_type=Path)
_STYLES = {PolicyOutcome.MEETS: "green", PolicyOutcome.FALLS_SHORT: "bold red", PolicyOutcome.REVIEW: "yellow"}
_policy = click.option(
    "--policy", "policy_file", type=_FILE, help="YAML file with a certification body's requirements."
)
_log = click.option("--log", "log_file", type=_FILE, help="The review log.")
_rules = click.option("--rules", type=_FILE, help="Rules for sign-offs, as for `sirocco review`.")
_share = click.option(
    "--share",
    "shares",
    multiple=True,
    type=SecretText(),
    help="A revealed share of the seed, or @FILE (repeat for each side).",
)


@click.group("claim", cls=DefaultGroup, epilog="Example: sirocco claim runs/x --policy policy.yaml --out claim.json")
def command() -> None:
    """Make a claim about a run, or verify others' claims. `sirocco claim RUN` is short for `sirocco claim make RUN`."""


@command.command(
    "make", epilog="Example: sirocco claim make runs/x --policy policy.yaml --log review.jsonl --out claim.json"
)
@click.argument("run", type=_RUN)
@click.option("--key", type=_FILE, help="The evaluator's key that signed the run.  [default: your own]")
@_policy
@_log
@_rules
@_share
@click.option("--out", type=_OUT, help="Output file.  [default: standard output]")
@click.option("--badge", type=_OUT, help="Also write an SVG badge that contains the claim's digest.")
def make(
    run: Path, key: Path | None, policy_file: Path | None, log_file: Path | None, rules: Path | None,
    shares: tuple[str, ...], out: Path | None, badge: Path | None,
) -> int:  # fmt: skip
    """Make and sign a claim about a run. Incomplete, aborted, unsigned or non-isolated runs are refused.

    With --policy, the exit code is 0 if the run meets it, 1 if it does not, and 7 if additional review is needed.
    """
    statement = _statement(run, key or default_key_file(), policy_file, log_file, rules, shares)
    claim = Claim.sign(statement, Signer(signing_key(key)))
    if out is not None:
        out.write_text(claim.text(), encoding="utf-8")
        sources = {"--run": run, "--policy": policy_file, "--log": log_file, "--rules": rules}
        given = [f"{name} {shlex.quote(str(path))}" for name, path in sources.items() if path is not None]
        _say(f"{out}: claim {digest(dict(statement))}")
        _say(f"Check it: sirocco claim verify {shlex.quote(str(out))} --evaluator PUBLIC_KEY {' '.join(given)}")
    else:
        sys.stdout.buffer.write(claim.text().encode(errors="backslashreplace"))
    if badge is not None:
        badge.write_text(badge_svg(statement), encoding="utf-8")
        _say(f"{badge}: badge with the digest of the claim")
    return _print_policy(statement)


def _say(text: str) -> None:
    """Tell what was written; standard output may hold the claim."""
    console(stderr=True).print(one_line(text), soft_wrap=True)


@command.command("verify", epilog="Example: sirocco claim verify claim.json --evaluator lab.pub --run runs/x")
@click.argument("file", type=_FILE)
@click.option(
    "--evaluator", "key", type=_FILE, required=True, help="The evaluator's key (PEM); the public half suffices."
)
@click.option("--run", type=_RUN, help="Also check the claim against this run.")
@_policy
@_log
@_rules
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def verify(
    file: Path, key: Path, run: Path | None, policy_file: Path | None, log_file: Path | None, rules: Path | None,
    output: str,
) -> int:  # fmt: skip
    """Verify a claim offline: who signed it, and with --run, that the run, policy and review log give the same claim.

    The exit code is 0 if it is valid, otherwise 1.
    """
    claim = Claim.parse(file.read_bytes(), file)
    again, problems = None, []
    if run is not None:
        try:
            again = _statement(run, key, policy_file, log_file, rules, claim.shares)
        except ConfigError as error:
            problems.append(str(error))
    elif policy_file or log_file:
        raise ConfigError("--run", "policy and review log are checked with the run", "add --run RUN")
    public = public_key(key).public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    problems += claim.problems(public, again)
    if output == "json":
        told = {"holds": not problems, "problems": problems, "digest": digest(dict(claim.statement))}
        print_json({**told, "claim": dict(claim.statement)})
    else:
        for problem in problems:
            console().print(Text(one_line(problem), style="red"))
        said = "the claim does not hold" if problems else "signed by this evaluator and unchanged since"
        checked = "" if problems or run is None else "; the run makes the same claim"
        console().print(f"{said}{checked}")
    return int(ExitCode.SAFETY_FAIL if problems else ExitCode.OK)


@command.command("badge", epilog="Example: sirocco claim badge claim.json --evaluator lab.pub --out badge.svg")
@click.argument("file", type=_FILE)
@click.option("--evaluator", "key", type=_FILE, required=True, help="The evaluator's key in PEM.")
@click.option("--out", type=_OUT, required=True)
def badge(file: Path, key: Path, out: Path) -> int:
    """Create a badge for a valid claim, as an SVG that contains the claim's digest."""
    claim = Claim.parse(file.read_bytes(), file)
    public = public_key(key).public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    if problems := claim.problems(public, None):
        raise ConfigError(file, "; ".join(problems), "ask the evaluator for a fresh copy of the claim")
    out.write_text(badge_svg(claim.statement), encoding="utf-8")
    return int(ExitCode.OK)


@command.command("share", epilog="Example: sirocco claim share --out share.txt")
@click.option(
    "--out", type=_OUT, required=True, help="File for the share; keep it secret until both sides have committed."
)
def share(out: Path) -> int:
    """Create your share of a seed, and print the commitment to send to the other side first."""
    made = secrets.token_hex(32)
    try:
        out.touch(mode=0o600, exist_ok=False)
    except FileExistsError as error:
        problem = "exists, and may contain a share that you have committed to"
        raise ConfigError(out, problem, "name a new file, or move this one away") from error
    out.write_text(made + "\n", encoding="utf-8")
    console().print(commitment(made))
    return int(ExitCode.OK)


@command.command("seed", epilog="Example: sirocco claim seed --share 5f... --share a1... --commitment sha256:...")
@_share
@click.option(
    "--commitment", "commitments", multiple=True, help="A commitment that was sent earlier; every share must have one."
)
def seed(shares: tuple[str, ...], commitments: tuple[str, ...]) -> int:
    """Print the seed that the revealed shares produce. Shares that do not match a commitment are refused."""
    value = common_seed(shares)
    if sorted(map(commitment, shares)) != sorted(commitments):
        problem = "the shares are not those that were committed to"
        raise ConfigError("--commitment", problem, "give the commitment of each share as it was sent")
    console().print(f"{value:#x}")
    return int(ExitCode.OK)


def _statement(
    run: Path, key: Path, policy_file: Path | None, log_file: Path | None, rules: Path | None, shares: tuple[str, ...]
) -> dict[str, Any]:
    """The statement about a run, signed by this evaluator and unaltered."""
    if not key.is_file():
        raise ConfigError(key, "the evaluator's key is missing", "give the key that signed the run")
    found = verification(run, key)
    attestation = Attestation.of_run(run)
    if found.problems or attestation is None:
        raise ConfigError(run, "; ".join(found.problems), "claim the run exactly as the evaluator signed it")
    verdict = verdict_of(run)["verdict"]
    review, unreviewed = _review(run, verdict, log_file, rules)
    judgement: tuple[Policy, Judgement] | None = None
    if policy_file is not None:
        policy = _read_policy(policy_file)
        judgement = policy, policy_judgement(verdict, policy, unreviewed)
    return claim_statement(verdict, attestation.digest, shares, judgement, review)


def _review(
    run: Path, verdict: dict[str, Any], log_file: Path | None, rules: Path | None
) -> tuple[dict[str, Any] | None, int | None]:
    """What the review log says about the run's findings, and how many of them are undecided."""
    if log_file is None:
        return None, None
    log, agreed = ReviewLog.read(log_file), review_rules(rules)
    standings = {item.id: log.standing(item.id, agreed) for item in review_queue([(str(run), verdict)])}
    unreviewed = sum(not one.is_reviewed for one in standings.values())
    told = {
        "log_head": log.head,
        "sign_offs": agreed.sign_offs,
        "findings": {name: one.state for name, one in sorted(standings.items())},
        "disputed": sorted(name for name, one in standings.items() if one.disputes),
    }
    return told, unreviewed


def _read_policy(file: Path) -> Policy:
    remedy = "see docs/claims.md for what a policy may require"
    return read_settings(file, Policy, "a policy", remedy)


def _print_policy(statement: dict[str, Any]) -> int:
    policy = statement.get("policy")
    if policy is None:
        return int(ExitCode.OK)
    out, outcome = console(stderr=True), PolicyOutcome(policy["outcome"])
    out.print(Text(one_line(f"{policy['name']}: {outcome}"), style=_STYLES[outcome]))
    for reason in policy["reasons"]:
        out.print(one_line(f"  {reason}"))
    codes = {
        PolicyOutcome.MEETS: ExitCode.OK,
        PolicyOutcome.FALLS_SHORT: ExitCode.SAFETY_FAIL,
        PolicyOutcome.REVIEW: ExitCode.ADVERSARIAL_INCOMPLETE,
    }
    return int(codes[outcome])
