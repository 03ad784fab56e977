# SPDX-License-Identifier: Apache-2.0

"""Lists of providers against a plain model that tests every condition on every provider, in random small clouds."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.world import World
from plimsoll.ledger.response_cache import ResponseCache
from plimsoll.ledger.snapshot import Origin, Snapshot
from plimsoll.search.request import ProvidersRequest
from plimsoll.service.provider_list import ProviderPage, ProviderQuery, list_providers
from plimsoll.storage.head import Head
from tests.property.search.clouds import CLASSES, Dice, random_case, world_of

CASES = st.randoms(use_true_random=True)


def random_query(random: Random, providers: list[Provider]) -> ProviderQuery:
    dice = Dice(random)
    resources = {name: random.randint(1, 4) for name in CLASSES if dice.chance(0.2)}
    return ProviderQuery(
        ProvidersRequest(conditions=dice.conditions(providers, 0.3), resources=resources),
        name=dice.one_of(None, None, "p?", "p[1-3]", "*4*", "P*"),
        over_full=dice.one_of(None, None, True, False),
        empty=dice.one_of(None, None, True, False),
    )


def is_wanted(provider: Provider, query: ProviderQuery, world: World) -> bool:
    conditions = query.request.conditions
    over_full = any(used > provider.inventories[name].capacity for name, used in provider.used.items())
    return (
        all(provider.traits & any_of for any_of in conditions.required)
        and not provider.traits & conditions.forbidden
        and all(provider.aggregates & any_of for any_of in conditions.member_of)
        and not provider.aggregates & conditions.not_member_of
        and (conditions.in_tree is None or world.providers[conditions.in_tree].root == provider.root)
        and all(
            name in provider.inventories
            and provider.inventories[name].admits(amount, provider.used.get(name, 0))
            for name, amount in query.request.resources.items()
        )
        and (query.name is None or fnmatchcase(provider.name, query.name))
        and query.over_full in (None, over_full)
        and query.empty in (None, not provider.used)
    )


def page_of(snapshot: Snapshot, query: ProviderQuery) -> ProviderPage:
    page = list_providers(snapshot, query, lambda: None)
    assert not isinstance(page, Refusal)
    return page


@settings(max_examples=500, deadline=None)
@given(CASES)
def test_a_list_has_exactly_the_providers_that_meet_every_condition(random: Random) -> None:
    providers, _ = random_case(random)
    world = world_of(providers)
    snapshot = Snapshot.of(Head(1, 1), world, Origin(), ResponseCache())
    query = random_query(random, providers)
    expected = [provider.uuid for provider in providers if is_wanted(provider, query, world)]
    page = page_of(snapshot, query)
    assert [provider.uuid for provider in page.providers] == expected
    assert page.next is None


@settings(max_examples=200, deadline=None)
@given(CASES, st.integers(1, 4))
def test_pages_have_each_provider_once_and_in_order(random: Random, limit: int) -> None:
    providers, _ = random_case(random)
    snapshot = Snapshot.of(Head(1, 1), world_of(providers), Origin(), ResponseCache())
    query = random_query(random, providers)
    whole, joined, after = page_of(snapshot, query).providers, list[Provider](), 0
    while True:
        page = page_of(snapshot, replace(query, limit=limit, after=after))
        assert len(page.providers) <= limit
        joined += page.providers
        if page.next is None:
            break
        assert page.providers
        after = page.next
    assert joined == whole


@given(st.text(max_size=200), st.text("host[]!-*?az", max_size=40))
def test_every_pattern_is_accepted(anything: str, special: str) -> None:
    host = Provider(1, "h", "host-1", "h")
    snapshot = Snapshot.of(Head(1, 1), world_of([host]), Origin(), ResponseCache())
    for pattern in (anything, special):
        found = page_of(snapshot, ProviderQuery(name=pattern)).providers
        assert bool(found) is fnmatchcase(host.name, pattern)
