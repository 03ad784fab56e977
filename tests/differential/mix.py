# SPDX-License-Identifier: Apache-2.0

"""The mixture: which kind of request comes next, and whether it is spoiled."""

from collections.abc import Callable

from tests.differential import candidates, changes, claims, reads, spoil
from tests.differential.requests import Dice, Request
from tests.differential.state import State
from tests.differential.words import Words

Generator = Callable[[Dice, Words, State], Request]

SPOILED = 0.16

WEIGHTS: tuple[tuple[Generator, int], ...] = (
    (candidates.ask, 300),
    (claims.put, 130),
    (claims.post, 60),
    (claims.delete, 35),
    (claims.reshape, 25),
    (reads.providers, 70),
    (reads.provider_part, 90),
    (reads.inventory, 20),
    (reads.allocations, 35),
    (reads.usages, 30),
    (reads.traits, 15),
    (reads.classes, 18),
    (reads.root, 4),
    (changes.create_provider, 20),
    (changes.update_provider, 18),
    (changes.delete_provider, 14),
    (changes.set_inventories, 22),
    (changes.add_inventory, 18),
    (changes.update_inventory, 24),
    (changes.delete_inventory, 12),
    (changes.set_traits, 18),
    (changes.set_aggregates, 18),
    (changes.trait, 12),
    (changes.resource_class, 14),
)


def following(dice: Dice, vocabulary: Words, state: State) -> Request:
    """The next request for a world in this state."""
    request = dice.weighted(WEIGHTS)(dice, vocabulary, state)
    return spoil.spoiled(dice, request) if dice.chance(SPOILED) else request
