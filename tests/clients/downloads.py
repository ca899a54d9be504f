"""Clients that the project does not depend on: installed once into a cache, by the ordinary tools of their languages."""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "clients"
HELM = "v3.19.0"
ACTIONLINT = "v1.7.7"
KOPF = "1.45.2"
_LONGEST = 1800
"""Seconds: helm is compiled, which takes minutes of two processors."""


def helm():
    """The program `helm`, built from its Go module."""
    folder = CACHE / f"helm-{HELM}"
    _installed(
        folder, "go", ["install", f"helm.sh/helm/v3/cmd/helm@{HELM}"], GOBIN=str(folder), GOFLAGS="-buildvcs=false"
    )
    return folder / "helm"


def npm(package, version):
    """The folder in which a package of npm is installed."""
    folder = CACHE / f"{package.replace('/', '-').removeprefix('@')}-{version}"
    wanted = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), f"{package}@{version}"]
    _installed(folder, "npm", wanted)
    return folder


def kopf():
    """A folder for the path of Python in which kopf is installed."""
    folder = CACHE / f"kopf-{KOPF}"
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(folder), f"kopf=={KOPF}"]
    _installed(folder, sys.executable, pip)
    return folder


def _installed(folder, program, arguments, **variables):
    """Install something unless it is there; skip the test where that cannot be done."""
    with _alone(folder):
        ready = folder / ".ready"
        if ready.exists():
            return
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=_LONGEST, check=False,
            env={**os.environ, **variables},
        )  # fmt: skip
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            pytest.skip(f"{folder.name} cannot be installed: {' '.join(last)}")
        ready.touch()


@contextmanager
def _alone(folder):
    """Let no other process install the same thing at the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def environment(name, *packages):
    """The Python of an environment of its own in which packages of Python are installed."""
    folder = CACHE / f"{name}-{'-'.join(one.partition('==')[2] for one in packages)}"
    with _alone(folder):
        if not (folder / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=_LONGEST)
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    _installed(folder, str(folder / "bin" / "python"), pip)
    return folder / "bin" / "python"


def actionlint():
    """The program `actionlint`, built from its Go module."""
    folder = CACHE / f"actionlint-{ACTIONLINT}"
    _installed(folder, "go", ["install", f"github.com/rhysd/actionlint/cmd/actionlint@{ACTIONLINT}"], GOBIN=str(folder))
    return folder / "actionlint"
