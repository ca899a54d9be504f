"""Serves the assembled model by OpenAI's protocol until its input ends; prints its URL when it is ready.

Usage: python tests/real_model/serve.py FOLDER [CONTEXT]. One thread: llama.cpp's threads wait for each other by
spinning, and two of them on a busy machine are slower than one by far.
"""

import sys
from pathlib import Path

from assemble import LIBRARY, MODEL


def main(folder: Path, context: int) -> None:
    """Load the model, say where it is, and wait."""
    sys.path.insert(0, str(folder / LIBRARY))
    import xllamacpp  # noqa: PLC0415 - it is in the cache, not in the environment

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(folder / MODEL)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8192)
