# SPDX-License-Identifier: Apache-2.0

"""Who holds what of a provider: read from SQL once, and again when anything about it may have changed."""

from __future__ import annotations

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
from tests.ledger.conftest import SOMEBODY
from tests.ledger.test_ledger import make


def claim(placement: Placement, consumer: str, amounts: dict[str, dict[str, int]], user: str = "u") -> None:
    assert allocations.claim(placement, SOMEBODY, [Claim(consumer, amounts, "p", user, "INSTANCE")]) is None


def held(placement: Placement, provider: Provider) -> ProviderAllocations:
    """As a request finds it; it must be what SQL has."""
    found = read(placement, provider)
    assert found == holdings.of_provider(placement.ledger, provider.uuid)
    assert isinstance(found, ProviderAllocations)
    return found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The providers that SQL was asked about."""
    asked: list[str] = []
    of_provider = holdings.of_provider

    def noting(ledger: object, uuid: str) -> object:
        asked.append(uuid)
        return of_provider(ledger, uuid)  # type: ignore[arg-type]

    monkeypatch.setattr("plimsoll.service.allocations.holdings.of_provider", noting)
    return asked


def read(placement: Placement, provider: Provider) -> object:
    return placement.read(lambda seeing: allocations.of_provider(seeing, provider.uuid))


def test_what_has_not_changed_is_read_once(placement: Placement, asked: list[str]) -> None:
    host, beside = make(placement, "host", VCPU=8), make(placement, "beside", VCPU=8)
    claim(placement, str(uuid4()), {host.uuid: {"VCPU": 2}})
    first = read(placement, host)
    claim(placement, str(uuid4()), {beside.uuid: {"VCPU": 2}})
    assert read(placement, host) is first
    assert asked == [host.uuid]


def test_whatever_changes_is_seen_by_all(placement: Placement, other: Placement) -> None:
    """Claims, the same ones again, other owners, moves, swaps, releases, by this process and by another."""
    host, beside = make(placement, "host", VCPU=8, MEMORY_MB=64), make(placement, "beside", VCPU=8)
    one, two = str(uuid4()), str(uuid4())

    def all_see() -> None:
        for _ in range(2):
            for placed in (placement, other):
                for provider in (host, beside):
                    held(placed, provider)

    all_see()
    for writer in (placement, other):
        claim(writer, one, {host.uuid: {"VCPU": 2}})
        all_see()
        claim(writer, one, {host.uuid: {"VCPU": 2}})
        all_see()
        claim(writer, one, {host.uuid: {"VCPU": 2}}, user="somebody else")
        all_see()
        claim(writer, two, {host.uuid: {"VCPU": 1}, beside.uuid: {"VCPU": 1}})
        all_see()
        swap = [
            Claim(one, {host.uuid: {"VCPU": 1}}, "p", "u"),
            Claim(two, {host.uuid: {"VCPU": 2}, beside.uuid: {"VCPU": 1}}, "p", "u"),
        ]
        assert allocations.claim(writer, SOMEBODY, swap) is None
        all_see()
        claim(writer, two, {beside.uuid: {"VCPU": 3}})
        all_see()
        assert allocations.release(writer, SOMEBODY, one) is None
        all_see()
        assert allocations.release(writer, SOMEBODY, two) is None
        all_see()


def test_what_was_written_while_it_was_read_is_not_taken_for_the_present(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = make(placement, "host", VCPU=8)
    one, two = str(uuid4()), str(uuid4())
    claim(placement, one, {host.uuid: {"VCPU": 2}})
    claim(placement, two, {host.uuid: {"VCPU": 2}})
    of_provider = holdings.of_provider

    def and_then(ledger: object, uuid: str) -> object:
        found = of_provider(ledger, uuid)  # type: ignore[arg-type]
        assert allocations.release(placement, SOMEBODY, one) is None
        return found

    def before_that(ledger: object, uuid: str) -> object:
        assert allocations.release(placement, SOMEBODY, two) is None
        return of_provider(ledger, uuid)  # type: ignore[arg-type]

    for while_reading in (and_then, before_that):
        with monkeypatch.context() as patched:
            patched.setattr("plimsoll.service.allocations.holdings.of_provider", while_reading)
            read(placement, host)
        held(placement, host)


def found(generation: int, *consumers: str) -> ProviderAllocations:
    return ProviderAllocations(generation, {each: (1, {"VCPU": 1}) for each in consumers}, None)


def host(number: int, used: int, generation: int = 1) -> Provider:
    return Provider(number, f"p{number}", "host", f"p{number}", generation=generation, used={"VCPU": used})


def test_only_what_adds_up_is_kept() -> None:
    last = AllocationCache()
    provider = host(1, used=2)
    for not_of_it in (found(1, "a"), found(2, "a", "b"), found(1, "a", "b", "c"), found(1)):
        last.keep(provider, not_of_it)
        assert last.of(provider) is None
    last.keep(provider, found(1, "a", "b"))
    assert last.of(provider) == found(1, "a", "b")
    assert last.of(provider.changed()) is None


def test_the_results_are_bounded_in_bytes() -> None:
    last = AllocationCache()
    classes = {f"CUSTOM_{number:0248d}": 1 for number in range(50)}
    providers = []
    for number in range(400):
        consumers = {str(uuid4()): (1, dict(classes)) for _ in range(5)}
        used = dict.fromkeys(classes, 5)
        providers.append(Provider(number, f"p{number}", "host", f"p{number}", generation=1, used=used))
        last.keep(providers[-1], ProviderAllocations(1, consumers, None))
        assert last.size <= allocation_cache.MAX_BYTES
    results = [last.of(provider) for provider in providers]
    kept = [result for result in results if result is not None]
    assert 0 < len(kept) < len(results)
    assert results[-len(kept) :] == kept  # the newest
    taken = sum(deep_size(result.by_consumer) for result in kept)
    assert taken <= last.size  # the estimate is not too low


def test_one_result_that_is_larger_than_the_bound_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        allocation_cache, "MAX_BYTES", 10 * (allocation_cache.CONSUMER_BYTES + allocation_cache.AMOUNT_BYTES)
    )
    last = AllocationCache()
    small, large = host(1, used=5), host(2, used=20)
    last.keep(small, found(1, *(str(number) for number in range(5))))
    last.keep(large, found(1, *(str(number) for number in range(20))))
    assert last.of(large) is None
    assert last.of(small) is not None
