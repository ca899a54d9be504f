"""Measuring how fast profiles load: the input it is measured on is sound, and the numbers are what the clock said."""

from pathlib import Path

from loading import load_profile
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.wiring.domains import domain_for
from sirocco_benchmarks.loading import measured_load, multiply_scenarios


def test_multiplied_scenarios_are_a_sound_profile(tmp_path: Path) -> None:
    multiply_scenarios(bundled_profile_folder(), tmp_path, 60)
    loaded = load_profile(tmp_path, strict=True)
    assert loaded.findings == ()
    assert loaded.profile is not None
    assert len({bound.scenario.id for bound in loaded.profile.scenarios}) == 60


def test_the_ratio_is_of_the_best_rounds(tmp_path: Path) -> None:
    multiply_scenarios(bundled_profile_folder(), tmp_path, 3)
    ticks = iter([0, 2, 5, 10, 11, 13])
    speed = measured_load(tmp_path, domain_for, lambda: float(next(ticks)), rounds=2)
    assert (speed.scenarios, speed.parsed, speed.loaded, speed.ratio) == (3, 1, 2, 2)
