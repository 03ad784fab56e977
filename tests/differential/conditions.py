# SPDX-License-Identifier: Apache-2.0

"""Random conditions on traits and aggregates, in the syntax of their version.

With the values of a provider given, most conditions are ones that this provider satisfies.
"""

from collections.abc import Iterable

from tests.differential.requests import SeededRandom, Version
from tests.differential.sample_data import SHARES, TRAITS, SampleData

SATISFIED_SHARE = 0.85


def on_traits(rng: SeededRandom, version: Version, existing_values: Iterable[str] = ()) -> str:
    existing = set(existing_values)
    satisfied = bool(existing) and rng.chance(SATISFIED_SHARE)
    if version >= 39 and rng.chance(0.35):
        chosen = set(rng.some(TRAITS, 2, 1))
        return "in:" + ",".join(sorted(chosen | {rng.pick(existing)} if satisfied else chosen))
    chosen_ones = rng.some(TRAITS, 2, 1) if rng.chance(0.95) else [SHARES]
    if version >= 22:
        terms = [
            trait if (trait in existing if satisfied else rng.chance(0.5)) else f"!{trait}"
            for trait in chosen_ones
        ]
    else:
        terms = rng.some(existing, 2, 1) if satisfied else chosen_ones
    return ",".join(terms)


def on_aggregates(
    rng: SeededRandom, data: SampleData, version: Version, existing_values: Iterable[str] = ()
) -> str:
    existing = set(existing_values)
    satisfied = bool(existing) and rng.chance(SATISFIED_SHARE)
    if version >= 32 and rng.chance(0.35):
        refused = [uuid for uuid in data.aggregates if uuid not in existing or not satisfied]
        chosen, prefix = rng.some(refused or data.aggregates, 2, 1), "!"
    else:
        chosen, prefix = rng.some(data.aggregates, 2, 1), ""
        if satisfied:
            chosen = [rng.pick(existing), *(uuid for uuid in chosen[1:] if uuid not in existing)]
    if len(chosen) > 1 or rng.chance(0.3):
        return f"{prefix}in:{','.join(chosen)}"
    return f"{prefix}{chosen[0]}"
