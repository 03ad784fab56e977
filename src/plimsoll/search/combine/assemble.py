# SPDX-License-Identifier: Apache-2.0

"""Turn choices (a table of rows) into candidates: amounts of slots that share a provider are added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.index import Index
from plimsoll.search.index.selection import Selection
from plimsoll.search.result import UniformCandidates
from plimsoll.search.slots import Slot


def sum_resources(slots: Sequence[Slot]) -> Mapping[str, int]:
    """Return the sum of the resources of these slots, by class."""
    if len(slots) == 1:
        return slots[0].resources
    total: dict[str, int] = {}
    for slot in slots:
        for resource_class, amount in slot.resources.items():
            total[resource_class] = total.get(resource_class, 0) + amount
    return total


def slots_with_resources(slots: Sequence[Slot]) -> list[int]:
    """Return the numbers of the slots that request resources."""
    return [number for number, slot in enumerate(slots) if slot.resources]


def uniform_parts(index: Index, slots: Sequence[Slot], choices: Numbers) -> Iterator[UniformCandidates]:
    """Yield the candidates of these choices, grouped by which slots share a provider."""
    for first_by_slot, numbers in _group_by_sharing(slots, choices):
        choices_here = choices if len(numbers) == len(choices) else choices[numbers]
        yield _uniform_candidates(index, slots, choices_here, numbers, first_by_slot)


_Sharing = dict[int, int]
"""For each slot with resources, the first slot that has the same provider."""


def _group_by_sharing(slots: Sequence[Slot], choices: Numbers) -> list[tuple[_Sharing, Numbers]]:
    """Return the numbers of the choices, grouped by which slots share a provider."""
    numbers = slots_with_resources(slots)
    columns = np.ascontiguousarray(choices.T)[numbers]
    if not _has_equal_columns(columns):
        return [({slot: slot for slot in numbers}, np.arange(len(choices)))]
    firsts = _first_equal_columns(columns)
    kind = np.zeros(len(choices), np.int64)
    for first in firsts:
        _, kind = np.unique(kind * len(numbers) + first, return_inverse=True)
    found = []
    for number in range(int(kind.max()) + 1):
        members = np.flatnonzero(kind == number)
        places = firsts[:, members[0]].tolist()
        found.append((dict(zip(numbers, [numbers[place] for place in places], strict=True)), members))
    return found


def _has_equal_columns(columns: Numbers) -> bool:
    """Return whether two columns have the same row in the same choice."""
    return any((columns[apart:] == columns[:-apart]).any() for apart in range(1, len(columns)))


_FEW_COLUMNS = 32
"""Up to this many columns, comparing all pairs is faster than sorting; the cost grows with the square."""


def _first_equal_columns(columns: Numbers) -> Numbers:
    """Return, for each column and choice, the first column with the same row in this choice."""
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
    # In sorted order, equal rows form a run; the sort is stable, so a run starts with its first column.
    places = np.maximum.accumulate(np.where(begins, np.arange(len(columns))[:, None], 0), axis=0)
    firsts = np.empty_like(order)
    np.put_along_axis(firsts, order, np.take_along_axis(order, places, axis=0), axis=0)
    return firsts


def _uniform_candidates(
    index: Index, slots: Sequence[Slot], choices: Numbers, numbers: Numbers, first_by_slot: _Sharing
) -> UniformCandidates:
    columns = [Selection(index, column) for column in choices.T]
    slots_by_first: dict[int, list[Slot]] = {}
    for number, first in first_by_slot.items():
        slots_by_first.setdefault(first, []).append(slots[number])
    allocated = [
        (sum_resources(shared_slots), columns[first]) for first, shared_slots in slots_by_first.items()
    ]
    served = [(slot.suffix, (columns[number],)) for number, slot in enumerate(slots) if slot.one_provider]
    unsuffixed = {first_by_slot[number]: number for number, slot in enumerate(slots) if not slot.one_provider}
    unsuffixed_served = (
        [("", tuple([columns[number] for number in unsuffixed.values()]))] if unsuffixed else []
    )
    return UniformCandidates(numbers, tuple(allocated), (*served, *unsuffixed_served))
