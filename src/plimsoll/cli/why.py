# SPDX-License-Identifier: Apache-2.0

"""`plimsoll why`: why a request found no host, by its request id."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import click

from plimsoll.cli.service_options import FAILED, STATUS_OF_VERDICT, with_service_options
from plimsoll.cli.text_output import print_text, printable
from plimsoll.client import RefusedRequest, Target, V1Client, connect

WIDTH = 96
"""Columns of a text, as in explanations."""
MOST_SEARCHES = 5
"""Searches of one request that are shown. A boot of several servers may search several times."""


@click.command(short_help="Show why a boot found no host, by its request id.")
@click.argument("request_id", metavar="REQUEST-ID")
@with_service_options
def why(target: Target, request_id: str) -> int:
    """Show why the search of a request found no host: the reason at that time, and what is true now.

    REQUEST-ID is the `req-...` of the failed request, as nova's log, `openstack server event list` and the header
    x-openstack-request-id show it. The service stores searches without candidates for some time. Searches of nova
    are of its service project: showing them needs the role admin or service.

    Exits as `plimsoll explain` does for the last search: 0 if it has candidates now, 3 if it has none now, 4 if it
    would have none in an empty cloud either; 1 if no such search is stored, or the service cannot be reached.

    \b
    Examples:
      plimsoll why req-1f7a2c0e-7a9b-4d3f-8f52-6f0c3a5b9d11
      plimsoll why --os-cloud prod req-1f7a2c0e-7a9b-4d3f-8f52-6f0c3a5b9d11
    """
    client = connect(target)
    searches = client.unplaced(request_id)
    if not searches:
        raise click.ClickException(
            f"No search without candidates is stored for {request_id}. Its searches had candidates, or are too old, or"
            " are of a project that you may not see: those of nova are for administrators."
        )
    verdict = ""
    for number, search in enumerate(searches[:MOST_SEARCHES]):
        click.echo("\n" if number else "", nl=False)
        _print_then(search)
        verdict = _print_now(client, search)
    if len(searches) > MOST_SEARCHES:
        click.echo(f"\nand {len(searches) - MOST_SEARCHES} more searches of this request")
    return STATUS_OF_VERDICT.get(verdict, FAILED)


def _print_then(search: dict[str, Any]) -> None:
    """Print the search and its reason at that time."""
    then = (search["requests"] or [search])[0]
    at = then.get("at") or search["last_at"]
    click.echo(printable(f"Search  {search['query']}"))
    click.echo(printable(f"Then    {at}, revision {then['revision']}\n"))
    print_text("\n".join(wrap(then["summary"], WIDTH)), then["verdict"])


def _print_now(client: V1Client, search: dict[str, Any]) -> str:
    """Print the explanation of the same search now. Return its verdict."""
    click.echo("\nNow\n")
    try:
        now = client.explain(search["query"], search["microversion"])
    except RefusedRequest as error:
        if error.status != 400:
            raise
        # A trait or class was deleted since, or the query was too long to be stored as a whole.
        click.echo(printable(f"The search cannot be repeated: {error}"))
        return str(search["verdict"])
    print_text(now.text, now.verdict)
    return now.verdict
