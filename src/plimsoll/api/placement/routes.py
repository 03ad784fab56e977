# SPDX-License-Identifier: Apache-2.0

"""Every route of the API, in one table: what it is called, who may use it, and what it checks in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.handlers import (
    aggregates,
    allocations,
    candidates,
    classes,
    inventories,
    providers,
    reshape,
    root,
    traits,
    usages,
)
from plimsoll.api.placement.preconditions import (
    Check,
    answers_json,
    only_with,
    since,
    takes_json,
)
from plimsoll.api.placement.request import ApiRequest
from plimsoll.http.response import Response

Handler = Callable[[ApiRequest], Response]
Target = Callable[[ApiRequest], Mapping[str, str | None]]


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str
    handler: Handler
    rule: str | None
    """The policy rule that allows it; None where anybody may."""
    checks: tuple[Check, ...] = ()
    until: F | None = None
    """From this feature on the next route of the same name takes over."""
    target: Target | None = None
    """What the policy rule looks at, unless that is the caller's own project."""
    listed: bool = True
    """Whether the `allow` header of a 405 names it."""
    from_memory: bool = True
    """For what reads: it is answered from what memory has, and not by a query."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


def _at(
    method: str,
    path: str,
    handler: Handler,
    rule: str | None,
    *checks: Check,
    until: F | None = None,
    target: Target | None = None,
    listed: bool = True,
    from_memory: bool = True,
) -> Route:
    return Route(
        method, path, handler, rule and f"placement:{rule}", checks, until, target, listed, from_memory
    )


_PROVIDER = "/resource_providers/{uuid}"
_INVENTORIES = f"{_PROVIDER}/inventories"
_INVENTORY = f"{_INVENTORIES}/{{resource_class}}"
_AGGREGATES = f"{_PROVIDER}/aggregates"
_TRAITS = f"{_PROVIDER}/traits"
_HELD = f"{_PROVIDER}/allocations"
_CLASS = "/resource_classes/{name}"
_TRAIT = "/traits/{name}"
_CONSUMER = "/allocations/{consumer_uuid}"

_classes, _traits, _aggregates = since(F.RESOURCE_CLASSES), since(F.TRAITS), since(F.AGGREGATES)
_clearing = since(F.CLEAR_INVENTORIES, otherwise=405)
_candidates, _usages, _reshaper = since(F.CANDIDATES), since(F.OWNER_USAGES), since(F.RESHAPE)
_several = since(F.SEVERAL_CONSUMERS)
# Beyond the API as it is elsewhere, so that whoever does not ask for an owner finds no such route.
_owner = only_with("project_id", F.CONSUMER_OWNER, allow="POST")
_ENSURED = F.ENSURE_RESOURCE_CLASS

ROUTES: tuple[Route, ...] = (
    _at("GET", "/", root.versions, None, from_memory=False),
    _at("GET", "", root.versions, None, from_memory=False),
    #
    _at("GET", "/resource_classes", classes.find, "resource_classes:list", _classes, answers_json),
    _at("POST", "/resource_classes", classes.create, "resource_classes:create", _classes, takes_json),
    _at("GET", _CLASS, classes.show, "resource_classes:show", _classes, answers_json),
    _at("PUT", _CLASS, classes.rename, "resource_classes:update", _classes, takes_json, until=_ENSURED),
    _at("PUT", _CLASS, classes.ensure, "resource_classes:update"),
    _at("DELETE", _CLASS, classes.delete, "resource_classes:delete", _classes),
    #
    _at("GET", "/resource_providers", providers.find, "resource_providers:list", answers_json),
    _at("POST", "/resource_providers", providers.create, "resource_providers:create", takes_json),
    _at("GET", _PROVIDER, providers.show, "resource_providers:show", answers_json),
    _at("DELETE", _PROVIDER, providers.delete, "resource_providers:delete"),
    _at("PUT", _PROVIDER, providers.change, "resource_providers:update", takes_json),
    #
    _at("GET", _INVENTORIES, inventories.index, "resource_providers:inventories:list", answers_json),
    _at("POST", _INVENTORIES, inventories.add, "resource_providers:inventories:create", takes_json),
    _at("PUT", _INVENTORIES, inventories.replace, "resource_providers:inventories:update", takes_json),
    _at("DELETE", _INVENTORIES, inventories.clear, "resource_providers:inventories:delete", _clearing),
    _at("GET", _INVENTORY, inventories.show, "resource_providers:inventories:show", answers_json),
    _at("PUT", _INVENTORY, inventories.change, "resource_providers:inventories:update", takes_json),
    _at("DELETE", _INVENTORY, inventories.remove, "resource_providers:inventories:delete"),
    #
    _at("GET", f"{_PROVIDER}/usages", usages.of_provider, "resource_providers:usages", answers_json),
    # These two look at the media type first: a wrong one is refused by versions that have no aggregates yet.
    _at("GET", _AGGREGATES, aggregates.show, "resource_providers:aggregates:list", answers_json, _aggregates),
    _at(
        "PUT",
        _AGGREGATES,
        aggregates.replace,
        "resource_providers:aggregates:update",
        takes_json,
        _aggregates,
    ),
    _at("GET", _TRAITS, traits.of_provider, "resource_providers:traits:list", _traits, answers_json),
    _at("PUT", _TRAITS, traits.set_for_provider, "resource_providers:traits:update", _traits, takes_json),
    _at("DELETE", _TRAITS, traits.clear_for_provider, "resource_providers:traits:delete", _traits),
    _at(
        "GET",
        _HELD,
        allocations.of_provider,
        "resource_providers:allocations:list",
        answers_json,
        from_memory=False,
    ),
    #
    _at("POST", "/allocations", allocations.claim_for_several, "allocations:manage", _several, takes_json),
    _at(
        "GET",
        "/allocations",
        allocations.of_owner,
        "allocations:list",
        _owner,
        answers_json,
        listed=False,
        from_memory=False,
    ),
    _at("GET", _CONSUMER, allocations.of_consumer, "allocations:list", answers_json, from_memory=False),
    _at("PUT", _CONSUMER, allocations.claim, "allocations:update", takes_json),
    _at("DELETE", _CONSUMER, allocations.release, "allocations:delete"),
    #
    _at(
        "GET",
        "/allocation_candidates",
        candidates.find,
        "allocation_candidates:list",
        _candidates,
        answers_json,
    ),
    #
    _at("GET", "/traits", traits.find, "traits:list", _traits, answers_json),
    _at("GET", _TRAIT, traits.show, "traits:show", _traits),
    _at("PUT", _TRAIT, traits.ensure, "traits:update", _traits),
    _at("DELETE", _TRAIT, traits.delete, "traits:delete", _traits),
    #
    _at("GET", "/usages", usages.of_owner, "usages", _usages, answers_json, target=usages.project_asked_for),
    _at("POST", "/reshaper", reshape.reshape, "reshaper:reshape", _reshaper, takes_json),
)
