# SPDX-License-Identifier: Apache-2.0

"""Each rule allows exactly what goes with what was taken, whatever was taken and released before."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.combine.rules import (
    Bits,
    Capacity,
    Isolation,
    OneOfTree,
    Rule,
    Subtree,
    Together,
    bits_of,
)

PROVIDERS = 5
ALL = (1 << PROVIDERS) - 1
SLOTS = 4

Taken = list[int]
"""What the slots took, in order."""

randoms = st.randoms(use_true_random=True)


def walk(random: Random, rule: Rule, fits: Callable[[Taken], bool]) -> None:
    """Takes and releases at random, as a depth-first search does, and compares at each step."""
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
def test_isolated_groups_never_meet(random: Random) -> None:
    walk(random, Isolation(), lambda taken: len(set(taken)) == len(taken))


@given(randoms)
def test_together_no_more_is_taken_than_there_is_room_for(random: Random) -> None:
    amounts = {depth: random.randint(1, 3) for depth in range(SLOTS)}
    room = {1 << number: random.randint(3, 6) for number in range(PROVIDERS)}

    def fits(taken: Taken) -> bool:
        sums = dict.fromkeys(room, 0)
        for depth, bit in enumerate(taken):
            sums[bit] += amounts[depth]
        return all(sums[bit] <= room[bit] for bit in room)

    walk(random, Capacity(amounts, room), fits)


@given(randoms)
def test_no_two_of_a_tree_are_taken(random: Random) -> None:
    tree = {1 << number: random.randint(0, 2) for number in range(PROVIDERS)}
    relatives = {
        bit: sum(other for other in tree if other != bit and tree[other] == tree[bit]) for bit in tree
    }
    walk(
        random,
        OneOfTree(relatives),
        lambda taken: len({tree[bit] for bit in set(taken)}) == len(set(taken)),
    )


@given(randoms)
def test_one_of_the_chosen_stays_or_comes_to_stand_above_all(random: Random) -> None:
    parent = {
        1 << n: 1 << random.randrange(n) if n and random.random() < 0.8 else 0 for n in range(PROVIDERS)
    }
    lineage: dict[Bits, Bits] = {}
    for bit in sorted(parent):
        lineage[bit] = bit | (lineage[parent[bit]] if parent[bit] else 0)
    ahead = {depth: ALL if depth < SLOTS - 1 else 0 for depth in range(SLOTS)}

    def fits(taken: Taken) -> bool:
        tops = set(taken) | set(bits_of(ahead[len(taken) - 1]))
        return any(all(lineage[bit] & top for bit in taken) for top in tops)

    walk(random, Subtree(lineage, ahead), fits)


@given(randoms)
def test_what_is_required_is_had_by_the_chosen_or_can_still_be(random: Random) -> None:
    required = [random.randint(1, ALL) for _ in range(2)]
    ahead = {depth: random.randint(0, ALL) if depth < SLOTS - 1 else 0 for depth in range(SLOTS)}

    def fits(taken: Taken) -> bool:
        hopeful = sum(set(taken)) | ahead[len(taken) - 1]
        return all(having & hopeful for having in required)

    walk(random, Together(required, ahead), fits)
