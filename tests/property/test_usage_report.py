# SPDX-License-Identifier: Apache-2.0

"""Sums of capacity and usage against a plain model that computes each figure by itself, in random small clouds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.provider import Provider
from plimsoll.domain.utilisation import ClassTotals, ProviderTotals
from plimsoll.service import usage_report as report
from tests.property.search.clouds import CLASSES, random_case, world_of

MAX_AMOUNT = 20


def shown(totals: ClassTotals) -> dict[str, Any]:
    return {name: getattr(totals, name) for name in ClassTotals.__slots__}


def largest(provider: Provider, name: str) -> int:
    """Try every amount."""
    inventory, used = provider.inventories[name], provider.used.get(name, 0)
    return max((each for each in range(1, MAX_AMOUNT) if inventory.admits(each, used)), default=0)


def free(provider: Provider, name: str) -> int:
    return max(provider.inventories[name].capacity - provider.used.get(name, 0), 0)


def is_used_up(name: str, provider: Provider, providers: list[Provider]) -> bool:
    """Whether on this provider's host some of the class is allocated, and no amount of it can be claimed."""
    host = [each for each in providers if each.root == provider.root and name in each.inventories]
    return any(each.used.get(name) for each in host) and not any(largest(each, name) for each in host)


def model(group: Iterable[Provider], name: str, providers: list[Provider]) -> dict[str, Any]:
    have = [provider for provider in group if name in provider.inventories]
    others = [other for other in CLASSES if other != name]
    stranded_by = {
        other: sum(free(provider, name) for provider in have if is_used_up(other, provider, providers))
        for other in others
    }
    return {
        "providers": len(have),
        "total": sum(provider.inventories[name].total for provider in have),
        "reserved": sum(provider.inventories[name].reserved for provider in have),
        "capacity": sum(provider.inventories[name].capacity for provider in have),
        "used": sum(provider.used.get(name, 0) for provider in have),
        "free": sum(free(provider, name) for provider in have),
        "largest": max(largest(provider, name) for provider in have),
        "stranded": sum(
            free(provider, name)
            for provider in have
            if any(is_used_up(other, provider, providers) for other in others)
        ),
        "stranded_by": {other: amount for other, amount in stranded_by.items() if amount},
    }


def assert_agrees(totals: ProviderTotals, group: list[Provider], providers: list[Provider]) -> None:
    assert totals.providers == len(group)
    assert set(totals.by_class) == {name for provider in group for name in provider.inventories}
    for name, figures in totals.by_class.items():
        assert shown(figures) == model(group, name, providers)


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=True))
def test_the_sums_of_all_providers_agree_with_the_model(random: Random) -> None:
    providers, _ = random_case(random)
    assert_agrees(report.of_all(world_of(providers), lambda: None), providers, providers)


@pytest.mark.parametrize(
    ("by_group", "keys_of"),
    [
        (report.by_root, lambda provider: {provider.root}),
        (report.by_aggregate, lambda provider: provider.aggregates or {None}),
        (report.by_trait, lambda provider: provider.traits or {None}),
    ],
)
@settings(max_examples=200, deadline=None)
@given(random=st.randoms(use_true_random=True))
def test_the_sums_of_each_group_agree_with_the_model(
    by_group: Callable[..., dict[str | None, ProviderTotals]],
    keys_of: Callable[[Provider], set[str | None]],
    random: Random,
) -> None:
    providers, _ = random_case(random)
    groups = by_group(world_of(providers), lambda: None)
    assert set(groups) == {key for provider in providers for key in keys_of(provider)}
    for key, totals in groups.items():
        assert_agrees(totals, [provider for provider in providers if key in keys_of(provider)], providers)


def test_the_clouds_have_stranded_amounts() -> None:
    """The properties above would hold without any: some of the clouds have them, and some have none."""
    found = [report.of_all(world_of(random_case(Random(seed))[0]), lambda: None) for seed in range(100)]
    stranded = [any(each.stranded for each in totals.by_class.values()) for totals in found]
    assert 10 < sum(stranded) < 90
