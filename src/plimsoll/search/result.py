# SPDX-License-Identifier: Apache-2.0

"""The result of a search for candidates, in columns that are fast to build and to encode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.selection import NO_PROVIDERS, Selection

Allocation = tuple[str, Mapping[str, int]]
"""A provider's uuid and the amounts allocated from it, by resource class."""
Mapped = tuple[str, tuple[str, ...]]
"""A group's suffix and the uuids of the providers that serve it."""


class Candidate(NamedTuple):
    """One way to serve the whole request. Both fields are tuples of pairs, ready for `dict`."""

    allocations: tuple[Allocation, ...]
    mappings: tuple[Mapped, ...]


@dataclass(frozen=True, slots=True, eq=False)
class UniformCandidates:
    """Candidates in which the same slots share a provider: they differ only in provider uuids.

    Each column has one provider per candidate.
    """

    numbers: Numbers
    """The positions of these candidates in the whole list."""
    allocated: tuple[tuple[Mapping[str, int], Selection], ...]
    """Pairs of amounts and the column of providers that they are allocated from."""
    served: tuple[tuple[str, tuple[Selection, ...]], ...]
    """Pairs of a group's suffix and the columns of its providers; the group without suffix may have several."""

    def candidates(self) -> Iterable[Candidate]:
        allocations = [[(each.uuid, amounts) for each in column] for amounts, column in self.allocated]
        mappings = [
            [(suffix, tuple([each.uuid for each in several])) for several in zip(*columns, strict=True)]
            for suffix, columns in self.served
        ]
        return map(Candidate, zip(*allocations, strict=True), zip(*mappings, strict=True))


PIECE_ENTRIES = 1 << 14
"""Provider entries per piece, over all its candidates: about 2 MB of JSON."""
LARGE_ENTRIES = 1 << 13
"""Provider entries beyond which a list is large: more than 1 MB of JSON."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidateList:
    """A lazy list of candidates, stored as a table of choices.

    The columns for encoding are made from the choices on demand. They need many times the memory of the choices, so a
    long list is encoded in pieces.
    """

    _size: int
    _slots: int
    _make_parts: Callable[[slice], Iterable[UniformCandidates]]
    """Returns the columns of a slice of the candidates; their numbers start at 0 in each slice."""
    _start: int = 0

    def __len__(self) -> int:
        return self._size

    @property
    def is_large(self) -> bool:
        return self._size * self._slots > LARGE_ENTRIES

    def parts(self) -> Iterable[UniformCandidates]:
        """Return the columns, in parts of candidates in which the same slots share a provider."""
        return self._make_parts(slice(self._start, self._start + self._size))

    def pieces(self) -> Iterator[CandidateList]:
        """Yield the same candidates in consecutive pieces of bounded size."""
        step = max(1, PIECE_ENTRIES // max(1, self._slots))
        for start in range(0, self._size, step):
            size = min(step, self._size - start)
            yield CandidateList(size, self._slots, self._make_parts, self._start + start)

    def __iter__(self) -> Iterator[Candidate]:
        listed: list[Candidate] = [_PLACEHOLDER] * self._size
        for part in self.parts():
            for number, candidate in zip(part.numbers.tolist(), part.candidates(), strict=True):
                listed[number] = candidate
        return iter(listed)


@dataclass(frozen=True, slots=True)
class Candidates:
    requests: CandidateList
    providers: Selection
    """The providers for the provider summaries: all trees with a provider that a candidate allocates from."""
    is_complete: bool = True
    """False if the budget was exceeded before the search ended."""


NO_CANDIDATES = Candidates(CandidateList(0, 0, lambda _: ()), NO_PROVIDERS)


_PLACEHOLDER = Candidate((), ())
