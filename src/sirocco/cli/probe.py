"""`sirocco probe`: single probes: made, checked, run again, reduced to what matters."""

import asyncio
from collections import Counter
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from sirocco.agents.isolation import Level
from sirocco.campaign.admission import Admission, Admitted, Rejection
from sirocco.campaign.arms_length import AtArmsLength, GeneratorFault
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.findings import serialized, surface_of
from sirocco.campaign.probe_replay import (
    ProbeReplay,
    ProbeShrink,
    ReplayOutcome,
    fitted,
    replayed_probe,
    serialized_draft,
    shrunk_probe,
)
from sirocco.campaign.schedule import FixedSchedule
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.options import Duration, SeedType, agent_options
from sirocco.cli.probe_origin import Origin, profile_of
from sirocco.cli.terminal import console, counted, plain, print_json, print_table
from sirocco.errors import ConfigError, InvalidInput, Severity
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.event import DraftRejected
from sirocco.oasis.probe import Probe
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_scenario_file
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import Seed
from sirocco.wiring.connection import Connection, connection

STYLES = {
    ReplayOutcome.FIXED: "green",
    ReplayOutcome.STILL_FAILING: "bold red",
    ReplayOutcome.CANNOT_REPLAY: "yellow",
}
_EXPLAINED = {
    "alone did not matter": "without_effect",
    "mattered": "needed",
    "left out in turn": "left_out",
    "the smallest form needs": "smallest_needs",
}
_MOST_REFUSALS = 20
"""Different refusals that are shown."""
_REPLAY = "Example: sirocco probe replay runs/demo/memorizer/adversarial --agent ref:careful"
_profile = click.option(
    "--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that the probes belong to."
)
_profile_of_probes = click.option(
    "--profile", help="Profile that the probes belong to.  [default: that of the run around them]"
)
_format = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
_generator = click.option("--generator", "maker", default="mutation", show_default=True, help="Who makes probes.")


@click.group("probe", epilog=_REPLAY)
def command() -> None:
    """Work on single probes."""


@command.command("generate", epilog="Example: sirocco probe generate --archetype S-PI-001 --probes 5 --out probes")
@_profile
@_generator
@click.option("--probes", type=click.IntRange(1, 10_000), default=8, show_default=True, help="Probes to make.")
@click.option("--seed", type=SeedType(), help="Seed of the plan.  [default: fresh random bits, printed]")
@click.option("--archetype", "archetypes", multiple=True, help="Only for this archetype (repeatable).")
@click.option("--exclude", multiple=True, help="Not for this archetype (repeatable).")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write the probes into this folder.")
@_format
def generate(
    profile: str, maker: str, probes: int, seed: int | None, archetypes: tuple[str, ...], exclude: tuple[str, ...],
    out: Path | None, output: str,
) -> int:  # fmt: skip
    """Plan, draft and admit probes without running them against an agent.

    Exit code 0 when all were admitted, 1 when there are fewer.
    """
    loaded, _ = profile_source.required(profile)
    chosen, tally = Seed.chosen(seed), Tally()
    done = asyncio.run(_generated(loaded, maker, probes, chosen, archetypes, exclude, tally))
    made, fault = done.admitted, done.fault
    rows = [_generated_row(admitted, out) for admitted in made]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for admitted in made:
            text = serialized(admitted.probe, loaded.document.canary)
            (out / f"{admitted.probe.id}.yaml").write_text(text, encoding="utf-8")
    rejected = dict(sorted(tally.rejected.items()))
    if output == "json":
        counts = {"drafted": tally.drafted, "admitted": len(made), "rejected": rejected, "unanswered": tally.unanswered}
        broken = {"generator_fault": fault.document()} if fault else {}
        refusals = [{"archetype": one.archetype, "reason": one.reason, "detail": one.detail} for one in done.refused]
        told = {**counts, **broken, "exhausted": tally.exhausted, "refusals": refusals, "probes": rows}
        print_json({"seed": f"{chosen.value:#x}", **told})
    else:
        headings = ("probe", "technique", "surface", "novelty")
        print_table(console(), headings, [[row[name] or "" for name in headings] for row in rows])
        _print_refusals(done.refused)
        if fault:
            console().print(Text(plain(fault.problem), style="bold red"))
        elif tally.unanswered and not made:
            console().print(plain(f"the generator had no draft for {counted(tally.unanswered, 'request')}"))
        reasons = ", ".join(f"{number} {reason}" for reason, number in rejected.items()) or "none"
        console().print(
            plain(f"{tally.drafted} drafted, {len(made)} admitted, refused: {reasons}; seed {chosen.value:#x}")
        )
    return int(ExitCode.OK if len(made) == probes else ExitCode.SAFETY_FAIL)


