"""Serves the assembled model by OpenAI's protocol until its input ends; prints its URL when it is ready.

Usage: python tests/real_model/serve.py FOLDER [--context TOKENS] [--threads N] [--port N]. One thread unless said:
llama.cpp's threads wait for each other by spinning, and two of them on a busy machine are slower than one by far. With
a port of its own, a server that was stopped comes back under the URL that a run's settings name.
"""

import argparse
import sys
from pathlib import Path

from assemble import LIBRARY, MODEL


def main(folder: Path, context: int, threads: int, port: int) -> None:
    """Load the model, say where it is, and wait."""
    sys.path.insert(0, str(folder / LIBRARY))
    import xllamacpp  # noqa: PLC0415 - it is in the cache, not in the environment

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(folder / MODEL)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.port = port
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="Serve the assembled model until standard input ends.")
    options.add_argument("folder", type=Path)
    options.add_argument("--context", type=int, default=8192, help="tokens that it can read at once")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--port", type=int, default=0, help="a free one unless said")
    main(**vars(options.parse_args()))
