# SPDX-License-Identifier: Apache-2.0

"""What a search for candidates gives back, in shapes that are quick to make and quick to encode.

Pieces that repeat are the same object each time: the amounts for a set of slots, the pair of a provider and
its amounts. An encoder may therefore keep what it made of a piece by the piece's identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar, overload

import numpy as np

from plimsoll.domain.provider import Provider
from plimsoll.search.index import Index
from plimsoll.search.rows import Numbers
from plimsoll.search.slots import Slot

Allocation = tuple[str, Mapping[str, int]]
"""A provider's uuid and what is taken from it."""
Mapped = tuple[str, tuple[str, ...]]
"""A group's suffix and the uuids of those who serve it."""


class Candidate(NamedTuple):
    """One way to serve the whole request. Both parts can be given to `dict`."""

    allocations: tuple[Allocation, ...]
    mappings: tuple[Mapped, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    requests: Sequence[Candidate]
    providers: Sequence[Provider]
    """Those that the answer describes: the trees of all who give something."""


NO_CANDIDATES = Candidates((), ())
_UNWRITTEN = Candidate((), ())
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class OneProviderEach(Sequence[Candidate]):
    """Candidates that differ only in the one provider that serves everything."""

    providers: Sequence[Provider]
    resources: Mapping[str, int]
    suffixes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.providers)

    @overload
    def __getitem__(self, at: int) -> Candidate: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, at: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(at, slice):
            return OneProviderEach(self.providers[at], self.resources, self.suffixes)
        return self._candidate(self.providers[at].uuid)

    def __iter__(self) -> Iterator[Candidate]:
        return (self._candidate(provider.uuid) for provider in self.providers)

    def _candidate(self, uuid: str) -> Candidate:
        return Candidate(
            allocations=((uuid, self.resources),),
            mappings=tuple([(suffix, (uuid,)) for suffix in self.suffixes]),
        )


def added_up(slots: Sequence[Slot]) -> dict[str, int]:
    """What several slots ask for in all."""
    total: dict[str, int] = {}
    for slot in slots:
        for resource_class, amount in slot.resources.items():
            total[resource_class] = total.get(resource_class, 0) + amount
    return total


class Writer:
    """Turns a table of choices into candidates, column by column, making each piece once."""

    def __init__(self, index: Index, slots: Sequence[Slot]) -> None:
        self.index = index
        self.slots = slots
        self.giving = [number for number, slot in enumerate(slots) if slot.resources]
        self.suffixed = [number for number, slot in enumerate(slots) if slot.one_provider]
        self.unsuffixed = [number for number, slot in enumerate(slots) if not slot.one_provider]

    def candidates(self, choices: Numbers) -> list[Candidate]:
        alike = self._alike(choices)
        if len(alike) == 1:
            return self._written(choices, alike[0][0])
        written: list[Candidate] = [_UNWRITTEN] * len(choices)
        for first, numbers in alike:
            for number, candidate in zip(
                numbers.tolist(), self._written(choices[numbers], first), strict=True
            ):
                written[number] = candidate
        return written

    def _alike(self, choices: Numbers) -> list[tuple[dict[int, int], Numbers]]:
        """The choices sorted by which slots have the same provider: each slot's first such slot."""
        kind = np.zeros(len(choices), np.int64)
        firsts: list[dict[int, int]] = [{}]
        for place, slot in enumerate(self.giving):
            first = np.full(len(choices), slot)
            for earlier in reversed(self.giving[:place]):
                first[choices[:, earlier] == choices[:, slot]] = earlier
            if (first == slot).all():
                for known in firsts:
                    known[slot] = slot
                continue
            codes, kind = np.unique(kind * len(self.slots) + first, return_inverse=True)
            firsts = [
                {**firsts[code // len(self.slots)], slot: code % len(self.slots)} for code in codes.tolist()
            ]
        return [(first, np.flatnonzero(kind == number)) for number, first in enumerate(firsts)]

    def _written(self, choices: Numbers, first: Mapping[int, int]) -> list[Candidate]:
        """Choices in which the same slots have the same provider."""
        columns = [self._column(column) for column in choices.T]
        allocated = []
        for slot in dict.fromkeys(first.values()):
            resources = added_up([self.slots[number] for number in self.giving if first[number] == slot])
            uuids, places = columns[slot]
            allocated.append(_placed([(uuid, resources) for uuid in uuids], places))
        mapped: list[list[Mapped]] = []
        for slot in self.suffixed:
            suffix = self.slots[slot].suffix
            uuids, places = columns[slot]
            mapped.append(_placed([(suffix, (uuid,)) for uuid in uuids], places))
        if self.unsuffixed:
            servers = {first[slot]: slot for slot in self.unsuffixed}.values()
            together = zip(*[_placed(*columns[slot]) for slot in servers], strict=True)
            mapped.append([("", uuids) for uuids in together])
        pairs = zip(zip(*allocated, strict=True), zip(*mapped, strict=True), strict=True)
        return list(map(_candidate, pairs))

    def _column(self, rows: Numbers) -> tuple[list[str], list[int]]:
        """The uuids in a column, each once, and the place of each row's."""
        there = np.zeros(self.index.size, np.bool_)
        there[rows] = True
        distinct = np.flatnonzero(there)
        place = np.empty(self.index.size, np.int64)
        place[distinct] = np.arange(len(distinct))
        return [provider.uuid for provider in self.index.providers(distinct.tolist())], place[rows].tolist()


def _placed(pieces: Sequence[_T], places: Iterable[int]) -> list[_T]:
    return list(map(pieces.__getitem__, places))


_candidate: Callable[[Iterable[object]], Candidate] = partial(tuple.__new__, Candidate)
"""Candidate(*pair), at a third of the price: this runs once per candidate."""
