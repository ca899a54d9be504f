"""A program as generator: questions go to its standard input, one per line, answers come from its output."""

import asyncio
import json
import os
import select
import shlex
import subprocess
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Any

from sirocco.errors import ConfigError
from sirocco.probes.wire import MOST_CHARACTERS, BadAnswer

_GRACE = 1.0
_CHUNK = 65536
_TOLD_OF_ERRORS = 200


class CommandCarrier:
    """Asks a program, which is started with the first question, and again after it ended or was too slow."""

    def __init__(self, command: str) -> None:
        self.name = f"command:{command}"
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise ConfigError("--generator", f"{self.name}: {error}", "quote its arguments as a shell does") from error
        if not self._words:
            raise ConfigError("--generator", "command: names no program", "write command:PROGRAM ARGUMENTS")
        self._running: list[_Program] = []
        """The program, if it is running; it ends together with this object."""
        weakref.finalize(self, _end_all, self._running)

    async def ask(self, question: Mapping[str, Any], seconds: float) -> Any:
        """The line with which the program answers."""
        try:
            line = await asyncio.to_thread(self._line, json.dumps(question).encode() + b"\n", seconds)
        except (TimeoutError, BadAnswer, OSError):
            # Anything that it prints from now on would be taken for the answer to the next question.
            await self.close()
            raise
        try:
            return json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadAnswer("its answer is not a line of JSON") from error

    def _line(self, question: bytes, seconds: float) -> bytes:
        if not self._running:
            self._running.append(_Program(self._words))
        return self._running[0].answer(question, time.monotonic() + seconds)

    async def close(self) -> None:
        """End the program, if it is running."""
        await asyncio.to_thread(_end_all, self._running)


class _Program:
    """One running program; nothing that it does or fails to do takes longer than a deadline."""

    def __init__(self, words: list[str]) -> None:
        self._errors = TemporaryFile()  # noqa: SIM115 - closed with the program
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own choice of a program
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True
            )
        except OSError:
            self._errors.close()
            raise
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("its streams are pipes")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._rest = b""

    def answer(self, question: bytes, deadline: float) -> bytes:
        """The next line after a question; TimeoutError or BadAnswer if there is none."""
        self._errors.truncate(0)
        while question:
            _, writable, _ = select.select([], [self._stdin], [], _left(deadline))
            if not writable:
                raise TimeoutError
            with suppress(BlockingIOError):
                try:
                    question = question[os.write(self._stdin.fileno(), question) :]
                except BrokenPipeError:
                    break
        while b"\n" not in self._rest:
            readable, _, _ = select.select([self._stdout], [], [], _left(deadline))
            if not readable:
                raise TimeoutError
            chunk = os.read(self._stdout.fileno(), _CHUNK)
            if not chunk:
                raise BadAnswer(self._last_words())
            self._rest += chunk
            if len(self._rest) > MOST_CHARACTERS:
                raise BadAnswer(f"it answered with more than {MOST_CHARACTERS} characters in a line")
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _last_words(self) -> str:
        """Why a program closed its output, as far as that can be determined."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._errors.seek(0)
        said = self._errors.read(_CHUNK).decode(errors="replace").strip()[-_TOLD_OF_ERRORS:]
        code = self._process.returncode
        ended = "it closed its output" if code is None else f"it ended with code {code} in place of an answer"
        return f"{ended}: {said}" if said else ended

    def end(self) -> None:
        """Let it end by itself, or else kill it."""
        with suppress(OSError):
            self._stdin.close()
        self._stdout.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


def _end_all(running: list[_Program]) -> None:
    while running:
        running.pop().end()


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())
