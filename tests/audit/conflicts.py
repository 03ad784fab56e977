# SPDX-License-Identifier: Apache-2.0

"""Which operations conflict: the order of the two changes a response or the resulting state.

A false conflict only makes the search slower; a missed conflict would make it wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tests.audit.model import State
from tests.audit.operations import Operation, Request

CLASSES = "the classes"
TRAITS = "the traits"
TREES = "the trees"
"""The set of providers, their names and their parents."""
ALL_TABLES = frozenset({CLASSES, TRAITS, TREES})
"""Deleting a provider also releases its resource classes and traits."""


class Footprint(NamedTuple):
    """Read set and write set of an operation; `all` if it reads everything."""

    reads: frozenset[str]
    writes: frozenset[str]
    all: bool = False

    def conflicts_with(self, other: Footprint) -> bool:
        if self.all or other.all:
            return bool(self.writes or other.writes)
        return not (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )


class NamedObjects(NamedTuple):
    """Objects that a request names."""

    providers: frozenset[str] = frozenset()
    consumers: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    all: bool = False


def named_objects(request: Request) -> NamedObjects:
    """Return the providers, consumers and name tables that a request refers to."""
    first, *rest = request.parts
    if first == "allocations":
        claims = request.body if request.method == "POST" else {rest[0]: request.body}
        return _objects_in_claims(claims)
    if first == "reshaper":
        names = _objects_in_claims(request.body["allocations"])
        return names._replace(providers=names.providers | frozenset(request.body["inventories"]))
    if first == "resource_classes":
        return NamedObjects(others=frozenset({CLASSES}))
    if first == "traits":
        return NamedObjects(others=frozenset({TRAITS}))
    if first == "resource_providers":
        return _objects_of_provider_request(request)
    assert first in ("usages", "allocation_candidates"), request.target
    return NamedObjects(all=True)


def footprint(operation: Operation, state: State, others: Iterable[Operation]) -> Footprint:
    """Return what an operation can read or write, in this state or after any of these others happened in it.

    A claim also touches the providers of its consumers' allocations: the present ones, or those of another
    pending claim for the same consumer.
    """
    names = cached_named_objects(operation)
    providers = names.providers
    for uuid in names.consumers:
        held = state.consumers.get(uuid)
        if held is not None:
            providers |= {each.provider for each in held.holds}
        for other in others:
            other_names = cached_named_objects(other)
            if uuid in other_names.consumers:
                providers |= other_names.providers
    touched = providers | names.consumers
    is_name_request = operation.request.parts[0] in ("resource_classes", "traits")
    if operation.changes_nothing:
        # A refused deletion of a class or trait has read all providers that might use it.
        reads_all = names.all or (is_name_request and operation.request.method == "DELETE")
        return Footprint(touched | names.others, frozenset(), reads_all)
    changed = names.others if is_name_request else names.others & {TREES}
    return Footprint(names.others - changed, touched | changed, names.all)


def cached_named_objects(operation: Operation) -> NamedObjects:
    """`named_objects`, cached on the operation."""
    found: NamedObjects | None = operation.__dict__.get("_names")
    if found is None:
        found = operation.__dict__["_names"] = named_objects(operation.request)
    return found


def _objects_in_claims(claims: dict[str, dict[str, object]]) -> NamedObjects:
    providers: set[str] = set()
    for claim in claims.values():
        if claim is not None:
            given = claim["allocations"]
            assert isinstance(given, dict)
            providers.update(given)
    return NamedObjects(frozenset(providers), frozenset(claims), frozenset({CLASSES}))


def _objects_of_provider_request(request: Request) -> NamedObjects:
    if len(request.parts) == 1:
        if request.method == "GET":
            return NamedObjects(all=True)
        return NamedObjects(frozenset({request.body["uuid"]}), others=ALL_TABLES)
    uuid = frozenset({request.parts[1]})
    if len(request.parts) == 2:
        return NamedObjects(uuid, others=ALL_TABLES)
    if request.parts[2] == "inventories":
        return NamedObjects(uuid, others=frozenset({CLASSES}))
    if request.parts[2] == "traits":
        return NamedObjects(uuid, others=frozenset({TRAITS}))
    return NamedObjects(uuid)
