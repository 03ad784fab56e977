# SPDX-License-Identifier: Apache-2.0

"""`plimsoll demo`: write a made-up cloud, and send live traffic to it."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.status import Status

from plimsoll.cli.demo_service import UNTYPED_VERSION, service_beside, service_in_process
from plimsoll.cli.service_options import with_service_options
from plimsoll.client import Target, connect
from plimsoll.demo.cloud import LARGEST, Cloud, plan_cloud
from plimsoll.demo.sender import Sender, http_sender
from plimsoll.demo.traffic import Traffic, aggregates_of
from plimsoll.demo.trouble import searches
from plimsoll.demo.writing import is_empty, write_cloud

FULL = (
    "{place} already has providers. Nothing was written. Give --add to write the made-up cloud beside them (with --site NAME"
    " if an earlier one is there), or --live --hosts 0 for traffic alone."
)
CONSOLE = Console(stderr=True, highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the cloud is written."""

    sender: Sender
    name: str
    url: str | None
    """The address of the service, if it is one that others can reach."""


@click.command(short_help="Write a made-up cloud to look at; with --live, traffic too.")
@click.option(
    "--hosts",
    default=500,
    show_default=True,
    type=click.IntRange(0, LARGEST),
    help="How many hosts; 0 for none, with --live.",
)
@click.option(
    "--seed", default=1, show_default=True, type=int, help="Equal seeds and sizes give equal clouds."
)
@click.option(
    "--site", default="", metavar="NAME", help="Put before the names of hosts, to keep several clouds apart."
)
@click.option("--add", is_flag=True, help="Write beside providers that are there already.")
@click.option("--live", is_flag=True, help="Then send boots, deletions, migrations and failing searches.")
@click.option(
    "--rate",
    default=5.0,
    show_default=True,
    type=click.FloatRange(0, 1000, min_open=True),
    help="With --live: actions per second.",
)
@click.option(
    "--serve", "is_served", is_flag=True, help="Start a service on ./var/demo.sqlite, and stop it at the end."
)
@click.option("--port", default=8778, show_default=True, type=click.IntRange(1, 65535), help="With --serve.")
@with_service_options
def demo(
    target: Target,
    hosts: int,
    seed: int,
    site: str,
    add: bool,
    live: bool,
    rate: float,
    is_served: bool,
    port: int,
) -> int:
    """Write a made-up cloud: hosts with NUMA nodes, GPUs, PCI devices and shared storage, aggregates, projects,
    consumers, and some trouble: over-full, disabled, fragmented and empty hosts, and searches that found nothing.

    It is written into the development database, ./var/plimsoll.sqlite, which `plimsoll serve --dev` serves; or through
    the API of the service that --url, --os-cloud or the OS_* variables name; or, with --serve, into
    ./var/demo.sqlite, with a service on it until Ctrl-C. A cloud that is in ./var/demo.sqlite already is kept.

    \b
    Examples:
      plimsoll demo --serve --live
      plimsoll demo --hosts 10000
      plimsoll demo --url http://127.0.0.1:8778 --hosts 200 --live --rate 20
    """
    cloud = plan_cloud(hosts, seed, site)
    with _place(target, is_served, port) as place:
        if cloud.hosts:
            _write(place, cloud, add, keep=is_served)
        with contextlib.suppress(KeyboardInterrupt):
            if is_served:
                CONSOLE.print(f"Console  [bold]{place.url}/console/[/]  (Ctrl-C stops)")
            if live:
                _run_traffic(place.sender, cloud, rate)
            elif is_served:
                threading.Event().wait()
    return 0


@contextlib.contextmanager
def _place(target: Target, is_served: bool, port: int) -> Iterator[_Place]:
    if is_served:
        with service_beside(port) as (sender, url):
            yield _Place(sender, url, url)
    elif target.is_chosen():
        client = connect(target)
        url = client.endpoint()
        sender = http_sender(
            url,
            client.token,
            UNTYPED_VERSION,
            verify=not target.insecure,
            cacert=target.cacert,
            seconds=target.timeout_seconds,
        )
        yield _Place(sender, url, url)
    else:
        with service_in_process() as (sender, name):
            yield _Place(sender, name, None)


def _write(place: _Place, cloud: Cloud, add: bool, keep: bool) -> None:
    if not add and not is_empty(place.sender):
        if keep:
            return
        raise click.ClickException(FULL.format(place=place.name))
    columns = (TextColumn("{task.description:>9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=CONSOLE) as bars:
        tasks: dict[str, TaskID] = {}

        def progress(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        consumers = write_cloud(place.sender, cloud, progress)
    CONSOLE.print(
        f"{place.name} has a made-up cloud: {len(cloud.hosts)} hosts, {cloud.nodes} providers,"
        f" {consumers} consumers of {len(cloud.projects)} projects."
    )


def _run_traffic(sender: Sender, cloud: Cloud, rate: float) -> None:
    """Send traffic until Ctrl-C."""
    traffic = Traffic(sender, list(searches(cloud)), aggregates_of(sender))
    try:
        with CONSOLE.status("Live traffic") as status:
            traffic.run(rate, lambda: False, lambda counts: _show(status, counts))
    finally:
        CONSOLE.print(f"Traffic sent: {_counted(traffic.counts)}")


def _show(status: Status, counts: Counter[str]) -> None:
    status.update(f"Live traffic: {_counted(counts)}  (Ctrl-C stops)")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "nothing"
