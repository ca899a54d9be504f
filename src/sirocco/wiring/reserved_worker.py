"""The process that opens and runs reserved scenarios; its outputs are sealed evidence and messages of numbers (AV-19).

It is started as a program by `reserved_task`. It secludes itself before it reads a task, and reports only errors that
quote nothing.
"""

import asyncio
import os
import signal
import sys
from contextlib import aclosing, suppress
from dataclasses import replace

from sirocco.campaign.reruns import drawn_reruns
from sirocco.errors import ProviderFault, ReservedError
from sirocco.evidence.recorded import FOLDER
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.event import PhaseStarted, ReservedFinished
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import RunIdentity
from sirocco.reserved.leaks import leaking_files
from sirocco.reserved.phase import OpenedBundles, Published, ReservedRun, opened_bundles
from sirocco.reserved.publication import Publication
from sirocco.reserved.sealed_ledger import SealedFolder
from sirocco.reserved.seclusion import seclude_process
from sirocco.reserved.worker import Message, ReservedPlan, WorkerError, broken_off_error
from sirocco.runner.planned import plan_scenario
from sirocco.wiring import profile_source
from sirocco.wiring.assemble import connected_execution, published_text
from sirocco.wiring.clock import today
from sirocco.wiring.reserved_keys import passphrase
from sirocco.wiring.reserved_task import Task, received_task
from sirocco.wiring.selection import selection


def main() -> None:
    """Perform the task; of a failure, reveal only that there was one."""
    is_private = seclude_process()
    # Any other output is discarded; the agent's own output is not ours to show.
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    messages = _Messages(out)
    try:
        _perform(received_task(), messages, is_private=is_private)
    except ReservedError as error:
        messages.send(Message(error=WorkerError.from_error(error)))
    except BaseException:  # noqa: BLE001 - its text may quote a scenario
        messages.send(Message(error=WorkerError.from_error(broken_off_error())))
    # Handlers, finalizers and tracebacks of other libraries can no longer write anything.
    os._exit(0)


class _Messages:
    """The only way out for information."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, message: Message) -> None:
        line = message.model_dump_json(exclude_none=True) + "\n"
        with suppress(OSError):
            os.write(self._descriptor, line.encode())


def _perform(task: Task, messages: _Messages, *, is_private: bool) -> None:
    config = task.config
    profile, _ = profile_source.required_profile(config.profile, strict=config.strict)
    opened = _task_bundles(task, profile)
    if task.files is not None:
        reserved = [unit.bound.scenario.document() for unit in opened.units]
        public = published_text(profile, profile_source.profile_folder(config.profile), task.directory)
        messages.send(Message(searched=len(task.files), leaking=leaking_files(task.files, reserved, public)))
    elif task.identity is None:
        turns = sum(unit.bound.scenario.turns for unit in opened.units)
        plan = ReservedPlan(units=len(opened.units), turns=turns, is_private=is_private, roots=opened.roots)
        messages.send(Message(plan=plan))
    else:
        asyncio.run(_run(task, task.identity, profile, opened, messages))


def _task_bundles(task: Task, profile: Profile) -> OpenedBundles:
    config = task.config
    if config.identity is None:
        raise broken_off_error()
    return opened_bundles(config.reserved, config.identity, profile, _publication(task, profile), passphrase())


def _publication(task: Task, profile: Profile) -> Publication:
    return Publication.read(profile_source.profile_folder(task.config.profile), profile.document)


async def _run(task: Task, identity: RunIdentity, profile: Profile, opened: OpenedBundles, messages: _Messages) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    # The run itself still listens at its configured port; here any free port of the same address will do.
    host, colon, _ = task.config.listen.rpartition(":")
    config = replace(task.config, listen=f"{host}:0") if colon else task.config
    connection, execution = connected_execution(config, profile, task.seed, task.directory, stop=stop)
    if connection.agent.isolation != identity.agent_isolation:
        problem = f"the agent is isolated by {connection.agent.isolation} here, unlike in the core"
        raise ReservedError("--isolation", problem, f"request it: --isolation {connection.agent.isolation}")
    store = SealedFolder(task.directory / FOLDER) if task.directory else None
    published = _published_among(opened, task, identity, profile, execution.provider)
    phase = ReservedRun(opened, execution, config.parallel, store, published)
    async with connection.open(), aclosing(phase.perform(identity)) as events:
        async for event in events:
            match event:
                case PhaseStarted(_, units):
                    messages.send(Message(units=units))
                case ReservedFinished():
                    messages.send(Message(finished=True))
                case _:
                    pass
    warning = _publication(task, profile).warning(today())
    messages.send(Message(outcome=phase.outcome.model_copy(update={"warning": warning})))


def _published_among(
    opened: OpenedBundles, task: Task, identity: RunIdentity, profile: Profile, provider: Provider
) -> list[Published]:
    """The published scenarios that are run again among the reserved ones, drawn from the seed as among probes."""
    units = len(opened.units)
    if not (wanted := task.config.reruns_among_reserved(units)):
        return []
    with suppress(ProviderFault):  # the phase checks this again, and says so
        planned = [plan_scenario(one, identity, provider) for one in selection(profile, task.config).scenarios]
        runnable = {one.scenario.id: one for one in planned if isinstance(one, BoundScenario)}
        drawn = drawn_reruns(runnable, wanted, units, derived_seed(task.seed.value, "reserved"))
        return [Published(f"{one.id}.reserved", one.bound, one.probes_before) for one in drawn]
    return []


if __name__ == "__main__":
    if sys.stdin.isatty():
        sys.exit("this program is started by `sirocco run --reserved`")
    main()
