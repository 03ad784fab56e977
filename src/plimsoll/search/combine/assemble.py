# SPDX-License-Identifier: Apache-2.0

"""From choices, a table of rows, to candidates: each set of slots that one provider serves is added up once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.index import Index
from plimsoll.search.index.selection import Selection
from plimsoll.search.result import UniformCandidates
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


def parts_of(index: Index, slots: Sequence[Slot], choices: Numbers) -> Iterator[UniformCandidates]:
    for shared, numbers in _by_sharing(slots, choices):
        these = choices if len(numbers) == len(choices) else choices[numbers]
        yield _alike(index, slots, these, numbers, shared)


_Sharing = dict[int, int]
"""For each slot that gives something the first one that has the same provider."""


def _by_sharing(slots: Sequence[Slot], choices: Numbers) -> list[tuple[_Sharing, Numbers]]:
    """The choices (by number), sorted by which slots share a provider."""
    numbers = giving(slots)
    columns = np.ascontiguousarray(choices.T)[numbers]
    if not _shares(columns):
        return [({slot: slot for slot in numbers}, np.arange(len(choices)))]
    firsts = _first_sharers(columns)
    kind = np.zeros(len(choices), np.int64)
    for first in firsts:
        _, kind = np.unique(kind * len(numbers) + first, return_inverse=True)
    found = []
    for number in range(int(kind.max()) + 1):
        those = np.flatnonzero(kind == number)
        places = firsts[:, those[0]].tolist()
        found.append((dict(zip(numbers, [numbers[place] for place in places], strict=True)), those))
    return found


def _shares(columns: Numbers) -> bool:
    """Whether a row is in two columns at the same place."""
    return any((columns[apart:] == columns[:-apart]).any() for apart in range(1, len(columns)))


_FEW_COLUMNS = 32
"""So many are compared pair by pair, which is quicker than to sort; their pairs grow with the square."""


def _first_sharers(columns: Numbers) -> Numbers:
    """For each row of each column, the first column that has the same at this place."""
    if len(columns) <= _FEW_COLUMNS:
        firsts = np.empty_like(columns)
        for number, column in enumerate(columns):
            firsts[number] = number
            for earlier in range(number - 1, -1, -1):
                firsts[number, columns[earlier] == column] = earlier
        return firsts
    order = np.argsort(columns, axis=0, kind="stable")
    rows = np.take_along_axis(columns, order, axis=0)
    begins = np.ones(columns.shape, np.bool_)
    begins[1:] = rows[1:] != rows[:-1]
    # In the order of rows: where each run of equal rows begins, and so which column is the first of the run.
    places = np.maximum.accumulate(np.where(begins, np.arange(len(columns))[:, None], 0), axis=0)
    firsts = np.empty_like(order)
    np.put_along_axis(firsts, order, np.take_along_axis(order, places, axis=0), axis=0)
    return firsts


def _alike(
    index: Index, slots: Sequence[Slot], choices: Numbers, numbers: Numbers, shared: _Sharing
) -> UniformCandidates:
    columns = [Selection(index, column) for column in choices.T]
    sharers: dict[int, list[Slot]] = {}
    for number, first in shared.items():
        sharers.setdefault(first, []).append(slots[number])
    given = [(added_up(several), columns[first]) for first, several in sharers.items()]
    served = [(slot.suffix, (columns[number],)) for number, slot in enumerate(slots) if slot.one_provider]
    unsuffixed = {shared[number]: number for number, slot in enumerate(slots) if not slot.one_provider}
    spread = [("", tuple([columns[number] for number in unsuffixed.values()]))] if unsuffixed else []
    return UniformCandidates(numbers, tuple(given), (*served, *spread))
