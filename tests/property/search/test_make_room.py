# SPDX-License-Identifier: Apache-2.0

"""Each move of consumers that is suggested, when carried out, makes a host serve the request.

`python -m tests.property.search.test_make_room 10000` runs as many random cases; a second number is the first seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.search.budget import Budget
from plimsoll.search.copies import Amounts
from plimsoll.search.index.index import Index
from plimsoll.search.make_room.move_plans import HeldAmounts, MovePlan, hosts_to_clear, plan_moves
from plimsoll.search.repeated_search import RepeatedSearch
from plimsoll.search.request import CandidatesRequest
from tests.property.search import model
from tests.property.search.clouds import device_case, random_case, world_of


class Cloud:
    """Providers, and consumers that hold all their usage."""

    def __init__(self, random: Random) -> None:
        for _ in range(10):  # most requests should be served if nothing is in use
            providers, self.request = random.choice([random_case, device_case])(random)
            self.providers = {each.uuid: replace(each, used={}) for each in providers}
            if self.hosts():
                break
        self.consumers: list[HeldAmounts] = []
        for number in range(random.randint(2, 14)):
            held: dict[str, dict[str, int]] = {}
            for provider in random.sample(providers, random.choice([1, 1, 1, min(2, len(providers))])):
                for name, inventory in provider.inventories.items():
                    used, amount = self.providers[provider.uuid].used_of(name), random.randint(1, 4)
                    if random.random() < 0.6 and inventory.admits(amount, used):
                        held.setdefault(provider.uuid, {})[name] = amount
            if held:
                self.consumers.append(HeldAmounts(f"c{number}", held))
                self.add(held)

    def add(self, amounts: Amounts, sign: int = 1) -> None:
        for uuid, by_class in amounts.items():
            used = Counter(self.providers[uuid].used)
            for name, amount in by_class.items():
                used[name] += sign * amount
            self.providers[uuid] = replace(
                self.providers[uuid], used={name: amount for name, amount in used.items() if amount}
            )

    def claim(self, amounts: Amounts) -> None:
        """Claim amounts as the API does, by the capacity rule of the domain."""
        for uuid, by_class in amounts.items():
            provider = self.providers[uuid]
            for name, amount in by_class.items():
                assert provider.inventories[name].admits(amount, provider.used_of(name))
        self.add(amounts)

    def listed(self) -> list[Provider]:
        return list(self.providers.values())

    def hosts(self) -> set[str]:
        """Return the hosts of the model's candidates: the roots of their providers that do not share."""
        found = model.candidates(world_of(self.listed()), self.request)
        return {
            host for served, mapped in found for host in self._hosts_of({u for _, us in mapped for u in us})
        }

    def _hosts_of(self, uuids: set[str]) -> set[str]:
        own = {uuid for uuid in uuids if SHARING_TRAIT not in self.providers[uuid].traits}
        return {self.providers[uuid].root for uuid in own or uuids}

    def serves_without(self, consumers: Iterable[HeldAmounts], host: str) -> bool:
        consumers = list(consumers)
        for each in consumers:
            self.add(each.amounts, -1)
        serves = host in self.hosts()
        for each in consumers:
            self.add(each.amounts)
        return serves

    def consumers_on(self, host: str) -> list[HeldAmounts]:
        return [
            each for each in self.consumers if any(self.providers[uuid].root == host for uuid in each.amounts)
        ]


def check(random: Random) -> str:
    """Compare all moves with the model; return what was found."""
    cloud = Cloud(random)
    if cloud.hosts():
        return "served"
    world, index = world_of(cloud.listed()), Index.build(cloud.listed())
    search = RepeatedSearch(world, Budget())
    hosts = [index.provider(row).uuid for row in hosts_to_clear(search, index, cloud.request).tolist()]
    assert len(set(hosts)) == len(hosts)
    moved = 0
    for host in hosts:
        plan = plan_moves(search, index, cloud.request, host, cloud.consumers_on(host))
        if plan is not None:
            check_fewest(cloud, plan)
            carry_out(cloud, plan)
            moved += 1
    return "moved" if moved else "none"


def check_fewest(cloud: Cloud, plan: MovePlan) -> None:
    consumers = cloud.consumers_on(plan.host)
    moved = [move.held for move in plan.moves]
    assert moved
    assert all(held in consumers for held in moved)
    for held in moved:
        assert not cloud.serves_without([each for each in moved if each is not held], plan.host)
    if plan.is_fewest and not Index.build(cloud.listed()).sharing:
        for some in combinations(consumers, len(moved) - 1):
            assert not cloud.serves_without(some, plan.host)


def carry_out(cloud: Cloud, plan: MovePlan) -> None:
    """Move the consumers, search, claim; then undo all of it."""
    before = dict(cloud.providers)
    tree = {uuid for uuid, each in cloud.providers.items() if each.root == plan.host}
    for move in plan.moves:
        cloud.add(move.held.amounts, -1)
    assert plan.host in cloud.hosts()
    check_candidate(cloud, cloud.request, dict(plan.candidate.allocations))
    cloud.claim(dict(plan.candidate.allocations))
    assert tree & {uuid for uuid, _ in plan.candidate.allocations}
    for move in plan.moves:
        assert not tree & move.to.keys()
        assert totals(move.to) == totals(move.held.amounts)
        cloud.claim(move.to)
    cloud.providers = before


def check_candidate(cloud: Cloud, request: CandidatesRequest, amounts: Amounts) -> None:
    served = frozenset(
        (uuid, name, amount) for uuid, by_class in amounts.items() for name, amount in by_class.items()
    )
    assert served in {each for each, _ in model.candidates(world_of(cloud.listed()), request)}


def totals(amounts: Amounts) -> Counter[str]:
    total: Counter[str] = Counter()
    for by_class in amounts.values():
        total.update(by_class)
    return total


@settings(max_examples=400, deadline=None)
@given(random=st.randoms(use_true_random=True))
def test_moved_consumers_make_room_for_the_request_and_fit_elsewhere(random: Random) -> None:
    check(random)


def main(runs: int, first: int = 0) -> None:
    kinds = Counter(check(Random(seed)) for seed in range(first, first + runs))
    print(f"{runs} requests: {dict(kinds)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