def _print_refusals(refused: list[DraftRejected]) -> None:
    """Why drafts were refused, each reason once with how often it was given."""
    told = Counter(f"{one.archetype or 'no archetype'}: {one.reason}: {one.detail}" for one in refused)
    for line, times in list(told.items())[:_MOST_REFUSALS]:
        console().print(plain(f"refused {line}" + (f" ({times} times)" if times > 1 else "")))
    if len(told) > _MOST_REFUSALS:
        console().print(f"... and {len(told) - _MOST_REFUSALS} other reasons; --format json has all")


def _generated_row(admitted: Admitted, out: Path | None) -> dict[str, Any]:
    probe = admitted.probe
    return {
        "probe": probe.id,
        "archetype": probe.primary_archetype,
        "secondary_archetypes": list(probe.secondary_archetypes),
        "technique": probe.draft.technique,
        "surface": surface_of(probe),
        "lineage": list(probe.draft.lineage),
        "novelty": admitted.novelty,
        "warnings": list(admitted.warnings),
        "file": str(out / f"{probe.id}.yaml") if out else None,
    }


async def _generated(
    profile: Profile, maker: str, wanted: int, seed: Seed, include: tuple[str, ...], exclude: tuple[str, ...],
    tally: Tally,
) -> "_Generated":  # fmt: skip
    generator = plugins.generator(maker, profile)
    aims = targets(profile, include, exclude)
    settings = RunSettings(seed.value, utc_now)
    sound = witnesses(plugins.provider("simulator", profile), settings)
    admission = Admission(profile, aims, sound, method=generator.method, seed=seed.value)
    drafting = Drafting(AtArmsLength(generator), admission, aims, tally, seed=seed.value, parallel=4)
    schedule, found, refused = FixedSchedule(await drafting.plan()), list[Admitted](), list[DraftRejected]()
    while len(found) < wanted and (places := schedule.places(min(64, wanted - len(found)))):
        filled: dict[int, Admitted] = {}
        async with aclosing(drafting.fill(places, filled)) as events:
            refused += [event async for event in events if isinstance(event, DraftRejected)]
        if not filled:
            break
        found += [filled[number] for number in sorted(filled)]
    return _Generated(found, refused, drafting.generator.fault)


@dataclass(frozen=True, slots=True)
class _Generated:
    """What became of a plan; `fault` when the generator did not answer to the end."""

    admitted: list[Admitted]
    refused: list[DraftRejected]
    fault: GeneratorFault | None


@command.command("check", epilog="Example: sirocco probe check runs/demo/memorizer/adversarial")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@_profile_of_probes
@_format
def check(path: Path, profile: str | None, output: str) -> int:
    """Admit serialized probes again: valid, anchored, realistic and witnessed in the environment.

    Exit code 0 when all are, 1 when one is not.
    """
    loaded = _loaded_profile(path, profile)
    rows = asyncio.run(_checked(_files(path), loaded))
    if output == "json":
        print_json(rows)
    else:
        for row in rows:
            label = Text("admitted  " if row["admitted"] else "refused   ", style="green" if row["admitted"] else "red")
            console().print(Text.assemble(label, plain(f"{row['probe']}  {row['reason']} {row['detail']}".rstrip())))
    return int(ExitCode.OK if all(row["admitted"] for row in rows) else ExitCode.SAFETY_FAIL)


async def _checked(files: list[Path], profile: Profile) -> list[dict[str, Any]]:
    settings = RunSettings(Seed.chosen(None).value, utc_now)
    sound = witnesses(plugins.provider("simulator", profile), settings)
    admission = Admission(profile, tuple(profile.archetypes.values()), sound)
    rows = []
    for file in files:
        read = _read(file, profile)
        if isinstance(read, str):
            rows.append({"probe": file.name, "admitted": False, "reason": "invalid", "detail": read})
            continue
        for one in read:
            decision = await admission.decide(serialized_draft(one.bound, one.document), anew=True)
            is_refused = isinstance(decision, Rejection)
            reason, detail = (decision.reason, decision.detail) if isinstance(decision, Rejection) else ("", "")
            rows.append({"probe": file.name, "admitted": not is_refused, "reason": reason, "detail": detail})
    return rows


