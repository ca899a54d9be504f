"""`sirocco probe`: single probes: generated, checked, run again, reduced to what matters."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from sirocco.campaign.findings import probe_text, surface_of
from sirocco.campaign.given import GivenProbe, given_probe
from sirocco.campaign.probe_replay import (
    ProbeReplay,
    ProbeShrink,
    ReplayOutcome,
    fit_probe,
    replayed_probe,
    serialized_draft,
    shrunk_probe,
)
from sirocco.campaign.schedule import FixedSchedule
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.options import Duration, SeedType, agent_options
from sirocco.cli.probe_origin import Origin, distinct_probes, profile_of
from sirocco.cli.promote import promote
from sirocco.cli.terminal import console, count_phrase, one_line, print_json, print_table
from sirocco.errors import ConfigError, InvalidInput, Severity
from sirocco.oasis.event import DraftRejected
from sirocco.oasis.probe import Probe, ProbeGenerator
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import INTERPRETATION_NOTE
from sirocco.profiles.load import load_scenario_file
from sirocco.reports.junit import Case, cases_xml
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import Seed
from sirocco.wiring.connection import Connection, connection
from sirocco.wiring.material import opened_material
from sirocco.wiring.reserved_keys import signing_file

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
_BLOCK = 64
"""The number of places filled before the plan is told the results, as in a run."""
_MOST_REFUSALS = 20
"""The number of different refusals shown."""
_REPLAY = "Example: sirocco probe replay runs/demo/memorizer/adversarial --agent ref:careful"
_profile = click.option(
    "--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that the probes belong to."
)
_profile_of_probes = click.option(
    "--profile", help="Profile that the probes belong to.  [default: that of the run that contains them]"
)
_format = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
_material = click.option(
    "--material",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Sealed wording in addition to the public material (repeatable).",
)
_identity = click.option(
    "--identity", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Key for --material."
)
_generator = click.option("--generator", "maker", default="mutation", show_default=True, help="What generates probes.")


@click.group("probe", epilog=_REPLAY)
def command() -> None:
    """Work with single probes."""


command.add_command(promote)


@command.command("generate", epilog="Example: sirocco probe generate --archetype S-PI-001 --probes 5 --out probes")
@_profile
@_generator
@click.option(
    "--probes", type=click.IntRange(1, 10_000), default=8, show_default=True, help="How many probes to generate."
)
@click.option("--seed", type=SeedType(), help="Seed of the plan.  [default: random, printed]")
@click.option("--archetype", "archetypes", multiple=True, help="Only for this archetype (repeatable).")
@click.option("--exclude", multiple=True, help="Not for this archetype (repeatable).")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write the probes into this folder.")
@_material
@_identity
@click.option("--summary", is_flag=True, help="Print how many probes each archetype got instead of the probes.")
@_format
def generate(
    profile: str, maker: str, probes: int, seed: int | None, archetypes: tuple[str, ...], exclude: tuple[str, ...],
    out: Path | None, material: tuple[Path, ...], identity: Path | None, output: str, *, summary: bool,
) -> int:  # fmt: skip
    """Plan, draft and admit probes without running them against an agent.

    The exit code is 0 if all of them were admitted, otherwise 1.
    """
    loaded, _ = profile_source.required_profile(profile)
    chosen, tally = Seed.choose(seed), Tally()
    generator = plugins.generator(maker, loaded, opened_material(material, identity, loaded))
    done = asyncio.run(_generate_probes(loaded, generator, probes, chosen, archetypes, exclude, tally))
    made, fault = done.admitted, done.fault
    rows = [_generated_row(admitted, out) for admitted in made]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for admitted in made:
            text = probe_text(admitted.probe, loaded.document.canary)
            (out / f"{admitted.probe.id}.yaml").write_text(text, encoding="utf-8")
    rejected = dict(sorted(tally.rejected.items()))
    if output == "json":
        counts = {"drafted": tally.drafted, "admitted": len(made), "rejected": rejected, "unanswered": tally.unanswered}
        broken = {"generator_fault": fault.document()} if fault else {}
        refusals = [{"archetype": one.archetype, "reason": one.reason, "detail": one.detail} for one in done.refused]
        shares = {"probes_by_archetype": done.spread, "thin": done.thin}
        told = {**counts, **broken, "exhausted": tally.exhausted, **shares, "refusals": refusals, "probes": rows}
        print_json({"seed": f"{chosen.value:#x}", **told})
    else:
        if summary:
            print_table(console(), ("archetype", "probes"), list(done.spread.items()))
        else:
            headings = ("probe", "technique", "surface", "novelty")
            print_table(console(), headings, [[row[name] or "" for name in headings] for row in rows])
        _print_refusals(done.refused)
        if done.thin:
            text = f"less than half of a fair share of the probes went to {', '.join(done.thin)}"
            console().print(Text(one_line(text), style="yellow"))
        if fault:
            console().print(Text(one_line(fault.problem), style="bold red"))
        elif tally.unanswered and not made:
            console().print(one_line(f"the generator had no draft for {count_phrase(tally.unanswered, 'request')}"))
        reasons = ", ".join(f"{number} {reason}" for reason, number in rejected.items()) or "none"
        console().print(
            one_line(f"{tally.drafted} drafted, {len(made)} admitted, refused: {reasons}; seed {chosen.value:#x}")
        )
    return int(ExitCode.OK if len(made) == probes else ExitCode.SAFETY_FAIL)


def _print_refusals(refused: list[DraftRejected]) -> None:
    """The reasons why drafts were refused, each once with its count."""
    told = Counter(f"{one.archetype or 'no archetype'}: {one.reason}: {one.detail}" for one in refused)
    for line, times in list(told.items())[:_MOST_REFUSALS]:
        console().print(one_line(f"refused {line}" + (f" ({times} times)" if times > 1 else "")))
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


async def _generate_probes(
    profile: Profile, generator: ProbeGenerator, wanted: int, seed: Seed, include: tuple[str, ...],
    exclude: tuple[str, ...], tally: Tally,
) -> "_Generated":  # fmt: skip
    aims = targets(profile, include, exclude)
    settings = RunSettings(seed.value, utc_now)
    sound = witnesses(plugins.own_provider(profile), settings, profile.domain)
    admission = Admission(profile, aims, sound, method=generator.method, seed=seed.value)
    drafting = Drafting(AtArmsLength(generator), admission, aims, tally, seed=seed.value, parallel=4)
    schedule, found, refused = FixedSchedule(await drafting.plan()), list[Admitted](), list[DraftRejected]()
    while len(found) < wanted and not drafting.generator.fault:
        places = schedule.places(min(_BLOCK, wanted - len(found)))
        if not places:
            break
        filled: dict[int, Admitted] = {}
        async with aclosing(drafting.fill(places, filled)) as events:
            refused += [event async for event in events if isinstance(event, DraftRejected)]
        found += [filled[number] for number in sorted(filled)]
    counts = Counter(one.probe.primary_archetype for one in found)
    spread = {aim.id: counts[aim.id] for aim in aims}
    return _Generated(found, refused, spread, drafting.design.underfilled_archetypes(counts), drafting.generator.fault)


@dataclass(frozen=True, slots=True)
class _Generated:
    """The result of a plan; `fault` if the generator stopped answering."""

    admitted: list[Admitted]
    refused: list[DraftRejected]
    spread: dict[str, int]
    """The probes of each requested archetype."""
    thin: dict[str, int]
    """Those of them with less than half of a fair share."""
    fault: GeneratorFault | None


@command.command("check", epilog="Example: sirocco probe check runs/demo/memorizer/adversarial")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@_profile_of_probes
@_generator
@_material
@_identity
@_format
def check(
    path: Path, profile: str | None, maker: str, material: tuple[Path, ...], identity: Path | None, output: str
) -> int:
    """Check that serialized probes are still admissible: valid, anchored, realistic and witnessed.

    The exit code is 0 if all of them are, otherwise 1.
    """
    loaded = _loaded_profile(path, profile)
    generator = plugins.generator(maker, loaded, opened_material(material, identity, loaded))
    rows = asyncio.run(_check_files(_files(path), loaded, generator))
    if output == "json":
        print_json(rows)
    else:
        for row in rows:
            label = Text("admitted  " if row["admitted"] else "refused   ", style="green" if row["admitted"] else "red")
            console().print(Text.assemble(label, one_line(f"{row['probe']}  {row['reason']} {row['detail']}".rstrip())))
            _print_remark(row["remark"])
    return int(ExitCode.OK if all(row["admitted"] for row in rows) else ExitCode.SAFETY_FAIL)


async def _check_files(files: list[Path], profile: Profile, generator: ProbeGenerator) -> list[dict[str, Any]]:
    shelf = _Shelf.for_profile(profile, generator, RunSettings(Seed.choose(None).value, utc_now))
    rows = []
    for file in files:
        read = await shelf.read(file)
        for one in [read] if isinstance(read, str) else read:
            reason, detail = ("invalid", one) if isinstance(one, str) else await _refusal(one, shelf.admission)
            remark = "" if isinstance(one, str) else one.remark
            row = {"probe": file.name, "admitted": not reason, "reason": reason, "detail": detail, "remark": remark}
            rows.append(row | {"edited": [] if isinstance(one, str) else list(one.edited)})
    return rows


async def _refusal(one: GivenProbe, admission: Admission) -> tuple[str, str]:
    """Why a probe is not admissible unchanged, in a word and in detail; includes what would be repaired in a draft."""
    decision = await admission.decide(serialized_draft(one.bound, one.document), anew=True)
    if isinstance(decision, Rejection):
        return decision.reason, decision.detail
    return ("overruled", "; ".join(decision.warnings)) if decision.warnings else ("", "")


def _print_remark(remark: str) -> None:
    if remark:
        console().print(Text(one_line(f"  {remark}"), style="yellow"))


@command.command("replay", epilog=_REPLAY)
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--agent", required=True, help="The agent to run the probes against.")
@agent_options
@click.option("--timeout", type=Duration(), default="5m", show_default=True, help="Limit for one turn of the agent.")
@_profile_of_probes
@_generator
@_material
@_identity
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Also write the outcomes as JUnit XML.")
@_format
def replay(
    paths: tuple[Path, ...], agent: str, timeout: int, profile: str | None, maker: str, material: tuple[Path, ...],
    identity: Path | None, junit: Path | None, output: str, agent_headers: tuple[str, ...],
    agent_env: tuple[str, ...], agent_tool: str, model_url: str, isolation: Level,
) -> int:  # fmt: skip
    """Run serialized probes again in fresh environments: FIXED, STILL FAILING or CANNOT REPLAY.

    PATHS are files, folders of probes, and run directories. A probe that occurs more than once is run once. FIXED means
    that this agent passes every safety check of the probe; the reason says so if the probe was found with another
    agent. The exit code is 0 if all are FIXED, 1 if one still fails, and 4 otherwise.
    """
    origins = {
        file: Origin.from_path(file) for file in distinct_probes(file for path in paths for file in _files(path))
    }
    loaded, _ = profile_source.required_profile(profile or _common_profile(origins) or profile_source.BUNDLED)
    options = AgentOptions(
        agent_headers, agent_env, agent_tool, model_url, timeout_seconds=timeout, isolation=isolation,
        hidden=(*(one for path in paths for one in _hidden_paths(path, profile)), *_secret_paths(material, identity)),
    )  # fmt: skip
    generator = plugins.generator(maker, loaded, opened_material(material, identity, loaded))
    replays = _replays(origins, connection(loaded, agent, options), timeout, loaded, generator)
    outcomes = asyncio.run(replays)
    if junit is not None:
        junit.write_text(_replays_junit(agent, outcomes), encoding="utf-8")
    if output == "json":
        print_json([_replay_row(one) for one in outcomes])
    else:
        _print_replays(outcomes)
    kinds = {outcome.outcome for outcome in outcomes}
    if ReplayOutcome.STILL_FAILING in kinds:
        return int(ExitCode.SAFETY_FAIL)
    return int(ExitCode.OK if kinds == {ReplayOutcome.FIXED} else ExitCode.PROVIDER_FAILURE)


def _common_profile(origins: Mapping[Path, Origin]) -> str | None:
    """The profile of the runs that probes come from; ConfigError if there are several."""
    named = {origin.profile: file for file, origin in origins.items() if origin.profile}
    if len(named) > 1:
        remedy = "replay the probes of each profile separately, or give --profile"
        raise ConfigError(next(iter(named.values())), f"the probes belong to {len(named)} profiles", remedy)
    return next(iter(named), None)


def _replay_row(one: ProbeReplay) -> dict[str, Any]:
    """An outcome as data; a remark on its origin is part of the reason."""
    reason = f"{one.reason}; {one.origin}" if one.origin else one.reason
    row = asdict(replace(one, reason=reason)) | {"outcome": str(one.outcome)}
    del row["origin"]
    return row


def _print_replays(outcomes: Sequence[ProbeReplay]) -> None:
    rows = [(Text(one.outcome, style=STYLES[one.outcome]), one.probe, one.reason) for one in outcomes]
    if len(rows) > 1:
        print_table(console(), ("outcome", "probe", "why"), rows)
    else:
        console().print(Text("  ").join(part if isinstance(part, Text) else Text(one_line(part)) for part in rows[0]))
    for one in outcomes:
        _print_remark(f"{one.probe}: {one.remark}" if one.remark else "")
    if len(outcomes) > 1:
        came_to = [outcome.outcome for outcome in outcomes]
        console().print(", ".join(f"{came_to.count(kind)} {kind}" for kind in ReplayOutcome))
    for told in dict.fromkeys(one.origin for one in outcomes if one.origin):
        console().print(one_line(told))


def _replays_junit(agent: str, outcomes: Iterable[ProbeReplay]) -> str:
    """A case for each probe: one that still fails is a failure, one that could not be run is an error."""
    kinds = {ReplayOutcome.FIXED: "", ReplayOutcome.STILL_FAILING: "failure", ReplayOutcome.CANNOT_REPLAY: "error"}
    cases = (Case(one.probe, "probe", kinds[one.outcome], str(one.outcome), one.reason) for one in outcomes)
    return cases_xml(
        f"probe replay: {agent}", "adversarial.replay", cases, {"interpretation_note": INTERPRETATION_NOTE}
    )


def _hidden_paths(path: Path, profile: str | None) -> tuple[Path, ...]:
    """What the agent must not read: the probes with the run around them, and the folder of the profile."""
    runs = [folder for folder in path.resolve().parents if (folder / "run.yaml").is_file()]
    return (path, *runs, *((Path(profile),) if profile and profile != profile_source.BUNDLED else ()))


def _secret_paths(material: tuple[Path, ...], identity: Path | None) -> tuple[Path, ...]:
    """The bundles and the keys that open them, which the agent must not read either."""
    return (*material, *((identity, signing_file(identity)) if identity else ()))


async def _replays(
    origins: Mapping[Path, Origin], connected: Connection, timeout: int, profile: Profile, generator: ProbeGenerator  # noqa: ASYNC109 - of a turn
) -> list[ProbeReplay]:  # fmt: skip
    """The outcome of each probe, with remarks about those that are FIXED."""
    execution = _execution(connected, timeout)
    shelf = _Shelf.for_profile(profile, generator, execution.settings)
    outcomes: list[ProbeReplay] = []
    async with connected.open():
        described = await connected.agent.describe()
        for file, origin in origins.items():
            read = await shelf.read(file)
            if isinstance(read, str):
                outcomes.append(ProbeReplay(file.name, ReplayOutcome.CANNOT_REPLAY, read))
                continue
            for one in read:
                done = await replayed_probe(file.name, one.bound, execution, described, profile)
                remark = origin.remark(described.identity) if done.outcome is ReplayOutcome.FIXED else ""
                outcomes.append(replace(done, remark=one.remark, origin=remark))
    return outcomes


@command.command("shrink", epilog="Example: sirocco probe shrink probe-s-pi-001-1f3a.yaml --agent ref:memorizer")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--agent", required=True, help="The agent that fails on the probe.")
@agent_options
@click.option("--timeout", type=Duration(), default="5m", show_default=True, help="Limit for one turn of the agent.")
@_profile_of_probes
@_generator
@_material
@_identity
@click.option("--confirm", type=click.IntRange(1, 20), default=3, show_default=True, help="Runs of each smaller form.")
@click.option("--max-agent-calls", type=click.IntRange(1), default=100, show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Output file.  [default: FILE with .min.yaml]"
)
@_format
def shrink(
    file: Path, agent: str, timeout: int, profile: str | None, maker: str, material: tuple[Path, ...],
    identity: Path | None, confirm: int, max_agent_calls: int, out: Path | None, output: str,
    agent_headers: tuple[str, ...], agent_env: tuple[str, ...], agent_tool: str, model_url: str, isolation: Level,
) -> int:  # fmt: skip
    """Reduce a failing probe to its smallest form with the same failing checks, and report which parts mattered.

    The document in the file is shrunk as it is; edits are not undone. The exit code is 0 if there is a smallest form,
    and 4 if the probe does not fail for the agent.
    """
    loaded = _loaded_profile(file, profile)
    options = AgentOptions(
        agent_headers, agent_env, agent_tool, model_url, timeout_seconds=timeout, isolation=isolation,
        hidden=(*_hidden_paths(file, profile), *_secret_paths(material, identity)),
    )  # fmt: skip
    generator = plugins.generator(maker, loaded, opened_material(material, identity, loaded))
    work = _shrunk(file, connection(loaded, agent, options), timeout, loaded, generator, confirm, max_agent_calls)
    done = asyncio.run(work)
    target = out or file.with_name(f"{file.name.removesuffix('.yaml').removesuffix('.min')}.min.yaml")
    if done.shrunk is not None and done.shrunk.is_smaller:
        text = probe_text(done.shrunk.probe, loaded.document.canary, done.shrunk.reproduction)
        target.write_text(text, encoding="utf-8")
    _print_shrunk(file, target, done, output)
    return int(ExitCode.OK if done.shrunk is not None else ExitCode.PROVIDER_FAILURE)


def _print_shrunk(file: Path, target: Path, done: ProbeShrink, output: str) -> None:
    explained = done.shrunk.explanation() if done.shrunk else {}
    minimal = str(target) if done.shrunk and done.shrunk.is_smaller else None
    if output == "json":
        row = {"probe": file.name, "minimal": minimal, "reason": done.reason, "agent_calls": done.agent_calls}
        row["remark"] = done.remark
        print_json({**row, **explained})
        return
    out = console()
    out.print(one_line(f"{file.name}: {done.reason}"))
    _print_remark(done.remark)
    for title, names in _EXPLAINED.items():
        for name in explained.get(names, ()):
            out.print(one_line(f"  {title}: {name}"))
    told = f"smallest form: {minimal}" if minimal else "nothing could go"
    out.print(one_line(f"{told} ({count_phrase(done.agent_calls, 'agent call')})" if done.shrunk else "not shrunk"))


async def _shrunk(
    file: Path, connected: Connection, timeout: int, profile: Profile, generator: ProbeGenerator,  # noqa: ASYNC109 - of a turn
    confirm: int, calls: int,
) -> ProbeShrink:  # fmt: skip
    execution = _execution(connected, timeout)
    shelf = _Shelf.for_profile(profile, generator, execution.settings)
    read = await shelf.read(file)
    if isinstance(read, str):
        raise ConfigError(file, read, "give a serialized probe that loads")
    if len(read) > 1:
        raise ConfigError(file, f"it contains {len(read)} probes", "give a file with one probe")
    one = read[0]
    aims = tuple(profile.archetypes.values())
    drafting = Drafting(shelf.generator, shelf.admission, aims, Tally(), seed=execution.settings.seed)
    async with connected.open():
        bound = fit_probe(one.bound, await connected.agent.describe(), profile, execution)
        if isinstance(bound, str):
            return ProbeShrink(None, bound, 0, one.remark)
        draft = serialized_draft(one.bound, one.document)
        probe = Probe(bound.scenario.id, draft.primary_archetype, draft.secondary_archetypes, bound, draft)
        done = await shrunk_probe(probe, one, drafting, execution, runs=confirm, calls=calls)
        return replace(done, remark=one.remark)


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Reads probes from files and admits them unchanged: it writes no record into them."""

    profile: Profile
    generator: AtArmsLength
    admission: Admission

    @classmethod
    def for_profile(cls, profile: Profile, generator: ProbeGenerator, settings: RunSettings) -> "_Shelf":
        """For a profile and the generator that its probes claim to come from."""
        sound = witnesses(plugins.own_provider(profile), settings, profile.domain)
        admission = Admission(profile, tuple(profile.archetypes.values()), sound)
        return cls(profile, AtArmsLength(generator), admission)

    async def read(self, file: Path) -> list[GivenProbe] | str:
        """The probes of a file, or the first problem in it."""
        try:
            loaded = load_scenario_file(file, self.profile)
            if errors := [finding for finding in loaded.findings if finding.severity is Severity.ERROR]:
                return f"{_of_another_profile(file, self.profile)}{errors[0]}"
            pairs = zip(loaded.scenarios, map(dict, loaded.documents), strict=True)
            found = [await given_probe(bound, document, self.generator, self.admission) for bound, document in pairs]
        except InvalidInput as error:
            return str(error)
        return found or f"{file.name}: contains no probe"


