"""A command line as the user gives it, prepared to run elsewhere: in another folder, under another account."""

import hashlib
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from sirocco.errors import AgentFault, AgentFaultKind, ConfigError

_PART = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Program:
    """The words of a command, and the files that they name."""

    given: str
    words: tuple[str, ...]
    files: tuple[Path, ...]
    """The program and every argument that names a file."""
    own: tuple[Path, ...]
    """The user's own files, without an interpreter that was found by its name."""

    @classmethod
    def parse(cls, text: str, folder: Path) -> "Program":
        """Parse a command that the user gives in `folder`; a name of a file there is made valid everywhere.

        No shell is involved. Raise ConfigError if it is not a command, and AgentFault if the program does not exist.
        """
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise ConfigError("--agent", f"{text!r} is not a command: {error}", "check the quotation marks") from error
        if not words:
            raise ConfigError("--agent", "no command", "write cmd:PROGRAM ARGS")
        program = _program(words[0], folder)
        arguments = [_argument(word, folder) for word in words[1:]]
        named = tuple(path for path in arguments if isinstance(path, Path))
        is_own = "/" in words[0]
        return cls(
            given=text,
            words=(str(program), *map(str, arguments)),
            files=(program, *named),
            own=(program, *named) if is_own else named,
        )

    @property
    def name(self) -> str:
        """The name for an agent that gives none: that of the user's first own file, or of the program."""
        return (self.own or self.files)[0].name

    def version(self) -> str:
        """A digest of the user's own files, so that a changed agent has another version."""
        total = hashlib.sha256()
        for path in self.own:
            if path.is_file():
                with path.open("rb") as file:
                    while part := file.read(_PART):
                        total.update(part)
        return f"sha256:{total.hexdigest()[:12]}" if self.own else "unknown"


def _program(word: str, folder: Path) -> Path:
    found = folder / word if "/" in word else shutil.which(word)
    if found is None or not Path(found).is_file():
        # Reported as missing: a program that does not exist cannot break a contract.
        searched = f"no file {folder / word}" if "/" in word else f"not in PATH ({os.environ.get('PATH', '')})"
        problem = f"there is no program {word!r}: {searched}"
        remedy = "write the path of an executable file, or a name in PATH"
        raise AgentFault("--agent", problem, remedy, AgentFaultKind.UNREACHABLE)
    # Not resolved: some programs, such as a virtual environment's interpreter, depend on the name they run under.
    return Path(found).absolute()


def _argument(word: str, folder: Path) -> str | Path:
    """The word itself, or the file that it names in the user's folder."""
    path = folder / word
    try:
        return path.absolute() if word and not word.startswith("-") and path.exists() else word
    except (OSError, ValueError):
        return word
