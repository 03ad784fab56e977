# SPDX-License-Identifier: Apache-2.0

"""Random conditions on traits and aggregates, in the syntax of their version.

A condition can be given what some provider has; then it is mostly one that this provider meets.
"""

from collections.abc import Iterable

from tests.differential.requests import Dice, Version
from tests.differential.words import SHARES, TRAITS, Words

MET = 0.85


def on_traits(dice: Dice, version: Version, has: Iterable[str] = ()) -> str:
    had = set(has)
    meets = bool(had) and dice.chance(MET)
    if version >= 39 and dice.chance(0.35):
        chosen = set(dice.some(TRAITS, 2, 1))
        return "in:" + ",".join(sorted(chosen | {dice.pick(had)} if meets else chosen))
    chosen_ones = dice.some(TRAITS, 2, 1) if dice.chance(0.95) else [SHARES]
    if version >= 22:
        terms = [
            trait if (trait in had if meets else dice.chance(0.5)) else f"!{trait}" for trait in chosen_ones
        ]
    else:
        terms = dice.some(had, 2, 1) if meets else chosen_ones
    return ",".join(terms)


def on_aggregates(dice: Dice, vocabulary: Words, version: Version, has: Iterable[str] = ()) -> str:
    had = set(has)
    meets = bool(had) and dice.chance(MET)
    if version >= 32 and dice.chance(0.35):
        refused = [uuid for uuid in vocabulary.aggregates if uuid not in had or not meets]
        chosen, prefix = dice.some(refused or vocabulary.aggregates, 2, 1), "!"
    else:
        chosen, prefix = dice.some(vocabulary.aggregates, 2, 1), ""
        if meets:
            chosen = [dice.pick(had), *(uuid for uuid in chosen[1:] if uuid not in had)]
    if len(chosen) > 1 or dice.chance(0.3):
        return f"{prefix}in:{','.join(chosen)}"
    return f"{prefix}{chosen[0]}"
