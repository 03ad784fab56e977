# SPDX-License-Identifier: Apache-2.0

"""Choose the kind of the next random request, and whether it is mutated."""

from collections.abc import Callable

from tests.differential import candidates, changes, claims, mutations, reads
from tests.differential.requests import Request, SeededRandom
from tests.differential.sample_data import SampleData
from tests.differential.state import State

Generator = Callable[[SeededRandom, SampleData, State], Request]

MUTATED_SHARE = 0.16

WEIGHTS: tuple[tuple[Generator, int], ...] = (
    (candidates.search, 300),
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


def next_request(rng: SeededRandom, data: SampleData, state: State) -> Request:
    """Return the next random request for this state."""
    request = rng.weighted(WEIGHTS)(rng, data, state)
    return mutations.mutated(rng, request) if rng.chance(MUTATED_SHARE) else request
