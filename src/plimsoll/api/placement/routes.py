# SPDX-License-Identifier: Apache-2.0

"""The table of all routes of the Placement API. A test checks that each declaration is true."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partialmethod
from itertools import pairwise
from typing import Any

from plimsoll.api.placement.bodies.aggregates import AGGREGATES
from plimsoll.api.placement.bodies.allocations import ONE_CONSUMER, SEVERAL_CONSUMERS
from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.bodies.classes import CLASS_NAME
from plimsoll.api.placement.bodies.inventories import ADD_INVENTORY, CHANGE_INVENTORY, REPLACE_INVENTORIES
from plimsoll.api.placement.bodies.providers import CHANGE_PROVIDER, CREATE_PROVIDER
from plimsoll.api.placement.bodies.reshape import RESHAPE
from plimsoll.api.placement.bodies.traits import TRAITS
from plimsoll.api.placement.documents.table import ERROR
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
from plimsoll.api.placement.preconditions import Check, OnlyWith, Since, accepts_json, sends_json
from plimsoll.api.placement.queries.candidates import candidates_request
from plimsoll.api.placement.queries.providers import providers_request
from plimsoll.api.placement.queries.query import QueryParser
from plimsoll.api.placement.queries.traits import traits_request
from plimsoll.api.placement.queries.usages import allocations_request, usages_request
from plimsoll.api.placement.route import Handler, Route, Target


@dataclass(frozen=True, slots=True)
class _Resource:
    """A path of the API, and the beginning of the names of its policy rules."""

    path: str
    rules: str

    def _route(
        self,
        method: str,
        handler: Handler,
        action: str,
        returns: tuple[int | str, ...],
        *checks: Check,
        body: Body | None = None,
        query: QueryParser[Any] | None = None,
        until: F | None = None,
        target: Target | None = None,
        listed: bool = True,
        reads_sql: bool = False,
    ) -> Route:
        """Return a route whose policy rule ends with `action`.

        `returns` has the statuses, each followed by its document if it has one. The document of errors is left out.
        `reads_sql` is set for a GET that reads tables, and needs the snapshot at most after that.
        """
        rule, documents = f"{self.rules}:{action}", _documents(returns)
        reads_memory = method == "GET" and not reads_sql
        return Route(
            *(method, self.path, handler, rule, body, query, documents, checks, until, target, listed),
            reads_memory=reads_memory,
        )

    get = partialmethod(_route, "GET")
    post = partialmethod(_route, "POST")
    put = partialmethod(_route, "PUT")
    delete = partialmethod(_route, "DELETE")


def _documents(returns: tuple[int | str, ...]) -> dict[int, str | None]:
    documents: dict[int, str | None] = {}
    for status, document in pairwise((*returns, None)):
        if isinstance(status, int):
            documents[status] = document if isinstance(document, str) else ERROR if status >= 400 else None
    return documents


_CLASSES = _Resource("/resource_classes", "placement:resource_classes")
_CLASS = _Resource("/resource_classes/{name}", "placement:resource_classes")
_PROVIDERS = _Resource("/resource_providers", "placement:resource_providers")
_PROVIDER = _Resource("/resource_providers/{uuid}", "placement:resource_providers")
_INVENTORIES = _Resource(f"{_PROVIDER.path}/inventories", "placement:resource_providers:inventories")
_INVENTORY = _Resource(f"{_INVENTORIES.path}/{{resource_class}}", "placement:resource_providers:inventories")
_USAGES = _Resource(f"{_PROVIDER.path}/usages", "placement:resource_providers")
_AGGREGATES = _Resource(f"{_PROVIDER.path}/aggregates", "placement:resource_providers:aggregates")
_PROVIDER_TRAITS = _Resource(f"{_PROVIDER.path}/traits", "placement:resource_providers:traits")
_ALLOCATIONS = _Resource(f"{_PROVIDER.path}/allocations", "placement:resource_providers:allocations")
_CLAIMS = _Resource("/allocations", "placement:allocations")
_CONSUMER = _Resource("/allocations/{consumer_uuid}", "placement:allocations")
_CANDIDATES = _Resource("/allocation_candidates", "placement:allocation_candidates")
_TRAITS = _Resource("/traits", "placement:traits")
_TRAIT = _Resource("/traits/{name}", "placement:traits")
_OWNER_USAGES = _Resource("/usages", "placement")
_RESHAPER = _Resource("/reshaper", "placement:reshaper")

_classes, _traits, _aggregates = Since(F.RESOURCE_CLASSES), Since(F.TRAITS), Since(F.AGGREGATES)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/", root.versions, None, returns={200: "versions"}),
    Route("GET", "", root.versions, None, returns={200: "versions"}),
    #
    _CLASSES.get(classes.find, "list", (200, "resource_classes"), _classes, accepts_json),
    _CLASSES.post(classes.create, "create", (201, 409), _classes, sends_json, body=CLASS_NAME),
    _CLASS.get(classes.show, "show", (200, "resource_class", 404), _classes, accepts_json),
    _CLASS.put(
        classes.rename,
        "update",
        (200, "resource_class", 404, 409),
        _classes,
        sends_json,
        body=CLASS_NAME,
        until=F.ENSURE_RESOURCE_CLASS,
    ),
    _CLASS.put(classes.ensure, "update", (201, 204, 400)),
    _CLASS.delete(classes.delete, "delete", (204, 400, 404, 409), _classes),
    #
    _PROVIDERS.get(
        providers.find, "list", (200, "resource_providers"), accepts_json, query=providers_request
    ),
    _PROVIDERS.post(
        providers.create,
        "create",
        (201, 409),
        sends_json,
        body=CREATE_PROVIDER,
        until=F.SHOW_CREATED_PROVIDER,
    ),
    _PROVIDERS.post(
        providers.create_and_show, "create", (200, "resource_provider", 409), sends_json, body=CREATE_PROVIDER
    ),
    _PROVIDER.get(providers.show, "show", (200, "resource_provider", 404), accepts_json),
    _PROVIDER.delete(providers.delete, "delete", (204, 404, 409)),
    _PROVIDER.put(
        providers.change, "update", (200, "resource_provider", 404, 409), sends_json, body=CHANGE_PROVIDER
    ),
    #
    _INVENTORIES.get(inventories.index, "list", (200, "inventories", 404), accepts_json),
    _INVENTORIES.post(
        inventories.add, "create", (201, "inventory", 404, 409), sends_json, body=ADD_INVENTORY
    ),
    _INVENTORIES.put(
        inventories.replace, "update", (200, "inventories", 404, 409), sends_json, body=REPLACE_INVENTORIES
    ),
    _INVENTORIES.delete(
        inventories.clear, "delete", (204, 404, 409), Since(F.CLEAR_INVENTORIES, otherwise=405)
    ),
    _INVENTORY.get(inventories.show, "show", (200, "inventory", 404), accepts_json),
    _INVENTORY.put(
        inventories.change, "update", (200, "inventory", 404, 409), sends_json, body=CHANGE_INVENTORY
    ),
    _INVENTORY.delete(inventories.remove, "delete", (204, 404, 409)),
    #
    _USAGES.get(usages.of_provider, "usages", (200, "provider_usages", 404), accepts_json),
    # These two check the media type first: versions without aggregates refuse a wrong one too.
    _AGGREGATES.get(aggregates.show, "list", (200, "aggregates", 404), accepts_json, _aggregates),
    _AGGREGATES.put(
        aggregates.replace, "update", (200, "aggregates", 404, 409), sends_json, _aggregates, body=AGGREGATES
    ),
    _PROVIDER_TRAITS.get(traits.of_provider, "list", (200, "provider_traits", 404), _traits, accepts_json),
    _PROVIDER_TRAITS.put(
        traits.set_for_provider,
        "update",
        (200, "provider_traits", 404, 409),
        _traits,
        sends_json,
        body=TRAITS,
    ),
    _PROVIDER_TRAITS.delete(traits.clear_for_provider, "delete", (204, 404), _traits),
    _ALLOCATIONS.get(
        allocations.of_provider, "list", (200, "provider_allocations", 404), accepts_json, reads_sql=True
    ),
    #
    _CLAIMS.post(
        allocations.claim_for_several,
        "manage",
        (204, 409),
        Since(F.SEVERAL_CONSUMERS),
        sends_json,
        body=SEVERAL_CONSUMERS,
    ),
    # An extension of the API: without the parameter the response is the 405 of the reference.
    _CLAIMS.get(
        allocations.of_owner,
        "list",
        (200, "owner_allocations"),
        OnlyWith("project_id", F.CONSUMER_OWNER, allow="POST"),
        accepts_json,
        query=allocations_request,
        reads_sql=True,
        listed=False,
    ),
    _CONSUMER.get(allocations.of_consumer, "list", (200, "allocations"), accepts_json, reads_sql=True),
    _CONSUMER.put(allocations.claim, "update", (204, 409), sends_json, body=ONE_CONSUMER),
    _CONSUMER.delete(allocations.release, "delete", (204, 404)),
    #
    _CANDIDATES.get(
        candidates.find,
        "list",
        (200, "allocation_candidates"),
        Since(F.CANDIDATES),
        accepts_json,
        query=candidates_request,
    ),
    #
    _TRAITS.get(traits.find, "list", (200, "traits"), _traits, accepts_json, query=traits_request),
    _TRAIT.get(traits.show, "show", (204, 404), _traits),
    _TRAIT.put(traits.ensure, "update", (201, 204, 400), _traits),
    _TRAIT.delete(traits.delete, "delete", (204, 400, 404, 409), _traits),
    #
    _OWNER_USAGES.get(
        usages.of_owner,
        "usages",
        (200, "usages"),
        Since(F.OWNER_USAGES),
        accepts_json,
        query=usages_request,
        target=usages.requested_project,
    ),
    _RESHAPER.post(reshape.reshape, "reshape", (204, 409), Since(F.RESHAPE), sends_json, body=RESHAPE),
)