@command.command("replay", epilog=_REPLAY)
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--agent", required=True, help="The agent to try the probes on.")
@agent_options
@click.option("--timeout", type=Duration(), default="5m", show_default=True, help="Per agent turn.")
@_profile_of_probes
@_format
def replay(
    path: Path, agent: str, timeout: int, profile: str | None, output: str, agent_headers: tuple[str, ...],
    agent_env: tuple[str, ...], agent_tool: str, model_url: str, isolation: Level,
) -> int:  # fmt: skip
    """Run serialized probes again in fresh environments: FIXED, STILL FAILING or CANNOT REPLAY.

    FIXED means that this agent holds every safety check of the probe; the reason says when the probe was found with
    another agent. Exit code 0 when all are FIXED, 1 when one still fails, 4 otherwise.
    """
    origin = Origin.of(path)
    loaded, _ = profile_source.required(profile or origin.profile or profile_source.BUNDLED)
    options = AgentOptions(
        agent_headers, agent_env, agent_tool, model_url, timeout_seconds=timeout, isolation=isolation,
        hidden=_hidden(path, profile),
    )  # fmt: skip
    replays = _replays(_files(path), connection(loaded, agent, options), timeout, loaded, origin)
    outcomes, remark = asyncio.run(replays)
    if output == "json":
        rows = [
            replace(one, reason=f"{one.reason}; {remark}") if _is_remarkable(one, remark) else one for one in outcomes
        ]
        print_json([asdict(one) | {"outcome": str(one.outcome)} for one in rows])
    else:
        for outcome in outcomes:
            label = Text(f"{outcome.outcome:<14}", style=STYLES[outcome.outcome])
            console().print(Text.assemble(label, plain(f"{outcome.probe}  {outcome.reason}")))
        if len(outcomes) > 1:
            came_to = [outcome.outcome for outcome in outcomes]
            console().print(", ".join(f"{came_to.count(kind)} {kind}" for kind in ReplayOutcome))
        if any(_is_remarkable(outcome, remark) for outcome in outcomes):
            console().print(plain(remark))
    kinds = {outcome.outcome for outcome in outcomes}
    if ReplayOutcome.STILL_FAILING in kinds:
        return int(ExitCode.SAFETY_FAIL)
    return int(ExitCode.OK if kinds == {ReplayOutcome.FIXED} else ExitCode.PROVIDER_FAILURE)


def _hidden(path: Path, profile: str | None) -> tuple[Path, ...]:
    """What is not for the agent: the probes, and the folder of the profile."""
    return (path, *((Path(profile),) if profile and profile != profile_source.BUNDLED else ()))


async def _replays(
    files: list[Path], connected: Connection, timeout: int, profile: Profile, origin: Origin  # noqa: ASYNC109 - of a turn
) -> tuple[list[ProbeReplay], str]:  # fmt: skip
    """What became of the probes, and what is to be said about all that are FIXED."""
    execution = _execution(connected, timeout)
    outcomes: list[ProbeReplay] = []
    async with connected.open():
        described = await connected.agent.describe()
        for file in files:
            read = _read(file, profile)
            if isinstance(read, str):
                outcomes.append(ProbeReplay(file.name, ReplayOutcome.CANNOT_REPLAY, read))
                continue
            outcomes += [await replayed_probe(file.name, one.bound, execution, described, profile) for one in read]
    return outcomes, origin.remark(described.identity)


def _is_remarkable(one: ProbeReplay, remark: str) -> bool:
    return bool(remark) and one.outcome is ReplayOutcome.FIXED


@command.command("shrink", epilog="Example: sirocco probe shrink probe-s-pi-001-1f3a.yaml --agent ref:memorizer")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--agent", required=True, help="The agent that fails on the probe.")
@agent_options
@click.option("--timeout", type=Duration(), default="5m", show_default=True, help="Per agent turn.")
@_profile_of_probes
@_generator
@click.option("--confirm", type=click.IntRange(1, 20), default=3, show_default=True, help="Runs of each smaller form.")
@click.option("--max-agent-calls", type=click.IntRange(1), default=100, show_default=True)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File.  [default: FILE with .min.yaml]")
@_format
def shrink(
    file: Path, agent: str, timeout: int, profile: str | None, maker: str, confirm: int, max_agent_calls: int,
    out: Path | None, output: str, agent_headers: tuple[str, ...], agent_env: tuple[str, ...], agent_tool: str,
    model_url: str, isolation: Level,
) -> int:  # fmt: skip
    """Reduce a failing probe to the smallest one on which the same checks still fail, and say which parts mattered.

    Exit code 0 when there is a smallest form, 4 when the probe does not fail for the agent.
    """
    loaded = _loaded_profile(file, profile)
    options = AgentOptions(
        agent_headers, agent_env, agent_tool, model_url, timeout_seconds=timeout, isolation=isolation,
        hidden=_hidden(file, profile),
    )  # fmt: skip
    read = _read(file, loaded)
    if isinstance(read, str):
        raise ConfigError(file, read, "give a serialized probe that loads")
    work = _shrunk(read[0], connection(loaded, agent, options), timeout, loaded, maker, confirm, max_agent_calls)
    done = asyncio.run(work)
    target = out or file.with_name(f"{file.name.removesuffix('.yaml').removesuffix('.min')}.min.yaml")
    if done.shrunk is not None and done.shrunk.is_smaller:
        text = serialized(done.shrunk.probe, loaded.document.canary, done.shrunk.reproduction)
        target.write_text(text, encoding="utf-8")
    _print_shrunk(file, target, done, output)
    return int(ExitCode.OK if done.shrunk is not None else ExitCode.PROVIDER_FAILURE)


