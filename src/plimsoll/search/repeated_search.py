# SPDX-License-Identifier: Apache-2.0

"""Run many searches of one question, on changed requests or copies of an index, within one budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from plimsoll.domain.values import value
from plimsoll.domain.world import World
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.find import find_candidates, hosts_with_candidates
from plimsoll.search.index.bitset import Numbers, mask_of
from plimsoll.search.index.index import Index
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.search.result import Candidates, UniformCandidates

MAX_COUNTED = 10_000
"""Candidates that are counted at most, if providers must be combined."""


@value
class FoundCount:
    """How many hosts have candidates, and how many candidates there are."""

    hosts: int
    candidates: int
    is_exact: bool = True
    """False if the search ended at a limit: there are at least as many candidates."""


class RepeatedSearch:
    """Searches in one world, with a bound on their number and their time together."""

    def __init__(
        self, world: World, budget: Budget, max_searches: int = 1_000_000, fast_paths: FastPaths = ALL
    ) -> None:
        self.world = world
        self.budget = budget
        self._left = max_searches
        self.fast_paths = fast_paths

    def find(self, index: Index, request: CandidatesRequest, limit: int | None) -> Candidates | None:
        """Return the candidates, up to the limit, or None if there are none. Raises BudgetExceeded."""
        if self._left <= 0:
            raise BudgetExceeded
        self._left -= 1
        self.budget.check()
        limited = replace(request, limit=limit)
        found = find_candidates(self.world, index, limited, Order(), self.budget, fast_paths=self.fast_paths)
        return found if isinstance(found, Candidates) and len(found.requests) else None

    def is_served(self, index: Index, request: CandidatesRequest) -> bool:
        return self.find(index, request, 1) is not None

    def count(self, index: Index, request: CandidatesRequest, limit: int = MAX_COUNTED) -> FoundCount:
        """Count hosts and candidates, the candidates up to the limit; an index without trees is counted whole."""
        found = self.find(index, request, None if index.flat else limit)
        if found is None:
            return FoundCount(0, 0)
        candidates = len(found.requests)
        is_exact = found.is_complete and (index.flat or candidates < limit)
        hosts = hosts_with_candidates(self.world, index, request, self.budget)
        return FoundCount(hosts.bit_count(), candidates, is_exact)


def hosts_of(index: Index, found: Candidates) -> Numbers:
    """Return the roots of the hosts that have candidates, ascending.

    The host of a candidate is the tree that it is built around. A candidate that uses only sharing providers is
    counted for the tree of its first provider.
    """
    roots = [host_by_candidate(index, part) for part in found.requests.parts()]
    return np.unique(np.concatenate(roots)) if roots else np.zeros(0, np.int64)


def host_by_candidate(index: Index, part: UniformCandidates) -> Numbers:
    """Return the root of the host of each candidate."""
    columns = list(_rows_of(part))
    roots, is_sharing = index.root_by_row(), mask_of(index.sharing, index.size)
    hosts = roots[columns[0]]
    undecided = is_sharing[columns[0]]
    for rows in columns[1:]:
        if not undecided.any():
            break
        own = undecided & ~is_sharing[rows]
        hosts = np.where(own, roots[rows], hosts)
        undecided &= ~own
    return hosts


def _rows_of(part: UniformCandidates) -> Iterator[Numbers]:
    for _, columns in part.served:
        for column in columns:
            yield column.rows
