# SPDX-License-Identifier: Apache-2.0

"""Candidates, and summaries of the providers in them.

These answers can be megabytes, so they are not encoded value by value. The search gives candidates in columns, which
are written side by side; providers keep their identity until they change, and a summary is encoded once for all answers.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

import orjson

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.views.column_json import lines_of, sheet
from plimsoll.api.placement.views.json_cache import JsonCache, separated
from plimsoll.domain.provider import Provider
from plimsoll.http.response import encoded
from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.labels import Texts
from plimsoll.search.index.selection import Selection
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.result import (
    Candidate,
    Candidates,
    Combined,
    UniformCandidates,
)

_COMMA = b","


def candidates(
    found: Candidates,
    request: CandidatesRequest,
    version: Version,
    pause: Callable[[], object] = lambda: None,
) -> bytes:
    """The document. `pause` is called every some thousand candidates or providers."""
    if not found.requests.is_large:
        return b"".join(
            (
                b'{"allocation_requests":[',
                _requests(found.requests, version, pause),
                b'],"provider_summaries":{',
                *separated(_summaries(found.providers, request, version, pause)),
                b"}}",
            )
        )
    # Joined, all pieces would be in memory twice.
    document = io.BytesIO(b'{"allocation_requests":[')
    document.seek(0, io.SEEK_END)
    document.writelines(_in_pieces(found.requests, version, pause))
    document.write(b'],"provider_summaries":{')
    document.writelines(separated(_summaries(found.providers, request, version, pause)))
    document.write(b"}}")
    return document.getvalue()


# Allocation requests


def _in_pieces(
    requests: Combined, version: Version, pause: Callable[[], object]
) -> Iterator[bytes | memoryview]:
    for number, some in enumerate(requests.pieces()):
        if number:
            yield _COMMA
        yield _requests(some, version, pause)
        pause()


def _requests(requests: Combined, version: Version, pause: Callable[[], object]) -> bytes | memoryview:
    if not version.has(F.KEYED_ALLOCATIONS):
        listed = []
        for candidate in requests:
            listed.append(_listed(candidate))
            pause()
        return b",".join(listed)
    sheets: list[tuple[Numbers, bytearray]] = []
    for part in requests.parts():
        sheets.append((part.numbers, _sheet(part, with_mappings=version.has(F.MAPPINGS))))
        pause()
    if len(sheets) == 1:
        return memoryview(sheets[0][1])[: -len(_COMMA)]
    made = [b""] * len(requests)
    for numbers, written in sheets:
        for number, line in zip(numbers.tolist(), lines_of(written, len(numbers)), strict=True):
            made[number] = line
    return b"".join(made)[: -len(_COMMA)]


def _listed(candidate: Candidate) -> bytes:
    return orjson.dumps(
        {
            "allocations": [
                {"resource_provider": {"uuid": uuid}, "resources": amounts}
                for uuid, amounts in candidate.allocations
            ]
        }
    )


def _sheet(part: UniformCandidates, *, with_mappings: bool) -> bytearray:
    """A line for each candidate, with a comma at its end."""
    words: list[tuple[bytes, Texts]] = []
    text, before = b'{"allocations":{', b""
    for amounts, column in part.given:
        words.append((text + before, column.labels()))
        text, before = b':{"resources":' + orjson.dumps(amounts) + b"}", b","
    if with_mappings:
        text, before = text + b'},"mappings":{', b""
        for suffix, columns in part.served:
            text += before + orjson.dumps(suffix) + b":["
            for column in columns:
                words.append((text, column.labels()))
                text = b","
            text, before = b"]", b","
    return sheet(len(part.numbers), words, text + b"}}" + _COMMA)


# Provider summaries


def _summaries(
    providers: Selection, request: CandidatesRequest, version: Version, pause: Callable[[], object]
) -> list[bytes]:
    if not version.has(F.ALL_CLASSES_IN_SUMMARIES):
        with_traits = version.has(F.CANDIDATES_BY_TRAITS)
        asked = frozenset(name for group in request.groups for name in group.resources)
        summaries = []
        for provider in providers:
            summaries.append(_summary(provider, asked, with_traits=with_traits, nested=False))
            pause()
        return summaries
    return (_nested if version.has(F.CANDIDATES_IN_TREES) else _flat).of(providers, pause)


def _summary(
    provider: Provider, classes: Collection[str] | None, *, with_traits: bool, nested: bool
) -> bytes:
    """A provider with what it could give in all and what is used of that; None shows all its classes."""
    shown: dict[str, Any] = {"resources": _resources(provider, classes)}
    if with_traits:
        shown["traits"] = provider.listed_traits()
    if nested:
        shown["parent_provider_uuid"] = provider.parent
        shown["root_provider_uuid"] = provider.root
    return orjson.dumps(provider.uuid) + b":" + encoded(shown)


def _resources(provider: Provider, classes: Collection[str] | None) -> Mapping[str, Mapping[str, int]]:
    return {
        name: {"capacity": inventory.capacity, "used": provider.used_of(name)}
        for name, inventory in provider.inventories.items()
        if classes is None or name in classes
    }


_flat = JsonCache(partial(_summary, classes=None, with_traits=True, nested=False))
_nested = JsonCache(partial(_summary, classes=None, with_traits=True, nested=True))
