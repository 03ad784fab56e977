# SPDX-License-Identifier: Apache-2.0

"""The table of all routes: method, path, handler, policy rule, and checks in order."""

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
    accepts_json,
    only_with,
    sends_json,
    since,
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
    """The policy rule; None for routes that need no authorization."""
    checks: tuple[Check, ...] = ()
    until: F | None = None
    """From this feature on the next route with the same method and path is used."""
    target: Target | None = None
    """Returns the target of the policy rule; None for the caller's own project."""
    listed: bool = True
    """Whether the `allow` header of a 405 lists the method."""
    from_memory: bool = True
    """Whether a GET is served from memory, without a query besides that of the head."""

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
# An extension of the API: without the parameter the response is the 405 of the reference.
_owner = only_with("project_id", F.CONSUMER_OWNER, allow="POST")
_ENSURED = F.ENSURE_RESOURCE_CLASS

ROUTES: tuple[Route, ...] = (
    _at("GET", "/", root.versions, None, from_memory=False),
    _at("GET", "", root.versions, None, from_memory=False),
    #
    _at("GET", "/resource_classes", classes.find, "resource_classes:list", _classes, accepts_json),
    _at("POST", "/resource_classes", classes.create, "resource_classes:create", _classes, sends_json),
    _at("GET", _CLASS, classes.show, "resource_classes:show", _classes, accepts_json),
    _at("PUT", _CLASS, classes.rename, "resource_classes:update", _classes, sends_json, until=_ENSURED),
    _at("PUT", _CLASS, classes.ensure, "resource_classes:update"),
    _at("DELETE", _CLASS, classes.delete, "resource_classes:delete", _classes),
    #
    _at("GET", "/resource_providers", providers.find, "resource_providers:list", accepts_json),
    _at("POST", "/resource_providers", providers.create, "resource_providers:create", sends_json),
    _at("GET", _PROVIDER, providers.show, "resource_providers:show", accepts_json),
    _at("DELETE", _PROVIDER, providers.delete, "resource_providers:delete"),
    _at("PUT", _PROVIDER, providers.change, "resource_providers:update", sends_json),
    #
    _at("GET", _INVENTORIES, inventories.index, "resource_providers:inventories:list", accepts_json),
    _at("POST", _INVENTORIES, inventories.add, "resource_providers:inventories:create", sends_json),
    _at("PUT", _INVENTORIES, inventories.replace, "resource_providers:inventories:update", sends_json),
    _at("DELETE", _INVENTORIES, inventories.clear, "resource_providers:inventories:delete", _clearing),
    _at("GET", _INVENTORY, inventories.show, "resource_providers:inventories:show", accepts_json),
    _at("PUT", _INVENTORY, inventories.change, "resource_providers:inventories:update", sends_json),
    _at("DELETE", _INVENTORY, inventories.remove, "resource_providers:inventories:delete"),
    #
    _at("GET", f"{_PROVIDER}/usages", usages.of_provider, "resource_providers:usages", accepts_json),
    # These two check the media type first: versions without aggregates refuse a wrong one too.
    _at("GET", _AGGREGATES, aggregates.show, "resource_providers:aggregates:list", accepts_json, _aggregates),
    _at(
        "PUT",
        _AGGREGATES,
        aggregates.replace,
        "resource_providers:aggregates:update",
        sends_json,
        _aggregates,
    ),
    _at("GET", _TRAITS, traits.of_provider, "resource_providers:traits:list", _traits, accepts_json),
    _at("PUT", _TRAITS, traits.set_for_provider, "resource_providers:traits:update", _traits, sends_json),
    _at("DELETE", _TRAITS, traits.clear_for_provider, "resource_providers:traits:delete", _traits),
    _at(
        "GET",
        _HELD,
        allocations.of_provider,
        "resource_providers:allocations:list",
        accepts_json,
        from_memory=False,
    ),
    #
    _at("POST", "/allocations", allocations.claim_for_several, "allocations:manage", _several, sends_json),
    _at(
        "GET",
        "/allocations",
        allocations.of_owner,
        "allocations:list",
        _owner,
        accepts_json,
        listed=False,
        from_memory=False,
    ),
    _at("GET", _CONSUMER, allocations.of_consumer, "allocations:list", accepts_json, from_memory=False),
    _at("PUT", _CONSUMER, allocations.claim, "allocations:update", sends_json),
    _at("DELETE", _CONSUMER, allocations.release, "allocations:delete"),
    #
    _at(
        "GET",
        "/allocation_candidates",
        candidates.find,
        "allocation_candidates:list",
        _candidates,
        accepts_json,
    ),
    #
    _at("GET", "/traits", traits.find, "traits:list", _traits, accepts_json),
    _at("GET", _TRAIT, traits.show, "traits:show", _traits),
    _at("PUT", _TRAIT, traits.ensure, "traits:update", _traits),
    _at("DELETE", _TRAIT, traits.delete, "traits:delete", _traits),
    #
    _at("GET", "/usages", usages.of_owner, "usages", _usages, accepts_json, target=usages.requested_project),
    _at("POST", "/reshaper", reshape.reshape, "reshaper:reshape", _reshaper, sends_json),
)
