"""Options that point a provider to the user's own system, and the confirmation before using a remote one."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from sirocco.errors import ConfigError
from sirocco.wiring import plugins
from sirocco.wiring.profile_source import required_profile

Command = TypeVar("Command", bound=Callable[..., Any])
_SEPARATORS = frozenset("&?=")


def borrowed_cluster_options(command: Command) -> Command:
    """The options for the user's own cluster, besides --kubeconfig."""
    options = (
        click.option("--context", "cluster_context", default="", metavar="NAME",
                     help="With --provider cluster: use your own cluster, by this context of --kubeconfig."),
        click.option("--audit-log", default="", metavar="FILE", help="With --context: the cluster's audit log."),
        click.option("--audit-webhook", default="", metavar="HOST:PORT",
                     help="With --context: the address to which the cluster's audit webhook sends."),
        click.option("--image", "images", multiple=True, metavar="GLOB",
                     help="With --context: images that the cluster can pull, besides those on its nodes (repeatable)."),
        click.option("--yes", "is_agreed", is_flag=True, help="With --context: do not ask before a cluster elsewhere."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def borrowed_provider_spec(
    provider: str, profile: str, *, kubeconfig: Path | None, context: str, audit_log: str = "",
    audit_webhook: str = "", images: Sequence[str] = (), is_agreed: bool = False,
) -> str:  # fmt: skip
    """The name of a provider with what leads to the user's system; asks before using one on another machine."""
    if not context:
        if audit_log or audit_webhook or images:
            raise ConfigError("--audit-log", "it is for a cluster of your own", "add --context NAME, or drop it")
        return provider
    options = {
        "kubeconfig": str(kubeconfig.resolve()) if kubeconfig else "", "context": context,
        "audit_log": str(Path(audit_log).resolve()) if audit_log else "", "audit_webhook": audit_webhook,
        "image": ",".join(images), "confirmed": "yes" if is_agreed else "",
    }  # fmt: skip
    for name, value in options.items():
        if _SEPARATORS & set(value):
            raise ConfigError(
                f"--{name.replace('_', '-')}", f"{value!r} contains one of & ? =", "use a name without them"
            )
    given = "&".join(f"{name}={value}" for name, value in options.items() if value)
    spec = f"{provider}?{given}"
    question = plugins.provider_question(spec, required_profile(profile)[0])
    if question and sys.stdin.isatty():
        click.confirm(question, abort=True, err=True)
        spec += "&confirmed=yes"
    return spec
