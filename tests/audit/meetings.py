# SPDX-License-Identifier: Apache-2.0

"""Which operations meet: those that do not give the same answers and the same world in either order.

What is said here may be too much (then the search takes longer), and must never be too little.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tests.audit.model import World
from tests.audit.operations import Operation, Request

CLASSES = "the classes"
TRAITS = "the traits"
TREES = "the trees"
"""Which providers there are, their names and their parents."""
ALL_NAMES = frozenset({CLASSES, TRAITS, TREES})
"""A provider that goes also gives up the classes and traits that it has."""


class Reach(NamedTuple):
    """What an operation looks at and what it changes; `all` if it looks at everything."""

    reads: frozenset[str]
    writes: frozenset[str]
    all: bool = False

    def meets(self, other: Reach) -> bool:
        if self.all or other.all:
            return bool(self.writes or other.writes)
        return not (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )


class Names(NamedTuple):
    """What a request itself names."""

    providers: frozenset[str] = frozenset()
    consumers: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    all: bool = False


def named(request: Request) -> Names:
    """The providers, consumers and lists of names that a request speaks of."""
    first, *rest = request.parts
    if first == "allocations":
        claims = request.body if request.method == "POST" else {rest[0]: request.body}
        return _in_claims(claims)
    if first == "reshaper":
        names = _in_claims(request.body["allocations"])
        return names._replace(providers=names.providers | frozenset(request.body["inventories"]))
    if first == "resource_classes":
        return Names(others=frozenset({CLASSES}))
    if first == "traits":
        return Names(others=frozenset({TRAITS}))
    if first == "resource_providers":
        return _of_provider(request)
    assert first in ("usages", "allocation_candidates"), request.target
    return Names(all=True)


def reach(operation: Operation, world: World, others: Iterable[Operation]) -> Reach:
    """What an operation can touch, in this world or after any of these others have happened in it.

    A claim also touches the providers that its consumers hold something of: at present, or after another
    claim for the same consumer.
    """
    names = names_of(operation)
    providers = names.providers
    for uuid in names.consumers:
        held = world.consumers.get(uuid)
        if held is not None:
            providers |= {each.provider for each in held.holds}
        for other in others:
            given = names_of(other)
            if uuid in given.consumers:
                providers |= given.providers
    touched = providers | names.consumers
    is_about_names = operation.request.parts[0] in ("resource_classes", "traits")
    if operation.changes_nothing:
        # Who is refused to remove a name has looked for it at all providers.
        looks_everywhere = names.all or (is_about_names and operation.request.method == "DELETE")
        return Reach(touched | names.others, frozenset(), looks_everywhere)
    changed = names.others if is_about_names else names.others & {TREES}
    return Reach(names.others - changed, touched | changed, names.all)


def names_of(operation: Operation) -> Names:
    """`named`, remembered with the operation."""
    found: Names | None = operation.__dict__.get("_names")
    if found is None:
        found = operation.__dict__["_names"] = named(operation.request)
    return found


def _in_claims(claims: dict[str, dict[str, object]]) -> Names:
    providers: set[str] = set()
    for claim in claims.values():
        if claim is not None:
            given = claim["allocations"]
            assert isinstance(given, dict)
            providers.update(given)
    return Names(frozenset(providers), frozenset(claims), frozenset({CLASSES}))


def _of_provider(request: Request) -> Names:
    if len(request.parts) == 1:
        if request.method == "GET":
            return Names(all=True)
        return Names(frozenset({request.body["uuid"]}), others=ALL_NAMES)
    uuid = frozenset({request.parts[1]})
    if len(request.parts) == 2:
        return Names(uuid, others=ALL_NAMES)
    if request.parts[2] == "inventories":
        return Names(uuid, others=frozenset({CLASSES}))
    if request.parts[2] == "traits":
        return Names(uuid, others=frozenset({TRAITS}))
    return Names(uuid)