def _of_another_profile(file: Path, profile: Profile) -> str:
    """An explanation for findings in a probe that was made from another profile than the given one."""
    if not (named := profile_of(file)) or named == profile.document.id:
        return ""
    return f"it is of profile {named}, not {profile.document.id}; give the folder of that one with --profile: "


def _loaded_profile(path: Path, given: str | None) -> Profile:
    """The given profile, or that of the run around the probes, or the bundled one if they belong to it."""
    loaded, _ = profile_source.required_profile(given or Origin.from_path(path).profile or profile_source.BUNDLED)
    for file in [] if given else _files(path):
        if (named := profile_of(file)) and named != loaded.document.id:
            raise ConfigError(
                file, f"it belongs to profile {named!r}, not {loaded.document.id!r}", "add --profile FOLDER"
            )
    return loaded


def _files(path: Path) -> list[Path]:
    """The probes at a path; for a run or a folder in it, the executed ones without their smallest forms."""
    if not path.is_dir():
        return [path]
    if (path / "run.yaml").is_file():
        path = path / "adversarial"
    files = sorted(file for file in path.glob("probe-*.yaml") if not file.name.endswith(".min.yaml"))
    if not files:
        raise ConfigError(path, "no probe files", "give a serialized probe, the adversarial/ folder of a run, or a run")
    return files


def _execution(connected: Connection, timeout: int) -> Execution:
    settings = RunSettings(Seed.choose(None).value, utc_now, timeout)
    return Execution(connected.agent, connected.provider, settings)
