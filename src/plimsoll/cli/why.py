# SPDX-License-Identifier: Apache-2.0

"""`plimsoll why`: why a request found no host, by its request id."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli.service_options import FAILED, STATUS_OF_VERDICT, asks_service
from plimsoll.cli.text_output import print_text, printable
from plimsoll.client import Target, connect

MOST_SEARCHES = 5
"""Searches of one request that are shown. A boot of several servers may search several times."""


@click.command(short_help="Show why a boot found no host, by its request id.")
@click.argument("request_id", metavar="REQUEST-ID")
@asks_service
def why(target: Target, request_id: str) -> int:
    """Show why the search of a request found no host: the reason at that time, and what is true now.

    REQUEST-ID is the `req-...` of the failed request, as nova's log, `openstack server event list` and the header
    x-openstack-request-id show it. The service remembers searches without candidates for some time.

    Exits as `plimsoll explain` does for the last search: 0 if it has candidates now, 3 if it has none now, 4 if it
    would have none in an empty cloud either; 1 if no such search is remembered, or the service cannot be asked.

    \b
    Examples:
      plimsoll why req-1f7a2c0e-7a9b-4d3f-8f52-6f0c3a5b9d11
      plimsoll why --os-cloud prod req-1f7a2c0e-7a9b-4d3f-8f52-6f0c3a5b9d11
    """
    client = connect(target)
    searches = client.unplaced(request_id)
    if not searches:
        raise click.ClickException(
            f"No search without candidates is remembered for {request_id}. Its searches had candidates, or it is of"
            " another service, or too old."
        )
    verdict = ""
    for search in searches[:MOST_SEARCHES]:
        _print_then(search)
        now = client.explain(search["query"], search.get("microversion"))
        verdict = now.verdict
        click.echo("\nNow:")
        print_text(now.text, verdict)
    if len(searches) > MOST_SEARCHES:
        click.echo(f"\nand {len(searches) - MOST_SEARCHES} more searches of this request")
    return STATUS_OF_VERDICT.get(verdict, FAILED)


def _print_then(search: dict[str, Any]) -> None:
    """Print the search and its reason at that time."""
    click.echo(printable(f"{search['last_seen']}  {search['query']}"))
    click.echo(printable(f"Then: {search['summary']}"))
