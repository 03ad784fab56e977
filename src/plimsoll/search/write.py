# SPDX-License-Identifier: Apache-2.0

"""From choices, a table of rows, to candidates: each set of slots that one provider serves is added up once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plimsoll.search.answer import Alike, Combined
from plimsoll.search.index import Index
from plimsoll.search.picked import Picked
from plimsoll.search.rows import Numbers
from plimsoll.search.slots import Slot


def added_up(slots: Sequence[Slot]) -> Mapping[str, int]:
    """What several slots ask for in all."""
    if len(slots) == 1:
        return slots[0].resources
    total: dict[str, int] = {}
    for slot in slots:
        for resource_class, amount in slot.resources.items():
            total[resource_class] = total.get(resource_class, 0) + amount
    return total


def giving(slots: Sequence[Slot]) -> list[int]:
    """The slots whose providers give something."""
    return [number for number, slot in enumerate(slots) if slot.resources]


def combined(index: Index, slots: Sequence[Slot], choices: Numbers) -> Combined:
    parts = [
        _alike(index, slots, choices if len(numbers) == len(choices) else choices[numbers], numbers, shared)
        for shared, numbers in _by_sharing(slots, choices)
    ]
    return Combined(len(choices), parts)


_Sharing = dict[int, int]
"""For each slot that gives something the first one that has the same provider."""


def _by_sharing(slots: Sequence[Slot], choices: Numbers) -> list[tuple[_Sharing, Numbers]]:
    """The choices (by number), sorted by which slots share a provider."""
    numbers = giving(slots)
    columns = np.ascontiguousarray(choices.T)
    if not _shares(columns[numbers]):
        return [({slot: slot for slot in numbers}, np.arange(len(choices)))]
    kind = np.zeros(len(choices), np.int64)
    kinds: list[_Sharing] = [{}]
    for place, slot in enumerate(numbers):
        first = np.full(len(choices), slot)
        for earlier in reversed(numbers[:place]):
            first[columns[earlier] == columns[slot]] = earlier
        codes, kind = np.unique(kind * len(slots) + first, return_inverse=True)
        kinds = [{**kinds[code // len(slots)], slot: code % len(slots)} for code in codes.tolist()]
    return [(shared, np.flatnonzero(kind == number)) for number, shared in enumerate(kinds)]


def _shares(columns: Numbers) -> bool:
    """Whether a row is in two columns at the same place."""
    return any((columns[apart:] == columns[:-apart]).any() for apart in range(1, len(columns)))


def _alike(
    index: Index, slots: Sequence[Slot], choices: Numbers, numbers: Numbers, shared: _Sharing
) -> Alike:
    columns = [Picked(index, column) for column in choices.T]
    given = []
    for first in dict.fromkeys(shared.values()):
        amounts = added_up([slots[number] for number, same in shared.items() if same == first])
        given.append((amounts, columns[first]))
    served = [(slot.suffix, (columns[number],)) for number, slot in enumerate(slots) if slot.one_provider]
    unsuffixed = {shared[number]: number for number, slot in enumerate(slots) if not slot.one_provider}
    spread = [("", tuple([columns[number] for number in unsuffixed.values()]))] if unsuffixed else []
    return Alike(numbers, tuple(given), (*served, *spread))
