# SPDX-License-Identifier: Apache-2.0

"""The allocations on a provider are read from SQL once, and again after any change of the provider."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from plimsoll.bounded_cache import deep_size
from plimsoll.domain.consumer import ProviderAllocations
from plimsoll.domain.provider import Provider
from plimsoll.domain.rules.allocations import Claim
from plimsoll.ledger import allocation_cache, holdings
from plimsoll.ledger.allocation_cache import AllocationCache
from plimsoll.service import allocations
from plimsoll.service.placement import Placement
from tests.ledger.conftest import ACTOR
from tests.ledger.test_ledger import make_provider

pytestmark = pytest.mark.only_fast_paths


def claim(placement: Placement, consumer: str, amounts: dict[str, dict[str, int]], user: str = "u") -> None:
    assert allocations.claim(placement, ACTOR, [Claim(consumer, amounts, "p", user, "INSTANCE")]) is None


def read_and_compare(placement: Placement, provider: Provider) -> ProviderAllocations:
    """Read as a request does. The result must be equal to SQL."""
    found = read(placement, provider)
    assert found == holdings.of_provider(placement.ledger, provider.uuid)
    assert isinstance(found, ProviderAllocations)
    return found


@pytest.fixture
def sql_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The providers whose allocations were read from SQL."""
    sql_reads: list[str] = []
    of_provider = holdings.of_provider

    def record(ledger: object, uuid: str) -> object:
        sql_reads.append(uuid)
        return of_provider(ledger, uuid)  # type: ignore[arg-type]

    monkeypatch.setattr("plimsoll.service.allocations.holdings.of_provider", record)
    return sql_reads


def read(placement: Placement, provider: Provider) -> object:
    return placement.read(lambda reader: allocations.of_provider(reader, provider.uuid))


def test_unchanged_allocations_are_read_once(placement: Placement, sql_reads: list[str]) -> None:
    host, beside = make_provider(placement, "host", VCPU=8), make_provider(placement, "beside", VCPU=8)
    claim(placement, str(uuid4()), {host.uuid: {"VCPU": 2}})
    first = read(placement, host)
    claim(placement, str(uuid4()), {beside.uuid: {"VCPU": 2}})
    assert read(placement, host) is first
    assert sql_reads == [host.uuid]


def test_every_kind_of_change_is_seen_by_all_processes(placement: Placement, other: Placement) -> None:
    """Claims, repeated claims, other owners, moves, swaps and releases, by this process and by another."""
    host, beside = (
        make_provider(placement, "host", VCPU=8, MEMORY_MB=64),
        make_provider(placement, "beside", VCPU=8),
    )
    one, two = str(uuid4()), str(uuid4())

    def check_all() -> None:
        for _ in range(2):
            for process in (placement, other):
                for provider in (host, beside):
                    read_and_compare(process, provider)

    check_all()
    for writer in (placement, other):
        claim(writer, one, {host.uuid: {"VCPU": 2}})
        check_all()
        claim(writer, one, {host.uuid: {"VCPU": 2}})
        check_all()
        claim(writer, one, {host.uuid: {"VCPU": 2}}, user="another user")
        check_all()
        claim(writer, two, {host.uuid: {"VCPU": 1}, beside.uuid: {"VCPU": 1}})
        check_all()
        swap = [
            Claim(one, {host.uuid: {"VCPU": 1}}, "p", "u"),
            Claim(two, {host.uuid: {"VCPU": 2}, beside.uuid: {"VCPU": 1}}, "p", "u"),
        ]
        assert allocations.claim(writer, ACTOR, swap) is None
        check_all()
        claim(writer, two, {beside.uuid: {"VCPU": 3}})
        check_all()
        assert allocations.release(writer, ACTOR, one) is None
        check_all()
        assert allocations.release(writer, ACTOR, two) is None
        check_all()


def test_allocations_that_change_during_the_read_are_not_cached_as_current(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = make_provider(placement, "host", VCPU=8)
    one, two = str(uuid4()), str(uuid4())
    claim(placement, one, {host.uuid: {"VCPU": 2}})
    claim(placement, two, {host.uuid: {"VCPU": 2}})
    of_provider = holdings.of_provider

    def release_after_read(ledger: object, uuid: str) -> object:
        found = of_provider(ledger, uuid)  # type: ignore[arg-type]
        assert allocations.release(placement, ACTOR, one) is None
        return found

    def release_before_read(ledger: object, uuid: str) -> object:
        assert allocations.release(placement, ACTOR, two) is None
        return of_provider(ledger, uuid)  # type: ignore[arg-type]

    for racing_read in (release_after_read, release_before_read):
        with monkeypatch.context() as context:
            context.setattr("plimsoll.service.allocations.holdings.of_provider", racing_read)
            read(placement, host)
        read_and_compare(placement, host)


def make_allocations(generation: int, *consumers: str) -> ProviderAllocations:
    return ProviderAllocations(generation, {each: (1, {"VCPU": 1}) for each in consumers}, None)


def make_host(number: int, used: int, generation: int = 1) -> Provider:
    return Provider(number, f"p{number}", "host", f"p{number}", generation=generation, used={"VCPU": used})


def test_only_allocations_that_match_generation_and_sums_are_cached() -> None:
    cache = AllocationCache()
    provider = make_host(1, used=2)
    for mismatched in (
        make_allocations(1, "a"),
        make_allocations(2, "a", "b"),
        make_allocations(1, "a", "b", "c"),
        make_allocations(1),
    ):
        cache.put(provider, mismatched)
        assert cache.get(provider) is None
    cache.put(provider, make_allocations(1, "a", "b"))
    assert cache.get(provider) == make_allocations(1, "a", "b")
    assert cache.get(replace(provider)) is None


def test_the_cache_is_bounded_in_bytes() -> None:
    cache = AllocationCache()
    classes = {f"CUSTOM_{number:0248d}": 1 for number in range(50)}
    providers = []
    for number in range(400):
        consumers = {str(uuid4()): (1, dict(classes)) for _ in range(5)}
        used = dict.fromkeys(classes, 5)
        providers.append(Provider(number, f"p{number}", "host", f"p{number}", generation=1, used=used))
        cache.put(providers[-1], ProviderAllocations(1, consumers, None))
        assert cache.size <= allocation_cache.MAX_BYTES
    results = [cache.get(provider) for provider in providers]
    cached_results = [result for result in results if result is not None]
    assert 0 < len(cached_results) < len(results)
    assert results[-len(cached_results) :] == cached_results  # the newest
    actual_bytes = sum(deep_size(result.by_consumer) for result in cached_results)
    assert actual_bytes <= cache.size  # the estimate is not too low


def test_a_result_that_is_larger_than_the_bound_is_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        allocation_cache, "MAX_BYTES", 10 * (allocation_cache.CONSUMER_BYTES + allocation_cache.AMOUNT_BYTES)
    )
    cache = AllocationCache()
    small, large = make_host(1, used=5), make_host(2, used=20)
    cache.put(small, make_allocations(1, *(str(number) for number in range(5))))
    cache.put(large, make_allocations(1, *(str(number) for number in range(20))))
    assert cache.get(large) is None
    assert cache.get(small) is not None


def test_a_disabled_cache_stores_nothing(placement: Placement) -> None:
    host = make_provider(placement, "host", VCPU=8)
    found = holdings.of_provider(placement.ledger, host.uuid)
    assert found is not None
    for enabled in (True, False):
        cache = AllocationCache(enabled=enabled)
        cache.put(host, found)
        assert (cache.get(host) is found) == enabled
