# SPDX-License-Identifier: Apache-2.0

"""Candidates, and summaries of the providers in them.

These responses can have megabytes, so with the fast path `json_cache` they are not encoded value by value. The search
returns candidates in columns, which are written at once (`column_json`). The JSON of a summary is cached until its
provider changes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

import orjson

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.views.column_json import Texts, UuidTexts, fill_template, split_records
from plimsoll.api.placement.views.json_cache import JsonCache, with_commas
from plimsoll.domain.provider import Provider
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.http.response import encode_json
from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.selection import Selection
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.result import Candidate, CandidateList, Candidates, UniformCandidates

_COMMA = b","


def candidates(
    found: Candidates,
    request: CandidatesRequest,
    version: Version,
    pause: Callable[[], object] = lambda: None,
    fast_paths: FastPaths = ALL,
) -> bytes:
    """Return the document as JSON. `pause` is called after every few thousand candidates or providers."""
    cached = fast_paths.json_cache
    # b"".join would need all pieces and the result at the same time: twice the memory.
    document = io.BytesIO(b'{"allocation_requests":[')
    document.seek(0, io.SEEK_END)
    document.writelines(_encode_pieces(found.requests, version, pause, cached))
    document.write(b'],"provider_summaries":{')
    document.writelines(with_commas(_summaries(found.providers, request, version, pause, cached)))
    document.write(b"}}")
    return document.getvalue()


# Allocation requests


def _encode_pieces(
    requests: CandidateList, version: Version, pause: Callable[[], object], in_columns: bool
) -> Iterator[bytes | memoryview]:
    for number, some in enumerate(requests.pieces()):
        if number:
            yield _COMMA
        yield _requests(some, version, pause, in_columns)
        pause()


def _requests(
    requests: CandidateList, version: Version, pause: Callable[[], object], in_columns: bool
) -> bytes | memoryview:
    if not in_columns or not version.has(F.KEYED_ALLOCATIONS):
        encoded = []
        for candidate in requests:
            encoded.append(orjson.dumps(_candidate(candidate, version)))
            pause()
        return b",".join(encoded)
    encoded_parts: list[tuple[Numbers, bytearray]] = []
    for part in requests.parts():
        encoded_parts.append((part.numbers, _encode_columns(part, with_mappings=version.has(F.MAPPINGS))))
        pause()
    if len(encoded_parts) == 1:
        return memoryview(encoded_parts[0][1])[: -len(_COMMA)]
    by_number = [b""] * len(requests)
    for numbers, records in encoded_parts:
        for number, record in zip(numbers.tolist(), split_records(records, len(numbers)), strict=True):
            by_number[number] = record
    return b"".join(by_number)[: -len(_COMMA)]


def _candidate(candidate: Candidate, version: Version) -> dict[str, Any]:
    if not version.has(F.KEYED_ALLOCATIONS):
        return {
            "allocations": [
                {"resource_provider": {"uuid": uuid}, "resources": amounts}
                for uuid, amounts in candidate.allocations
            ]
        }
    shown: dict[str, Any] = {
        "allocations": {uuid: {"resources": amounts} for uuid, amounts in candidate.allocations}
    }
    if version.has(F.MAPPINGS):
        shown["mappings"] = dict(candidate.mappings)
    return shown


def _encode_columns(part: UniformCandidates, *, with_mappings: bool) -> bytearray:
    """Return the JSON of all candidates of a part, each with a comma at its end."""
    columns = [column for _, column in part.allocated]
    columns += [column for _, several in part.served for column in several]
    texts = {column: _uuids.of(column) for column in set(columns)}
    columns_after_text: list[tuple[bytes, Texts]] = []
    text, before = b'{"allocations":{', b""
    for amounts, column in part.allocated:
        columns_after_text.append((text + before, texts[column]))
        text, before = b':{"resources":' + orjson.dumps(amounts) + b"}", b","
    if with_mappings:
        text, before = text + b'},"mappings":{', b""
        for suffix, several in part.served:
            text += before + orjson.dumps(suffix) + b":["
            for column in several:
                columns_after_text.append((text, texts[column]))
                text = b","
            text, before = b"]", b","
    return fill_template(len(part.numbers), columns_after_text, text + b"}}" + _COMMA)


# Provider summaries


def _summaries(
    providers: Selection,
    request: CandidatesRequest,
    version: Version,
    pause: Callable[[], object],
    cached: bool,
) -> list[bytes]:
    all_classes, nested = version.has(F.ALL_CLASSES_IN_SUMMARIES), version.has(F.CANDIDATES_IN_TREES)
    if cached and all_classes:
        return (_nested if nested else _flat).of(providers, pause)
    with_traits = version.has(F.CANDIDATES_BY_TRAITS)
    requested = frozenset(name for group in request.groups for name in group.resources)
    summaries = []
    for provider in providers:
        classes = None if all_classes else requested
        summaries.append(_summary(provider, classes, with_traits=with_traits, nested=nested))
        pause()
    return summaries


def _summary(
    provider: Provider, classes: Collection[str] | None, *, with_traits: bool, nested: bool
) -> bytes:
    """Encode capacity and usage of a provider for these classes; None for all its classes."""
    shown: dict[str, Any] = {"resources": _resources(provider, classes)}
    if with_traits:
        shown["traits"] = provider.listed_traits()
    if nested:
        shown["parent_provider_uuid"] = provider.parent
        shown["root_provider_uuid"] = provider.root
    return orjson.dumps(provider.uuid) + b":" + encode_json(shown)


def _resources(provider: Provider, classes: Collection[str] | None) -> Mapping[str, Mapping[str, int]]:
    return {
        name: {"capacity": inventory.capacity, "used": provider.used_of(name)}
        for name, inventory in provider.inventories.items()
        if classes is None or name in classes
    }


_flat = JsonCache(partial(_summary, classes=None, with_traits=True, nested=False))
_nested = JsonCache(partial(_summary, classes=None, with_traits=True, nested=True))
_uuids = UuidTexts()
