# SPDX-License-Identifier: Apache-2.0

"""How many instances of a request fit into a cloud, one after the other.

Each round searches candidates and claims each of them as often as it fits, on a copy of the index, until there are no
more. The result is exact if the order of the claims cannot matter. Otherwise it is a lower bound: other choices might
have left room for more. A lower bound is exact too if it equals a simple upper bound (`upper_bound`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from plimsoll.domain.values import unhashable_value
from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.fit_bound import MAX_FREE, free_by_row, upper_bound
from plimsoll.search.free_by_host import best_by_host
from plimsoll.search.index.bitset import Numbers, mask_of
from plimsoll.search.index.index import Index
from plimsoll.search.repeated_search import MAX_COUNTED, RepeatedSearch, host_by_candidate
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.result import Candidates, UniformCandidates


@unhashable_value
class Fit:
    """The result: how many instances, and on how many hosts."""

    instances: int
    hosts: int
    """The hosts that serve at least one instance."""
    is_exact: bool
    """False: at least as many fit."""
    is_complete: bool
    """False if the budget ended before the cloud was full."""
    limits: Mapping[str, int]
    """For each resource class, the hosts that have too little of it left for one more instance, of those that serve the
    request if nothing is in use. If no class alone is too little at any provider: the hosts that would serve one more
    if there were more of the class."""

    @property
    def limiting_class(self) -> str | None:
        """The class that limits most hosts."""
        most = max(self.limits.values(), default=0)
        return next((name for name, hosts in self.limits.items() if hosts == most > 0), None)


def fit(search: RepeatedSearch, index: Index, request: CandidatesRequest, hosts_when_empty: Numbers) -> Fit:
    """Fill the cloud with instances of the request. Uses up to the whole budget of the search."""
    filling = _Filling(search, index, request)
    try:
        while filling.fill_once():
            pass
    except BudgetExceeded:
        return Fit(filling.instances, len(filling.hosts), False, False, {})
    is_exact = filling.is_exact or filling.instances == upper_bound(search, index, request)
    limits = _limits(index, request, filling.free, hosts_when_empty, search.budget)
    try:
        if not any(limits.values()) and len(hosts_when_empty):
            limits = filling.hosts_by_missing_class()
    except BudgetExceeded:
        limits = {}
    return Fit(filling.instances, len(filling.hosts), is_exact, True, limits)


_ClaimedColumn = tuple[str, Numbers, int]
"""A resource class, the row of each candidate that it is taken from, and the amount."""


class _Filling:
    """The state of a cloud that is being filled."""

    def __init__(self, search: RepeatedSearch, index: Index, request: CandidatesRequest) -> None:
        self.search = search
        self.index = index
        self.request = request
        classes = dict.fromkeys(chain.from_iterable(group.resources for group in request.groups))
        self.free = {name: free_by_row(index, name) for name in classes}
        self.instances = 0
        self.hosts: set[int] = set()
        self.is_exact = False
        self._is_first = True

    def fill_once(self) -> bool:
        """Claim each candidate that is found as often as it fits. Return False if there are none."""
        limit = None if self.index.flat else MAX_COUNTED
        found = self.search.find(self.index if self._is_first else self._copy(self.free), self.request, limit)
        if self._is_first:
            self._is_first = False
            self.is_exact = found is None or self._order_cannot_matter(found, limit)
        if found is None:
            return False
        for part in found.requests.parts():
            self._claim(part)
        return True

    def _copy(self, free: Mapping[str, Numbers]) -> Index:
        index = self.index
        return index.with_class_columns(
            {name: index.class_column(name).with_free(values) for name, values in free.items()}
        )

    def hosts_by_missing_class(self) -> dict[str, int]:
        """Return, for each class, how many hosts would serve one more instance if only this class were unlimited."""
        found = {}
        for name in self.free:
            unlimited = {**self.free, name: np.full(self.index.size, MAX_FREE)}
            found[name] = self.search.count(self._copy(unlimited), self.request).hosts
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def _order_cannot_matter(self, found: Candidates, limit: int | None) -> bool:
        """Return whether every order of claims fills the cloud with the same number of instances.

        So it is if each instance is on one provider. And if each host has exactly one candidate, which takes nothing
        from sharing providers, or the same amounts from one of them each.
        """
        groups = self.request.groups
        if self.index.flat or (
            len(groups) == 1 and (groups[0].one_provider or len(groups[0].resources) == 1)
        ):
            return True
        if not found.is_complete or len(found.requests) == limit:
            return False
        parts = list(found.requests.parts())
        hosts = np.concatenate([host_by_candidate(self.index, part) for part in parts])
        if len(np.unique(hosts)) < len(hosts):
            return False
        is_sharing = mask_of(self.index.sharing, self.index.size)
        shared = [bool(is_sharing[column.rows].any()) for part in parts for _, column in part.allocated]
        return sum(shared) == 0 or (len(parts) == 1 and sum(shared) == 1)

    def _claim(self, part: UniformCandidates) -> None:
        """Claim the candidates one after the other, each as often as it fits."""
        claimed = [
            (name, column.rows, amount)
            for amounts, column in part.allocated
            for name, amount in amounts.items()
        ]
        rows = np.concatenate([column.rows for _, column in part.allocated])
        has_own_providers = len(np.unique(rows)) == len(rows)
        times = self._claim_at_once(claimed) if has_own_providers else self._claim_in_order(claimed)
        self.instances += int(times.sum())
        self.hosts.update(host_by_candidate(self.index, part)[times > 0].tolist())

    def _claim_at_once(self, claimed: Sequence[_ClaimedColumn]) -> Numbers:
        """Claim candidates of which no two use the same provider. Return how often each fits."""
        times: Numbers = np.minimum.reduce(
            [self.free[name][rows] // amount for name, rows, amount in claimed]
        )
        times = np.maximum(times, 0)
        for name, rows, amount in claimed:
            self.free[name][rows] -= times * amount
        return times

    def _claim_in_order(self, claimed: Sequence[_ClaimedColumn]) -> Numbers:
        """Claim candidates one by one. Return how often each fits after those before it."""
        free = {name: self.free[name].tolist() for name, _, _ in claimed}  # a list is faster for single items
        columns = [(free[name], rows.tolist(), amount) for name, rows, amount in claimed]
        times = []
        for number in range(len(claimed[0][1])):
            self.search.budget.spend()
            fits = min([values[rows[number]] // amount for values, rows, amount in columns])
            times.append(max(fits, 0))
            if fits > 0:
                for values, rows, amount in columns:
                    values[rows[number]] -= fits * amount
        self.free |= {name: np.array(values, np.int64) for name, values in free.items()}
        return np.array(times, np.int64)


def _limits(
    index: Index, request: CandidatesRequest, free: Mapping[str, Numbers], hosts: Numbers, budget: Budget
) -> dict[str, int]:
    """Return, for each class, how many of these hosts have too little of it, at all their providers, for the request."""
    limits = {}
    for name in free:
        amounts = [group.resources[name] for group in request.groups if name in group.resources]
        best = best_by_host(index, name, free[name], budget)
        limits[name] = int((best[hosts] < (sum(amounts) if index.flat else max(amounts))).sum())
    return dict(sorted(limits.items(), key=lambda item: -item[1]))
