# SPDX-License-Identifier: Apache-2.0

"""What a search for candidates gives back, in shapes that are quick to make and quick to encode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.selection import NOBODY, Selection

Allocation = tuple[str, Mapping[str, int]]
"""A provider's uuid and what is taken from it."""
Mapped = tuple[str, tuple[str, ...]]
"""A group's suffix and the uuids of those who serve it."""


class Candidate(NamedTuple):
    """One way to serve the whole request. Both parts can be given to `dict`."""

    allocations: tuple[Allocation, ...]
    mappings: tuple[Mapped, ...]


@dataclass(frozen=True, slots=True, eq=False)
class UniformCandidates:
    """Candidates in which the same slots share a provider, so that they differ in nothing but uuids.

    Columns have one provider per candidate.
    """

    numbers: Numbers
    """Which ones, of all."""
    given: tuple[tuple[Mapping[str, int], Selection], ...]
    """What is taken from one provider, and the column of those it is taken from."""
    served: tuple[tuple[str, tuple[Selection, ...]], ...]
    """A group's suffix, and the columns of those who serve it: for the group without suffix perhaps several."""

    def candidates(self) -> Iterable[Candidate]:
        allocations = [[(each.uuid, amounts) for each in column] for amounts, column in self.given]
        mappings = [
            [(suffix, tuple([each.uuid for each in several])) for several in zip(*columns, strict=True)]
            for suffix, columns in self.served
        ]
        return map(Candidate, zip(*allocations, strict=True), zip(*mappings, strict=True))


PIECE_ENTRIES = 1 << 14
"""Providers in all candidates of a piece, each time counted: their text takes about 2 MB."""
LARGE_ENTRIES = 1 << 13
"""The same in all candidates of an answer that is large: more than 1 MB of text."""


class Combined(Sequence[Candidate]):
    """Candidates that take one or more providers each, kept in columns, which is also how to encode them fast.

    The columns are made from the choices on demand. They take many times the memory of the choices, so that a long
    answer is made in pieces.
    """

    __slots__ = ("_listed", "_make_parts", "_size", "_slots", "_start")

    def __init__(
        self,
        size: int,
        slots: int,
        make_parts: Callable[[slice], Iterable[UniformCandidates]],
        start: int = 0,
    ) -> None:
        """`make_parts` makes the columns of some candidates, which are numbered from 0 in them."""
        self._size = size
        self._slots = slots
        self._make_parts = make_parts
        self._start = start
        self._listed: list[Candidate] | None = None

    def __len__(self) -> int:
        return self._size

    @property
    def is_large(self) -> bool:
        return self._size * self._slots > LARGE_ENTRIES

    def parts(self) -> Iterable[UniformCandidates]:
        """All columns, in parts of candidates that share their providers in the same way."""
        return self._make_parts(slice(self._start, self._start + self._size))

    def pieces(self) -> Iterator[Combined]:
        """The same candidates, in pieces of which each fits in memory."""
        step = max(1, PIECE_ENTRIES // max(1, self._slots))
        for start in range(0, self._size, step):
            size = min(step, self._size - start)
            yield Combined(size, self._slots, self._make_parts, self._start + start)

    @overload
    def __getitem__(self, at: int) -> Candidate: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, at: int | slice) -> Candidate | Sequence[Candidate]:
        return self._list()[at]

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._list())

    def _list(self) -> list[Candidate]:
        if self._listed is None:
            listed: list[Candidate] = [_UNWRITTEN] * self._size
            for part in self.parts():
                for number, candidate in zip(part.numbers.tolist(), part.candidates(), strict=True):
                    listed[number] = candidate
            self._listed = listed
        return self._listed


@dataclass(frozen=True, slots=True)
class Candidates:
    requests: Combined
    providers: Selection
    """Those that the answer describes: the trees of all who give something."""
    is_complete: bool = True
    """Whether the search came to its end before its budget was exceeded."""


NO_CANDIDATES = Candidates(Combined(0, 0, lambda _: ()), NOBODY)


_UNWRITTEN = Candidate((), ())
