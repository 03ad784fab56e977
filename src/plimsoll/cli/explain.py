# SPDX-License-Identifier: Apache-2.0

"""`plimsoll explain`: why a search has candidates, or none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import click

from plimsoll.cli.candidates_query import (
    ORDER,
    OrderedCommand,
    query_of_options,
    split_address,
    with_query_options,
)
from plimsoll.cli.service_options import FAILED, STATUS_OF_VERDICT, with_service_options
from plimsoll.cli.text_output import print_text
from plimsoll.client import Target, connect


@click.command(cls=OrderedCommand, short_help="Show why a search has candidates, or none.")
@click.argument("query", required=False)
@with_query_options
@click.option("--provider", metavar="UUID|NAME", help="Why this host, or why not.")
@click.option("--no-relax", is_flag=True, help="Do not search for changes and moves that would help.")
@click.option("--since-when", is_flag=True, help="Name the change after which there were no candidates.")
@click.option(
    "--at", metavar="REVISION|TIME", help="As of then: a revision, a time in UTC, or an age such as 12h."
)
@click.option("--microversion", metavar="1.N", help="The API version of the query. [default: the newest]")
@click.option("--json", "in_json", is_flag=True, help="Print the whole document as JSON.")
@with_service_options
def explain(
    target: Target,
    query: str | None,
    provider: str | None,
    no_relax: bool,
    since_when: bool,
    at: str | None,
    microversion: str | None,
    in_json: bool,
    **options: Any,
) -> int:
    """Show which hosts a search for allocation candidates leaves out, and which condition is the obstacle.

    QUERY is the query of /allocation_candidates, or its URL as logs show it. Without QUERY, options describe the
    search: those of `openstack allocation candidate list` and further ones, such as --in-tree.

    Exits 0 if there are candidates, 3 if there are none now, 4 if there would be none in an empty cloud either, 2 on a
    wrong query or option, 1 if the service cannot be reached.

    \b
    Examples:
      plimsoll explain --os-cloud prod 'resources=VCPU:8,MEMORY_MB:65536&required=HW_CPU_X86_AVX512F'
      plimsoll explain --resource VCPU=8 --required HW_CPU_X86_AVX512F --provider node-07
      plimsoll explain --resource VCPU=8 --since-when --at 2h
      plimsoll explain --resource VCPU=4 --group _GPU --resource PGPU=2
      plimsoll explain --url http://127.0.0.1:8778 '/allocation_candidates?resources=VCPU:4'
    """
    address, asked = _query(query, options)
    client = connect(replace(target, url=address) if address and not target.is_chosen() else target)
    extra = {name: value for name, value in (("provider", provider), ("at", at)) if value}
    if no_relax:
        extra |= {"relax": "false", "make_room": "false"}
    if since_when:
        extra["since_when"] = "true"
    asked = f"{asked}&{urlencode(extra)}" if extra else asked
    if in_json:
        document = client.explain_document(asked, microversion)
        click.echo(json.dumps(document, indent=2))
        return STATUS_OF_VERDICT.get(document.get("verdict", ""), FAILED)
    explanation = client.explain(asked, microversion)
    print_text(explanation.text, explanation.verdict)
    return STATUS_OF_VERDICT.get(explanation.verdict, FAILED)


def _query(query: str | None, options: dict[str, Any]) -> tuple[str | None, str]:
    """Return the address that QUERY names, if any, and the query."""
    described = query_of_options(click.get_current_context().meta[ORDER], options)
    if bool(query) == bool(described):
        raise click.UsageError("Give a QUERY, or describe the search with --resource and other options.")
    return split_address(query) if query else (None, described)
