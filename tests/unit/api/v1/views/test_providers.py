# SPDX-License-Identifier: Apache-2.0

"""The JSON of providers, and its cache."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from plimsoll.api.v1.views import providers as views
from plimsoll.api.v1.views.providers import ProviderEncoder
from plimsoll.bounded_cache import BoundedCache
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider

HOST = Provider(1, "h", "host", "h", inventories={"VCPU": Inventory(4)}, used={"VCPU": 1})


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> BoundedCache[str, tuple[Provider, bytes]]:
    cache: BoundedCache[str, tuple[Provider, bytes]] = BoundedCache(100, 10_000, size_of=views._size)
    monkeypatch.setattr(views, "_cache", cache)
    return cache


def encoded_by(fields: list[str] | None = None) -> ProviderEncoder:
    return ProviderEncoder(fields, cached=True)


def test_the_same_provider_is_encoded_once_for_each_choice_of_fields(
    cache: BoundedCache[str, tuple[Provider, bytes]],
) -> None:
    assert encoded_by()([HOST])[0] is encoded_by()([HOST])[0]
    assert encoded_by(["name", "uuid"])([HOST]) == [b'{"uuid":"h","name":"host"}']
    assert encoded_by(["uuid", "name"])([HOST]) == [b'{"uuid":"h","name":"host"}']
    assert encoded_by(["name"])([HOST]) == [b'{"name":"host"}']
    assert len(cache) == 3


def test_a_changed_provider_replaces_the_one_before(cache: BoundedCache[str, tuple[Provider, bytes]]) -> None:
    encode = encoded_by(["generation"])
    for generation in range(3):
        assert encode([replace(HOST, generation=generation)]) == [b'{"generation":%d}' % generation]
    assert len(cache) == 1


def test_the_cache_is_bounded_in_bytes(cache: BoundedCache[str, tuple[Provider, bytes]]) -> None:
    several = [replace(HOST, uuid=f"h{number}") for number in range(100)]
    encoded = encoded_by()(several)
    assert 5 < len(cache) < 50
    assert cache.size <= 10_000
    assert encoded == ProviderEncoder(None, cached=False)(several)


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        (None, None),
        (datetime(2026, 1, 2, 3, 4, 5, 678), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=1))), "2026-01-02T02:04:05Z"),
    ],
)
def test_times_are_in_utc(time: datetime | None, shown: str | None) -> None:
    assert json.loads(views.provider(replace(HOST, modified_at=time), "e:1"))["updated_at"] == shown


def test_a_capacity_beyond_64_bits_is_shown() -> None:
    huge = replace(HOST, inventories={"VCPU": Inventory(2**31 - 1, allocation_ratio=1e20)})
    assert json.loads(encoded_by()([huge])[0])["inventories"]["VCPU"]["capacity"] > 2**64