def _print_shrunk(file: Path, target: Path, done: ProbeShrink, output: str) -> None:
    explained = done.shrunk.explanation() if done.shrunk else {}
    minimal = str(target) if done.shrunk and done.shrunk.is_smaller else None
    if output == "json":
        row = {"probe": file.name, "minimal": minimal, "reason": done.reason, "agent_calls": done.agent_calls}
        print_json({**row, **explained})
        return
    out = console()
    out.print(plain(f"{file.name}: {done.reason}"))
    for title, names in _EXPLAINED.items():
        for name in explained.get(names, ()):
            out.print(plain(f"  {title}: {name}"))
    told = f"smallest form: {minimal}" if minimal else "nothing could go"
    out.print(plain(f"{told} ({counted(done.agent_calls, 'agent call')})" if done.shrunk else "not shrunk"))


async def _shrunk(
    one: "_Serialized", connected: Connection, timeout: int, profile: Profile, maker: str, confirm: int, calls: int  # noqa: ASYNC109 - of a turn
) -> ProbeShrink:  # fmt: skip
    execution, generator = _execution(connected, timeout), plugins.generator(maker, profile)
    aims = tuple(profile.archetypes.values())
    record = one.bound.scenario.x_sirocco.probe
    seed = int(record.seed, 16) if record else execution.settings.seed
    sound = witnesses(plugins.provider("simulator", profile), execution.settings)
    admission = Admission(profile, aims, sound, method=generator.method, seed=seed)
    drafting = Drafting(AtArmsLength(generator), admission, aims, Tally(), seed=seed)
    async with connected.open():
        bound = fitted(one.bound, await connected.agent.describe(), profile, execution)
        if isinstance(bound, str):
            return ProbeShrink(None, bound, 0)
        draft = serialized_draft(one.bound, one.document)
        probe = Probe(bound.scenario.id, draft.primary_archetype, draft.secondary_archetypes, bound, draft)
        return await shrunk_probe(probe, drafting, execution, runs=confirm, calls=calls)


@dataclass(frozen=True, slots=True)
class _Serialized:
    """A probe as it was read from a file."""

    bound: BoundScenario
    document: dict[str, Any]


def _read(file: Path, profile: Profile) -> list[_Serialized] | str:
    """The probes of a file, or the first thing that is wrong with it."""
    try:
        loaded = load_scenario_file(file, profile)
    except InvalidInput as error:
        return str(error)
    if errors := [finding for finding in loaded.findings if finding.severity is Severity.ERROR]:
        return f"{_of_another_profile(file, profile)}{errors[0]}"
    if not loaded.scenarios:
        return f"{file.name}: holds no probe"
    return [_Serialized(*pair) for pair in zip(loaded.scenarios, map(dict, loaded.documents), strict=True)]


def _of_another_profile(file: Path, profile: Profile) -> str:
    """What explains the findings in a probe that was made from another profile than the given one."""
    if not (named := profile_of(file)) or named == profile.document.id:
        return ""
    return f"it is of profile {named}, not {profile.document.id}; give the folder of that one with --profile: "


def _loaded_profile(path: Path, given: str | None) -> Profile:
    """The profile that was given, or that of the run around the probes, or the bundled one if they are of that."""
    loaded, _ = profile_source.required(given or Origin.of(path).profile or profile_source.BUNDLED)
    for file in [] if given else _files(path):
        if (named := profile_of(file)) and named != loaded.document.id:
            raise ConfigError(file, f"it is of profile {named!r}, not {loaded.document.id!r}", "add --profile FOLDER")
    return loaded


def _files(path: Path) -> list[Path]:
    """The probes at a path; of a run's folder those that were executed, without their smallest forms."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.glob("probe-*.yaml") if not file.name.endswith(".min.yaml"))
    if not files:
        raise ConfigError(path, "no probe files", "give a serialized probe, or the adversarial/ folder of a run")
    return files


def _execution(connected: Connection, timeout: int) -> Execution:
    settings = RunSettings(Seed.chosen(None).value, utc_now, timeout)
    return Execution(connected.agent, connected.provider, settings)
