# SPDX-License-Identifier: Apache-2.0

"""Each rule allows exactly the providers that fit with those taken, after any sequence of take and release."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.combine.rules import (
    Bits,
    Capacity,
    Isolation,
    OnePerTree,
    RequiredTraits,
    Rule,
    SameSubtree,
    bits_of,
)

PROVIDERS = 5
ALL = (1 << PROVIDERS) - 1
SLOTS = 4

Taken = list[int]
"""The providers taken, in the order of the slots."""

randoms = st.randoms(use_true_random=True)


def take_and_release(random: Random, rule: Rule, fits: Callable[[Taken], bool]) -> None:
    """Take and release at random, as a depth-first search does, and compare `allowed` with `fits` at each step."""
    taken: Taken = []
    for _ in range(25):
        depth = len(taken)
        allowed: Bits = rule.allowed(depth, ALL) if depth < SLOTS else 0
        if depth < SLOTS:
            assert list(bits_of(allowed)) == [1 << n for n in range(PROVIDERS) if fits([*taken, 1 << n])]
        if taken and (not allowed or random.random() < 0.4):
            rule.release(depth - 1, taken.pop())
        elif allowed:
            taken.append(random.choice(list(bits_of(allowed))))
            rule.take(depth, taken[-1])


@given(randoms)
def test_isolated_groups_never_share_a_provider(random: Random) -> None:
    take_and_release(random, Isolation(), lambda taken: len(set(taken)) == len(taken))


@given(randoms)
def test_slots_together_take_no_more_than_the_room_of_a_provider(random: Random) -> None:
    amounts = {depth: random.randint(1, 3) for depth in range(SLOTS)}
    room = {1 << number: random.randint(3, 6) for number in range(PROVIDERS)}

    def fits(taken: Taken) -> bool:
        sums = dict.fromkeys(room, 0)
        for depth, bit in enumerate(taken):
            sums[bit] += amounts[depth]
        return all(sums[bit] <= room[bit] for bit in room)

    take_and_release(random, Capacity(amounts, room), fits)


@given(randoms)
def test_no_two_providers_of_a_tree_are_taken(random: Random) -> None:
    tree = {1 << number: random.randint(0, 2) for number in range(PROVIDERS)}
    same_tree = {
        bit: sum(other for other in tree if other != bit and tree[other] == tree[bit]) for bit in tree
    }
    take_and_release(
        random,
        OnePerTree(same_tree),
        lambda taken: len({tree[bit] for bit in set(taken)}) == len(set(taken)),
    )


@given(randoms)
def test_a_provider_taken_now_or_later_is_an_ancestor_of_all(random: Random) -> None:
    parent = {
        1 << n: 1 << random.randrange(n) if n and random.random() < 0.8 else 0 for n in range(PROVIDERS)
    }
    ancestors: dict[Bits, Bits] = {}
    for bit in sorted(parent):
        ancestors[bit] = bit | (ancestors[parent[bit]] if parent[bit] else 0)
    later_options = {depth: ALL if depth < SLOTS - 1 else 0 for depth in range(SLOTS)}

    def fits(taken: Taken) -> bool:
        tops = set(taken) | set(bits_of(later_options[len(taken) - 1]))
        return any(all(ancestors[bit] & top for bit in taken) for top in tops)

    take_and_release(random, SameSubtree(ancestors, later_options), fits)


@given(randoms)
def test_each_required_trait_is_on_a_provider_taken_or_on_a_later_option(random: Random) -> None:
    required = [random.randint(1, ALL) for _ in range(2)]
    later_options = {depth: random.randint(0, ALL) if depth < SLOTS - 1 else 0 for depth in range(SLOTS)}

    def fits(taken: Taken) -> bool:
        reachable = sum(set(taken)) | later_options[len(taken) - 1]
        return all(having & reachable for having in required)

    take_and_release(random, RequiredTraits(required, later_options), fits)
