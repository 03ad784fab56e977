# SPDX-License-Identifier: Apache-2.0

"""Candidates, and summaries of the providers in them.

These answers can be megabytes, so they are put together from pieces of bytes. The search gives candidates in columns,
and providers keep their identity until they change: each piece is encoded once, a summary once for all answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import orjson

from plimsoll.domain.provider import Provider
from plimsoll.search.answer import (
    Alike,
    Candidate,
    Candidates,
    Column,
    Combined,
    OneProviderEach,
    Requests,
)
from plimsoll.search.request import CandidatesRequest
from plimsoll.wire.answers import encoded
from plimsoll.wire.features import Feature as F
from plimsoll.wire.microversion import Version
from plimsoll.wire.views.kept import Variants

_variants = Variants()


def candidates(found: Candidates, request: CandidatesRequest, version: Version) -> bytes:
    return b"".join(
        (
            b'{"allocation_requests":[',
            b",".join(_requests(found.requests, version)),
            b'],"provider_summaries":{',
            b",".join(_summaries(found.providers, request, version)),
            b"}}",
        )
    )


# Allocation requests


def _requests(requests: Requests, version: Version) -> list[bytes]:
    if not version.has(F.KEYED_ALLOCATIONS):
        return [_listed(candidate) for candidate in requests]
    with_mappings = version.has(F.MAPPINGS)
    if isinstance(requests, OneProviderEach):
        return _one_provider_each(requests, with_mappings=with_mappings)
    return _combined(requests, with_mappings=with_mappings)


def _listed(candidate: Candidate) -> bytes:
    return orjson.dumps(
        {
            "allocations": [
                {"resource_provider": {"uuid": uuid}, "resources": amounts}
                for uuid, amounts in candidate.allocations
            ]
        }
    )


def _one_provider_each(requests: OneProviderEach, *, with_mappings: bool) -> list[bytes]:
    """All are the same text around the uuid of their provider."""
    gap = "<uuid>"
    shown: dict[str, Any] = {"allocations": {gap: {"resources": requests.resources}}}
    if with_mappings:
        shown["mappings"] = {suffix: [gap] for suffix in requests.suffixes}
    around = orjson.dumps(shown).split(gap.encode())
    return [provider.uuid.encode().join(around) for provider in requests.providers]


def _combined(requests: Combined, *, with_mappings: bool) -> list[bytes]:
    made = [b""] * len(requests)
    for part in requests.parts:
        for number, text in zip(part.numbers, _alike(part, with_mappings=with_mappings), strict=True):
            made[number] = text
    return made


def _alike(part: Alike, *, with_mappings: bool) -> Iterator[bytes]:
    """Texts that differ only in uuids: each piece is made once, and put into all candidates that have it."""
    columns: list[Iterable[bytes]] = [repeat(b'{"allocations":{')]
    before = b""
    for amounts, column in part.given:
        after = b':{"resources":' + orjson.dumps(amounts) + b"}"
        columns.append(column.of([before + orjson.dumps(uuid) + after for uuid in column.uuids]))
        before = b","
    if with_mappings:
        columns.append(repeat(b'},"mappings":{'))
        before = b""
        for suffix, served_by in part.served:
            columns.append(_mapped(before + orjson.dumps(suffix) + b":", served_by))
            before = b","
    columns.append(repeat(b"}}"))
    return map(b"".join, zip(*columns, strict=False))


def _mapped(name: bytes, columns: Sequence[Column]) -> Iterable[bytes]:
    if len(columns) == 1:
        return columns[0].of([name + b"[" + orjson.dumps(uuid) + b"]" for uuid in columns[0].uuids])
    several = zip(*[column.of(column.uuids) for column in columns], strict=True)
    return [name + orjson.dumps(uuids) for uuids in several]


# Provider summaries


def _summaries(providers: Sequence[Provider], request: CandidatesRequest, version: Version) -> list[bytes]:
    with_traits = version.has(F.CANDIDATES_BY_TRAITS)
    if not version.has(F.ALL_CLASSES_IN_SUMMARIES):
        asked = frozenset(name for group in request.groups for name in group.resources)
        return [_summary(provider, asked, with_traits=with_traits, nested=False) for provider in providers]
    nested = version.has(F.CANDIDATES_IN_TREES)
    kept = _variants.of(nested, partial(_summary, classes=None, with_traits=True, nested=nested))
    return kept.of(providers)


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
