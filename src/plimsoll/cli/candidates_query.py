# SPDX-License-Identifier: Apache-2.0

"""The query of a search for candidates, from a query string or URL, or from the options of a command.

The options are those of `openstack allocation candidate list`, and further ones for the parameters that it cannot send.
Options after `--group NAME` belong to that group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

import click

PATH = "/allocation_candidates"
ORDER = "plimsoll.candidates_query.order"
_GROUPED = ("group", "resource", "required", "forbidden", "member_of", "in_tree")

_OPTIONS = (
    click.option("--resource", multiple=True, metavar="CLASS=AMOUNT", help="An amount of a resource class."),
    click.option("--required", multiple=True, metavar="TRAIT", help="A trait; A,B for one of several."),
    click.option(
        "--forbidden", multiple=True, metavar="TRAIT", help="A trait that the provider must not have."
    ),
    click.option("--member-of", multiple=True, metavar="UUID", help="An aggregate; A,B for one of several."),
    click.option("--in-tree", multiple=True, metavar="UUID", help="A provider of the tree to search."),
    click.option("--group", multiple=True, metavar="NAME", help="The options after it are of this group."),
    click.option(
        "--group-policy", type=click.Choice(["none", "isolate"]), help="Needed with several groups."
    ),
    click.option("--same-subtree", multiple=True, metavar="A,B", help="Groups served from one subtree."),
    click.option(
        "--root-required", multiple=True, metavar="TRAIT", help="A trait of the root; !TRAIT forbids it."
    ),
)


class OrderedCommand(click.Command):
    """Records the order of options in the context, because `--group` changes the meaning of those after it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


def with_query_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def split_address(text: str) -> tuple[str | None, str]:
    """Return the service's address, if the text has one, and the query, of a query string, a path or a URL."""
    if "://" in text or text.startswith("/"):
        parts = urlsplit(text)
        before, found, after = parts.path.rpartition(PATH)
        if not found or after not in ("", "/"):
            raise click.UsageError(f"{text!r} is not a URL of {PATH}.")
        return (f"{parts.scheme}://{parts.netloc}{before}" if parts.netloc else None), parts.query
    query = text.removeprefix(PATH.removeprefix("/")).removeprefix("?")
    if "=" not in query:
        raise click.UsageError(f"{text!r} is not a query such as 'resources=VCPU:4'.")
    return None, query


def query_of_options(order: Sequence[str], options: dict[str, Any]) -> str:
    """Return the query string. `order` has the names of the options as they were given."""
    values = {name: iter(options[name]) for name in _GROUPED}
    parameters: dict[str, list[str]] = {}
    group = ""
    for name in order:
        if name == "group":
            group = next(values[name])
        elif name in values:
            for key, value in _parameters(name, next(values[name])):
                parameters.setdefault(key + group, []).append(value)
    pairs = list(_joined(parameters))
    pairs += [("same_subtree", each) for each in options["same_subtree"]]
    if options["root_required"]:
        pairs.append(("root_required", ",".join(options["root_required"])))
    if options["group_policy"]:
        pairs.append(("group_policy", options["group_policy"]))
    return urlencode(pairs, safe=":,!")


def _parameters(name: str, value: str) -> Iterator[tuple[str, str]]:
    if name == "resource":
        resource_class, _, amount = value.replace(":", "=").partition("=")
        if not resource_class or not amount.isdecimal():
            raise click.UsageError(f"--resource {value}: the form is CLASS=AMOUNT, such as VCPU=4.")
        yield "resources", f"{resource_class}:{amount}"
    elif name == "required":
        yield "required", f"in:{value}" if "," in value else value
    elif name == "forbidden":
        yield "required", f"!{value}"
    elif name == "member_of":
        yield "member_of", f"in:{value}" if "," in value else value
    else:
        yield name, value


def _joined(parameters: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Join what one parameter can hold: amounts, and traits without alternatives."""
    for key, values in parameters.items():
        if key.startswith("resources"):
            yield key, ",".join(values)
        elif key.startswith("required"):
            plain = [value for value in values if not value.startswith("in:")]
            yield from ((key, ",".join(plain)),) if plain else ()
            yield from ((key, value) for value in values if value.startswith("in:"))
        else:
            yield from ((key, value) for value in values)
