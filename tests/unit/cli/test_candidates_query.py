# SPDX-License-Identifier: Apache-2.0

"""Queries, paths, URLs and options give the query string of the search."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from plimsoll.cli.candidates_query import (
    ORDER,
    OrderedCommand,
    query_of_options,
    split_address,
    with_query_options,
)


@click.command(cls=OrderedCommand)
@with_query_options
def search(**options: Any) -> None:
    click.echo(query_of_options(click.get_current_context().meta[ORDER], options))


def run(line: str) -> Result:
    return CliRunner().invoke(search, line.split())


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("--resource VCPU=4 --resource MEMORY_MB:512", "resources=VCPU:4,MEMORY_MB:512"),
        ("--resource VCPU=4 --required A --forbidden B", "resources=VCPU:4&required=A,!B"),
        (
            "--resource VCPU=4 --required A --required B,C --required D",
            "resources=VCPU:4&required=A,D&required=in:B,C",
        ),
        ("--resource VCPU=4 --member-of X --member-of Y,Z", "resources=VCPU:4&member_of=X&member_of=in:Y,Z"),
        ("--resource VCPU=4 --in-tree X", "resources=VCPU:4&in_tree=X"),
        (
            "--resource VCPU=4 --group 1 --resource PGPU=1 --required A --group _B --resource PGPU=2 --required C",
            "resources=VCPU:4&resources1=PGPU:1&required1=A&resources_B=PGPU:2&required_B=C",
        ),
        (
            "--group 1 --resource=VCPU=1 --group 2 --resource VCPU=1 --group-policy isolate --same-subtree 1,2",
            "resources1=VCPU:1&resources2=VCPU:1&same_subtree=1,2&group_policy=isolate",
        ),
        ("--resource VCPU=1 --root-required A --root-required !B", "resources=VCPU:1&root_required=A,!B"),
        ("--resource VCPU=1 --required A&b", "resources=VCPU:1&required=A%26b"),
    ],
)
def test_options_give_a_query(line: str, query: str) -> None:
    done = run(line)
    assert (done.exit_code, done.output) == (0, f"{query}\n")


@pytest.mark.parametrize(
    "line", ["--resource VCPU", "--resource VCPU=", "--resource VCPU=x", "--resource =4"]
)
def test_an_amount_of_another_form_is_a_usage_error(line: str) -> None:
    done = run(line)
    assert done.exit_code == 2
    assert "CLASS=AMOUNT" in done.output


@pytest.mark.parametrize(
    ("text", "address", "query"),
    [
        ("resources=VCPU:4", None, "resources=VCPU:4"),
        ("?resources=VCPU:4&limit=1", None, "resources=VCPU:4&limit=1"),
        ("allocation_candidates?resources=VCPU:4", None, "resources=VCPU:4"),
        ("/allocation_candidates?resources=VCPU:4", None, "resources=VCPU:4"),
        ("/placement/allocation_candidates?resources=VCPU%3A4", None, "resources=VCPU%3A4"),
        ("http://h:8778/allocation_candidates?resources=VCPU:4", "http://h:8778", "resources=VCPU:4"),
        ("https://h/placement/allocation_candidates?a=b", "https://h/placement", "a=b"),
    ],
)
def test_a_query_may_be_a_path_or_a_url(text: str, address: str | None, query: str) -> None:
    assert split_address(text) == (address, query)


@pytest.mark.parametrize(
    "text", ["VCPU", "/usages?project_id=1", "http://h/", "/allocation_candidates/x?a=b"]
)
def test_another_text_is_a_usage_error(text: str) -> None:
    with pytest.raises(click.UsageError):
        split_address(text)
