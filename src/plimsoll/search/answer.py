# SPDX-License-Identifier: Apache-2.0

"""What a search for candidates gives back, in shapes that are quick to make and quick to encode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar, overload

from plimsoll.domain.provider import Provider

_T = TypeVar("_T")

Allocation = tuple[str, Mapping[str, int]]
"""A provider's uuid and what is taken from it."""
Mapped = tuple[str, tuple[str, ...]]
"""A group's suffix and the uuids of those who serve it."""


class Candidate(NamedTuple):
    """One way to serve the whole request. Both parts can be given to `dict`."""

    allocations: tuple[Allocation, ...]
    mappings: tuple[Mapped, ...]


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


class Column(NamedTuple):
    """One uuid per candidate: the different ones, and which of them each candidate has."""

    uuids: list[str]
    places: list[int]

    def of(self, pieces: Sequence[_T]) -> list[_T]:
        """For each candidate the piece that was made of its uuid, where one was made of each uuid."""
        return list(map(pieces.__getitem__, self.places))


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """Candidates in which the same slots share a provider, so that they differ in nothing but uuids."""

    numbers: list[int]
    """Which ones, of all."""
    given: tuple[tuple[Mapping[str, int], Column], ...]
    """What is taken from one provider, and whose it is."""
    served: tuple[tuple[str, tuple[Column, ...]], ...]
    """A group's suffix, and who serves it: for the group without suffix perhaps several."""

    def candidates(self) -> Iterable[Candidate]:
        allocations = [
            column.of([(uuid, amounts) for uuid in column.uuids]) for amounts, column in self.given
        ]
        mappings = [_mapped(suffix, columns) for suffix, columns in self.served]
        return map(_candidate, zip(zip(*allocations, strict=True), zip(*mappings, strict=True), strict=True))


class Combined(Sequence[Candidate]):
    """Candidates that take one or more providers each, kept in columns, which is also how to encode them fast."""

    __slots__ = ("_listed", "_size", "parts")

    def __init__(self, size: int, parts: Sequence[Alike]) -> None:
        self._size = size
        self.parts = parts
        self._listed: list[Candidate] | None = None

    def __len__(self) -> int:
        return self._size

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
            for part in self.parts:
                for number, candidate in zip(part.numbers, part.candidates(), strict=True):
                    listed[number] = candidate
            self._listed = listed
        return self._listed


Requests = OneProviderEach | Combined


@dataclass(frozen=True, slots=True)
class Candidates:
    requests: Requests
    providers: Sequence[Provider]
    """Those that the answer describes: the trees of all who give something."""


NO_CANDIDATES = Candidates(Combined(0, ()), ())


def _mapped(suffix: str, columns: Sequence[Column]) -> list[Mapped]:
    if len(columns) == 1:
        return columns[0].of([(suffix, (uuid,)) for uuid in columns[0].uuids])
    return [(suffix, uuids) for uuids in zip(*[column.of(column.uuids) for column in columns], strict=True)]


_UNWRITTEN = Candidate((), ())
_candidate: Callable[[Iterable[object]], Candidate] = partial(tuple.__new__, Candidate)
"""Candidate(*pair), at a third of the price: this runs once per candidate."""
