"""How this Sirocco was installed, so that advice on installing something works for the reader."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import unquote, urlsplit

NAME = "sirocco"


@dataclass(frozen=True, slots=True)
class Source:
    """What pip installed: a clone's folder, the address of a repository, or just the name."""

    folder: str = ""
    repository: str = ""
    is_editable: bool = False

    def requirement(self, *extras: str) -> str:
        """What to pass to pip, with these extras."""
        wanted = f"[{','.join(extras)}]" if extras else ""
        if self.folder:
            return f"{self.folder}{wanted}"
        return f"{NAME}{wanted} @ {self.repository}" if self.repository else f"{NAME}{wanted}"


def installed_source() -> Source:
    """Where this installation came from, as pip recorded it (PEP 610)."""
    try:
        recorded = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        recorded = None
    document = json.loads(recorded) if recorded else {}
    address = str(document.get("url", ""))
    if address.startswith("file:"):
        is_editable = bool((document.get("dir_info") or {}).get("editable"))
        return Source(folder=unquote(urlsplit(address).path), is_editable=is_editable)
    commit = (document.get("vcs_info") or {}).get("commit_id")
    return Source(repository=f"git+{address}@{commit}") if commit else Source()


def portable_requirement(*extras: str) -> str:
    """What to pass to pip on another machine; nothing for a clone whose commit is at no web address.

    For a clone, that is the repository and the commit that it was cloned from.
    """
    source = installed_source()
    if not source.folder:
        return source.requirement(*extras)
    address = urlsplit(_git(source.folder, "config", "--get", "remote.origin.url"))
    if address.scheme != "https" or not _git(source.folder, "branch", "--remotes", "--contains", "HEAD"):
        return ""
    # A clone of a private repository may have a token in front of the host, which must not get into a workflow.
    public = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
    return Source(repository=f"git+{public}@{_git(source.folder, 'rev-parse', 'HEAD')}").requirement(*extras)


def _git(folder: str, *words: str) -> str:
    """What git says about the folder, or nothing without git or a repository."""
    program = shutil.which("git")
    if program is None:
        return ""
    done = subprocess.run([program, "-C", folder, *words], capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    return done.stdout.strip() if done.returncode == 0 else ""


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation."""
    source = installed_source()
    editable = "-e " if source.is_editable else ""
    return f"{sys.executable} -m pip install {editable}'{source.requirement(extra)}'"
