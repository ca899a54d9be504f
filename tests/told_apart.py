"""Environments of each kind as an agent sees them, collected in chunks that are kept: 500 of each take most of an hour.

`python tests/told_apart.py --seeds 1-11` collects ahead of a test or a study, in as many processes as are started with other
seeds. An interrupted collection continues where it stopped, as long as the sources are the same.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from drafts import admitted_probes, settings
from remembered import SHARED
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile
from sirocco.reserved.disclosure import unit_label
from sirocco.wiring import profile_source
from sirocco.wiring.serving import served_environments
from tells import Seen, seen

KINDS = ("published", "probe", "reserved")
PER_SEED = 48
_SPARE = 12
ROOT = Path(__file__).resolve().parents[1]
_LOOKED_AT = ("src/**/*.py", "src/**/*.json", "src/**/*.yaml", "src/**/*.md", "tests/tells.py", "tests/told_apart.py")


def kept_place() -> Path:
    """Where collections of these sources are kept."""
    return ROOT / ".cache" / "tells" / _sources()


async def environments(profile: Profile, seed: int, place: Path, count: int = PER_SEED) -> list[Seen]:
    """So many environments of each kind for a seed, one of each in turn, so that the hour says nothing."""
    path = place / f"{seed}.jsonl"
    wanted = count * len(KINDS)
    if len(_kept(path)) < wanted:
        await _collect(profile, seed, path, count)
    return _kept(path)[:wanted]


async def _collect(profile: Profile, seed: int, path: Path, count: int) -> None:
    scenarios = {kind: _drawn(profile.scenarios, seed, kind) for kind in ("published", "reserved")}
    # Places that no draft fills are left out.
    scenarios["probe"] = await admitted_probes(profile, seed, PER_SEED + _SPARE)
    start = len(_kept(path)) // len(KINDS)
    _keep(path, _kept(path)[: start * len(KINDS)], "w")
    async with served_environments(profile, "127.0.0.1:0") as provider:
        for number in range(start, count):
            for kind in KINDS:
                bound = scenarios[kind][number]
                unit = {"reserved": unit_label(number + 1), "published": f"{bound.scenario.id}.rerun-{number}"}
                name = unit.get(kind, bound.scenario.id)
                _keep(path, [await seen(kind, bound, provider, settings(seed), name)], "a")


def _drawn(scenarios: Sequence[BoundScenario], seed: int, kind: str) -> list[BoundScenario]:
    """The scenarios of a seed: over many seeds each is seen as often as any other, or some would be known by heart."""
    found = []
    for place in range(seed * PER_SEED, (seed + 1) * PER_SEED):
        turn, number = divmod(place, len(scenarios))
        found.append(random.Random(f"{kind} {turn}").sample(scenarios, len(scenarios))[number])
    return found


def _keep(path: Path, found: Iterable[Seen], mode: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        file.writelines(f"{json.dumps(asdict(one))}\n" for one in found)


def _kept(path: Path) -> list[Seen]:
    """The environments that were collected; a line that was not written to its end does not count."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [Seen(**json.loads(line)) for line in lines if line.endswith("\n")]


@cache
def _sources() -> str:
    """A digest of all that decides what an environment looks like."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in _LOOKED_AT for path in ROOT.glob(pattern)):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=_seeds, required=True, help="seeds to collect, as FIRST-LAST")
    parser.add_argument("--count", type=int, default=PER_SEED, help="environments of each kind for a seed")
    chosen = parser.parse_args()
    profile = profile_source.required_profile("kubernetes_operations")[0]
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(SHARED, folder)
        for seed in chosen.seeds:
            began = time.process_time()
            found = asyncio.run(environments(profile, seed, kept_place(), chosen.count))
            spent = time.process_time() - began
            print(f"seed {seed}: {len(found)} environments, {spent:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    _main()
