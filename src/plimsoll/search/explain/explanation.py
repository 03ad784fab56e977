# SPDX-License-Identifier: Apache-2.0

"""The result of an explanation: clauses with counts, examples of hosts, a verdict and a summary.

A host is a tree of providers, named by its root. Every clause of a request is met by a host, or fails there, or does not
concern it: a clause about max_unit does not concern a host without an inventory of the class.
"""

from __future__ import annotations

from enum import StrEnum

from plimsoll.domain.values import value


class Verdict(StrEnum):
    FOUND = "found"
    NOT_NOW = "not now"
    """No candidates, but there would be some if nothing were in use."""
    NEVER = "never"
    """No candidates, not even in the same cloud without any usage."""


@value
class Overlap:
    """The other clause that fails at most of the same hosts."""

    clause: int
    """Its number."""
    hosts: int
    """The number of hosts at which both fail."""


@value
class Clause:
    """One clause of a request, in the order in which the search applies them."""

    number: int
    reason: str
    """A stable token: see docs/v1/explain.md."""
    group: str | None
    """The suffix of the group; None for a clause of the tree as a whole."""
    asked: str
    """The clause as asked, such as `required_A=CUSTOM_X`."""
    alone: int
    """The number of hosts that meet the clause alone."""
    failed: int
    """The number of hosts at which the clause fails."""
    left: int
    """The number of hosts left after this clause and all before it."""
    sole: int
    """The number of hosts that have candidates if only this clause is removed, and fail no other clause of one provider."""
    overlap: Overlap | None = None
    resource_class: str | None = None
    requested: int | None = None
    best: int | None = None
    """For an amount: the best value at the hosts that this clause removes: free, capacity or unit."""


@value
class InventoryFacts:
    """The inventory of one provider beside the amount that was requested."""

    resource_class: str
    requested: int
    free: int
    capacity: int
    shortfall: int
    """How much more would have to be free; 0 if the amount is free and something else is wrong."""
    total: int
    reserved: int
    allocation_ratio: float
    used: int
    min_unit: int
    max_unit: int
    step_size: int


@value
class Obstacle:
    """A clause that fails at a host, in words and with the facts."""

    clause: int
    reason: str
    group: str | None
    text: str
    provider: tuple[str, str] | None = None
    """Uuid and name of the provider that comes nearest."""
    facts: InventoryFacts | None = None


@value
class HostExplanation:
    """One host with all its obstacles; without an obstacle it has candidates."""

    uuid: str
    name: str
    obstacles: tuple[Obstacle, ...]


@value
class ShownHosts:
    """Which hosts an explanation shows as examples."""

    most: int
    clause: int | None = None
    """The number of a clause: only hosts that it removes, which meet all clauses before it."""


@value
class Explanation:
    candidates: int
    """The number of candidates that the search returns for this request."""
    is_complete: bool
    """Whether the search ended before its budget."""
    hosts: int
    hosts_with_candidates: int
    verdict: Verdict
    summary: str
    clauses: tuple[Clause, ...]
    examples: tuple[HostExplanation, ...] = ()
    more_hosts: int = 0
    """The number of hosts without candidates that are not among the examples."""
    notes: tuple[str, ...] = ()
    """Usual causes, found at these hosts, in plain words."""
    host: HostExplanation | None = None
    """The host that the request names."""
