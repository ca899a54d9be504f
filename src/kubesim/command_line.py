"""`kubesim serve`: a scratch cluster for kubectl and any other Kubernetes client, until it is interrupted."""

import asyncio
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kubesim.bare import served_bare
from kubesim.clock import utc_now
from kubesim.cluster import RELEASES, Cluster
from kubesim.discovery.catalogue import CURRENT_RELEASE
from kubesim.errors import KubesimError

_EXAMPLE = "Example: kubesim serve --kubeconfig scratch.kubeconfig --nodes 3"
_BY_INTERRUPTION = "Press Ctrl-C to end it; nothing of it remains."
_File = click.Path(dir_okay=False, path_type=Path)


@click.group("kubesim", epilog=_EXAMPLE)
@click.version_option(package_name="sirocco", prog_name="kubesim")
def command() -> None:
    """A simulated Kubernetes cluster for tests of operators, controllers and whatever else uses the API."""


@command.command("serve", epilog=_EXAMPLE)
@click.option(
    "--listen", default="127.0.0.1:0", show_default=True, help="Address of the API server; port 0 is a free one."
)
@click.option("--advertise", default="", help="Host name that clients elsewhere use; the certificate covers it.")
@click.option("--kubeconfig", type=_File, help="Write the kubeconfig there.  [default: a temporary file]")
@click.option("--nodes", type=click.IntRange(0, 100), default=2, show_default=True, help="Number of nodes.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same cluster.")
@click.option("--start", default="", help="Simulated time at which it starts (RFC 3339).  [default: now]")
@click.option(
    "--release",
    type=click.IntRange(RELEASES.start, RELEASES.stop - 1),
    default=CURRENT_RELEASE,
    show_default=True,
    help="The N of the Kubernetes release 1.N to simulate.",
)
@click.option("--bare", is_flag=True, help="An API server alone, as of 1.20: no nodes, no controllers, real time.")
@click.option("--users", type=_File, help="With --bare: its users, as JSON.")
@click.option("--audit-file", type=_File, help="With --bare: file for the audit events, one JSON line each.")
def serve(
    *, listen: str, advertise: str, kubeconfig: Path | None, nodes: int, seed: int, start: str, release: int,
    bare: bool, users: Path | None, audit_file: Path | None,
) -> None:  # fmt: skip
    """Serve a cluster until interrupted.

    It is in memory only, and anyone who can read the kubeconfig is its administrator.
    """
    if bare:
        if users is None or audit_file is None:
            raise click.UsageError("--bare needs --users and --audit-file")
        asyncio.run(_serve_bare(users, listen, audit_file))
        return
    cluster = Cluster(nodes=nodes, seed=seed, start=start, release=release, listen=listen, advertise=advertise)
    with tempfile.TemporaryDirectory(prefix="kubesim-") as folder:
        asyncio.run(_serve(cluster, kubeconfig or Path(folder) / "kubeconfig"))


async def _serve(cluster: Cluster, file: Path) -> None:
    with _interruption() as ended:
        async with cluster:
            try:
                written = cluster.write_kubeconfig(file).resolve()
            except OSError as error:
                raise KubesimError(file, f"cannot be written: {error.strerror}", "name another file") from error
            click.echo(f"A simulated cluster is at {cluster.url}. To use it:\n")
            click.echo(f"  export KUBECONFIG={written}\n  kubectl get nodes\n")
            click.echo(_BY_INTERRUPTION)
            await ended.wait()


async def _serve_bare(users: Path, listen: str, audit_file: Path) -> None:
    with _interruption() as ended:
        async with served_bare(users, listen, audit_file, utc_now) as url:
            click.echo(f"A bare API server is at {url}, for the tokens of {users}.")
            click.echo(_BY_INTERRUPTION)
            await ended.wait()


@contextmanager
def _interruption() -> Iterator[asyncio.Event]:
    """An event that Ctrl-C and SIGTERM set; within the block they do nothing else."""
    came, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, came.set)
    try:
        yield came
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def main() -> None:
    """The console script: a mistake by the caller gives a one-line message and exit code 2."""
    try:
        command(prog_name="kubesim")
    except KubesimError as error:
        click.echo(f"kubesim: {error}", err=True)
        sys.exit(2)
