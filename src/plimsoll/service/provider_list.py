# SPDX-License-Identifier: Apache-2.0

"""List providers by their properties, in pages."""

from __future__ import annotations

import fnmatch
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import field

from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.search.plan import unknown_class, unknown_trait
from plimsoll.search.providers import find_providers
from plimsoll.search.request import ProvidersRequest

_PROVIDERS_PER_PAUSE = 64

Pause = Callable[[], object]
Test = Callable[[Provider], bool]


@unhashable_value
class ProviderQuery:
    """The wanted providers. None as a condition matches all."""

    request: ProvidersRequest = field(default_factory=ProvidersRequest)
    """Conditions on traits, aggregates, tree and free amounts."""
    name: str | None = None
    """A pattern with `*`, `?` and `[...]`, which must match the whole name."""
    over_full: bool | None = None
    empty: bool | None = None
    after: int = 0
    """The id of the last provider of the page before."""
    limit: int | None = None


@unhashable_value
class ProviderPage:
    """Providers in the order of their creation."""

    providers: list[Provider]
    next: int | None
    """The value of `after` for the next page; None if this is the last one."""


def list_providers(snapshot: Snapshot, query: ProviderQuery, pause: Pause) -> ProviderPage | Refusal:
    """Return a page of the providers that match. `pause` is called every few providers."""
    if unknown := _unknown_name(snapshot.world, query.request):
        return unknown
    found = find_providers(snapshot.world, snapshot.index, query.request)
    if isinstance(found, Refusal):
        return found
    providers = list(found)
    if query.after:
        del providers[: bisect_right(providers, query.after, key=lambda provider: provider.id)]
    tests = _tests(query)
    if tests:
        providers = _matching(providers, tests, query.limit, pause)
    if query.limit is None or len(providers) <= query.limit:
        return ProviderPage(providers, None)
    page = providers[: query.limit]
    return ProviderPage(page, page[-1].id)


def _unknown_name(world: World, request: ProvidersRequest) -> Refusal | None:
    conditions = request.conditions
    traits = frozenset[str]().union(conditions.forbidden, *conditions.required)
    return unknown_trait(world, traits) or unknown_class(world, request.resources)


def _tests(query: ProviderQuery) -> list[Test]:
    tests: list[Test] = []
    if query.name is not None:
        matches = re.compile(fnmatch.translate(query.name)).match
        tests.append(lambda provider: matches(provider.name) is not None)
    if query.over_full is not None:
        tests.append(lambda provider: provider.is_over_full is query.over_full)
    if query.empty is not None:
        tests.append(lambda provider: provider.is_empty is query.empty)
    return tests


def _matching(
    providers: list[Provider], tests: list[Test], limit: int | None, pause: Pause
) -> list[Provider]:
    """Return the providers that pass all tests; with a limit, one more than that at most."""
    found: list[Provider] = []
    for start in range(0, len(providers), _PROVIDERS_PER_PAUSE):
        some = providers[start : start + _PROVIDERS_PER_PAUSE]
        found += [provider for provider in some if all(test(provider) for test in tests)]
        if limit is not None and len(found) > limit:
            break
        pause()
    return found
