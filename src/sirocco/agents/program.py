"""A command line as a user gives it, made ready to run elsewhere: in another folder, for another account."""

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
    """The words of a command, and the files among them."""

    given: str
    words: tuple[str, ...]
    files: tuple[Path, ...]
    """The program and every argument that names a file."""
    own: tuple[Path, ...]
    """Those that the user wrote; an interpreter found by its name is not one of them."""

    @classmethod
    def parse(cls, text: str, folder: Path) -> "Program":
        """Read a command, which the user gives in `folder`: what names a file there will name it anywhere.

        No shell reads it. ConfigError when it is no command, AgentFault when there is no such program.
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
        """What to call the agent when it does not say: the first file of the user's own, or the program."""
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
        # Named as such: what is not there cannot break a contract.
        searched = f"no file {folder / word}" if "/" in word else f"not in PATH ({os.environ.get('PATH', '')})"
        problem = f"there is no program {word!r}: {searched}"
        remedy = "write the path of an executable file, or a name in PATH"
        raise AgentFault("--agent", problem, remedy, AgentFaultKind.UNREACHABLE)
    # Not resolved: programs such as an interpreter of a virtual environment look at the name that they are called by.
    return Path(found).absolute()


def _argument(word: str, folder: Path) -> str | Path:
    """The word itself, or the file that it names from where the user stands."""
    path = folder / word
    try:
        return path.absolute() if word and not word.startswith("-") and path.exists() else word
    except (OSError, ValueError):
        return word
