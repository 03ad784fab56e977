# SPDX-License-Identifier: Apache-2.0

"""What is asked of a search, freed from query strings and versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from plimsoll.domain.values import unhashable_value, value

AnyOf = frozenset[str]
"""One of these is enough."""


class Conditions(NamedTuple):
    """What a provider must have, be in, and not have. Each item of a tuple has to hold."""

    required: tuple[AnyOf, ...] = ()
    forbidden: frozenset[str] = frozenset()
    member_of: tuple[AnyOf, ...] = ()
    not_member_of: frozenset[str] = frozenset()
    in_tree: str | None = None
    """The uuid of any provider of the wanted tree."""


NO_CONDITIONS = Conditions()


@unhashable_value
class Group:
    """Resources that belong together. A group with a suffix is served by one provider."""

    suffix: str
    resources: Mapping[str, int]
    conditions: Conditions = NO_CONDITIONS

    @property
    def one_provider(self) -> bool:
        return self.suffix != ""


@unhashable_value
class CandidatesRequest:
    """Which sets of providers could serve all groups at once?

    Groups stand in the order in which the client named them: names are looked up group by group, and a
    group that nobody can serve ends the search before the next one is looked at.
    """

    groups: tuple[Group, ...]
    limit: int | None = None
    group_policy: Literal["none", "isolate"] | None = None
    root_required: frozenset[str] = frozenset()
    root_forbidden: frozenset[str] = frozenset()
    same_subtrees: tuple[frozenset[str], ...] = ()
    nested: bool = True
    """False for clients from before nested providers: no candidate takes two providers of one tree."""


@unhashable_value
class ProvidersRequest:
    """Which providers match? An empty request matches all."""

    uuid: str | None = None
    name: str | None = None
    conditions: Conditions = NO_CONDITIONS
    resources: Mapping[str, int] = field(default_factory=dict)


@value
class Order:
    """How candidates are visited: an argument, so that an answer can be repeated."""

    most: int | None = None
    """Stop after this many, whatever the request's limit is (the operator's bound)."""
    most_without_limit: int | None = None
    """The same for requests without a limit: what there is beyond that is left out."""
    strategy: Literal["depth-first", "breadth-first"] = "depth-first"
    shuffle_seed: int | None = None
    """Shuffles with this seed; None keeps the order of the providers."""
