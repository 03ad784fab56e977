# SPDX-License-Identifier: Apache-2.0

"""The table of all routes of the Placement API. `test_routes.py` checks that each declaration is true."""

from __future__ import annotations

from plimsoll.api.placement.bodies import aggregates as aggregates_bodies
from plimsoll.api.placement.bodies import allocations as allocations_bodies
from plimsoll.api.placement.bodies import classes as classes_bodies
from plimsoll.api.placement.bodies import inventories as inventories_bodies
from plimsoll.api.placement.bodies import providers as providers_bodies
from plimsoll.api.placement.bodies import reshape as reshape_bodies
from plimsoll.api.placement.bodies import traits as traits_bodies
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
from plimsoll.api.placement.preconditions import OnlyWith, Since, accepts_json, sends_json
from plimsoll.api.placement.queries.candidates import candidates_request
from plimsoll.api.placement.queries.providers import providers_request
from plimsoll.api.placement.queries.traits import traits_request
from plimsoll.api.placement.queries.usages import allocations_request, usages_request
from plimsoll.api.placement.route import Route

_PROVIDER = "/resource_providers/{uuid}"
_INVENTORIES = f"{_PROVIDER}/inventories"
_INVENTORY = f"{_INVENTORIES}/{{resource_class}}"
_AGGREGATES = f"{_PROVIDER}/aggregates"
_TRAITS = f"{_PROVIDER}/traits"
_CLASS = "/resource_classes/{name}"
_TRAIT = "/traits/{name}"
_CONSUMER = "/allocations/{consumer_uuid}"

_classes, _traits, _aggregates = Since(F.RESOURCE_CLASSES), Since(F.TRAITS), Since(F.AGGREGATES)

ERROR = "errors"
"""The document of all errors: see `plimsoll.http.problems`."""

ROUTES: tuple[Route, ...] = (
    Route("GET", "/", root.versions, None, returns={200: "versions"}),
    Route("GET", "", root.versions, None, returns={200: "versions"}),
    #
    Route(
        "GET",
        "/resource_classes",
        classes.find,
        "placement:resource_classes:list",
        returns={200: "resource_classes"},
        checks=(_classes, accepts_json),
    ),
    Route(
        "POST",
        "/resource_classes",
        classes.create,
        "placement:resource_classes:create",
        body=classes_bodies.NAMED,
        returns={201: None, 409: ERROR},
        checks=(_classes, sends_json),
    ),
    Route(
        "GET",
        _CLASS,
        classes.show,
        "placement:resource_classes:show",
        returns={200: "resource_class", 404: ERROR},
        checks=(_classes, accepts_json),
    ),
    Route(
        "PUT",
        _CLASS,
        classes.rename,
        "placement:resource_classes:update",
        body=classes_bodies.NAMED,
        returns={200: "resource_class", 404: ERROR, 409: ERROR},
        checks=(_classes, sends_json),
        until=F.ENSURE_RESOURCE_CLASS,
    ),
    Route(
        "PUT",
        _CLASS,
        classes.ensure,
        "placement:resource_classes:update",
        returns={201: None, 204: None, 400: ERROR},
    ),
    Route(
        "DELETE",
        _CLASS,
        classes.delete,
        "placement:resource_classes:delete",
        returns={204: None, 400: ERROR, 404: ERROR, 409: ERROR},
        checks=(_classes,),
    ),
    #
    Route(
        "GET",
        "/resource_providers",
        providers.find,
        "placement:resource_providers:list",
        query=providers_request,
        returns={200: "resource_providers"},
        checks=(accepts_json,),
    ),
    Route(
        "POST",
        "/resource_providers",
        providers.create,
        "placement:resource_providers:create",
        body=providers_bodies.CREATE,
        returns={201: None, 409: ERROR},
        checks=(sends_json,),
        until=F.SHOW_CREATED_PROVIDER,
    ),
    Route(
        "POST",
        "/resource_providers",
        providers.create_and_show,
        "placement:resource_providers:create",
        body=providers_bodies.CREATE,
        returns={200: "resource_provider", 409: ERROR},
        checks=(sends_json,),
    ),
    Route(
        "GET",
        _PROVIDER,
        providers.show,
        "placement:resource_providers:show",
        returns={200: "resource_provider", 404: ERROR},
        checks=(accepts_json,),
    ),
    Route(
        "DELETE",
        _PROVIDER,
        providers.delete,
        "placement:resource_providers:delete",
        returns={204: None, 404: ERROR, 409: ERROR},
    ),
    Route(
        "PUT",
        _PROVIDER,
        providers.change,
        "placement:resource_providers:update",
        body=providers_bodies.CHANGE,
        returns={200: "resource_provider", 404: ERROR, 409: ERROR},
        checks=(sends_json,),
    ),
    #
    Route(
        "GET",
        _INVENTORIES,
        inventories.index,
        "placement:resource_providers:inventories:list",
        returns={200: "inventories", 404: ERROR},
        checks=(accepts_json,),
    ),
    Route(
        "POST",
        _INVENTORIES,
        inventories.add,
        "placement:resource_providers:inventories:create",
        body=inventories_bodies.ADD,
        returns={201: "inventory", 404: ERROR, 409: ERROR},
        checks=(sends_json,),
    ),
    Route(
        "PUT",
        _INVENTORIES,
        inventories.replace,
        "placement:resource_providers:inventories:update",
        body=inventories_bodies.REPLACE,
        returns={200: "inventories", 404: ERROR, 409: ERROR},
        checks=(sends_json,),
    ),
    Route(
        "DELETE",
        _INVENTORIES,
        inventories.clear,
        "placement:resource_providers:inventories:delete",
        returns={204: None, 404: ERROR, 409: ERROR},
        checks=(Since(F.CLEAR_INVENTORIES, otherwise=405),),
    ),
    Route(
        "GET",
        _INVENTORY,
        inventories.show,
        "placement:resource_providers:inventories:show",
        returns={200: "inventory", 404: ERROR},
        checks=(accepts_json,),
    ),
    Route(
        "PUT",
        _INVENTORY,
        inventories.change,
        "placement:resource_providers:inventories:update",
        body=inventories_bodies.CHANGE,
        returns={200: "inventory", 404: ERROR, 409: ERROR},
        checks=(sends_json,),
    ),
    Route(
        "DELETE",
        _INVENTORY,
        inventories.remove,
        "placement:resource_providers:inventories:delete",
        returns={204: None, 404: ERROR, 409: ERROR},
    ),
    #
    Route(
        "GET",
        f"{_PROVIDER}/usages",
        usages.of_provider,
        "placement:resource_providers:usages",
        returns={200: "provider_usages", 404: ERROR},
        checks=(accepts_json,),
    ),
    # These two check the media type first: versions without aggregates refuse a wrong one too.
    Route(
        "GET",
        _AGGREGATES,
        aggregates.show,
        "placement:resource_providers:aggregates:list",
        returns={200: "aggregates", 404: ERROR},
        checks=(accepts_json, _aggregates),
    ),
    Route(
        "PUT",
        _AGGREGATES,
        aggregates.replace,
        "placement:resource_providers:aggregates:update",
        body=aggregates_bodies.SET,
        returns={200: "aggregates", 404: ERROR, 409: ERROR},
        checks=(sends_json, _aggregates),
    ),
    Route(
        "GET",
        _TRAITS,
        traits.of_provider,
        "placement:resource_providers:traits:list",
        returns={200: "provider_traits", 404: ERROR},
        checks=(_traits, accepts_json),
    ),
    Route(
        "PUT",
        _TRAITS,
        traits.set_for_provider,
        "placement:resource_providers:traits:update",
        body=traits_bodies.SET,
        returns={200: "provider_traits", 404: ERROR, 409: ERROR},
        checks=(_traits, sends_json),
    ),
    Route(
        "DELETE",
        _TRAITS,
        traits.clear_for_provider,
        "placement:resource_providers:traits:delete",
        returns={204: None, 404: ERROR},
        checks=(_traits,),
    ),
    Route(
        "GET",
        f"{_PROVIDER}/allocations",
        allocations.of_provider,
        "placement:resource_providers:allocations:list",
        returns={200: "provider_allocations", 404: ERROR},
        checks=(accepts_json,),
    ),
    #
    Route(
        "POST",
        "/allocations",
        allocations.claim_for_several,
        "placement:allocations:manage",
        body=allocations_bodies.SEVERAL_CONSUMERS,
        returns={204: None, 409: ERROR},
        checks=(Since(F.SEVERAL_CONSUMERS), sends_json),
    ),
    # An extension of the API: without the parameter the response is the 405 of the reference.
    Route(
        "GET",
        "/allocations",
        allocations.of_owner,
        "placement:allocations:list",
        query=allocations_request,
        returns={200: "owner_allocations"},
        checks=(OnlyWith("project_id", F.CONSUMER_OWNER, allow="POST"), accepts_json),
        listed=False,
    ),
    Route(
        "GET",
        _CONSUMER,
        allocations.of_consumer,
        "placement:allocations:list",
        returns={200: "allocations"},
        checks=(accepts_json,),
    ),
    Route(
        "PUT",
        _CONSUMER,
        allocations.claim,
        "placement:allocations:update",
        body=allocations_bodies.ONE_CONSUMER,
        returns={204: None, 409: ERROR},
        checks=(sends_json,),
    ),
    Route(
        "DELETE",
        _CONSUMER,
        allocations.release,
        "placement:allocations:delete",
        returns={204: None, 404: ERROR},
    ),
    #
    Route(
        "GET",
        "/allocation_candidates",
        candidates.find,
        "placement:allocation_candidates:list",
        query=candidates_request,
        returns={200: "allocation_candidates"},
        checks=(Since(F.CANDIDATES), accepts_json),
    ),
    #
    Route(
        "GET",
        "/traits",
        traits.find,
        "placement:traits:list",
        query=traits_request,
        returns={200: "traits"},
        checks=(_traits, accepts_json),
    ),
    Route(
        "GET",
        _TRAIT,
        traits.show,
        "placement:traits:show",
        returns={204: None, 404: ERROR},
        checks=(_traits,),
    ),
    Route(
        "PUT",
        _TRAIT,
        traits.ensure,
        "placement:traits:update",
        returns={201: None, 204: None, 400: ERROR},
        checks=(_traits,),
    ),
    Route(
        "DELETE",
        _TRAIT,
        traits.delete,
        "placement:traits:delete",
        returns={204: None, 400: ERROR, 404: ERROR, 409: ERROR},
        checks=(_traits,),
    ),
    #
    Route(
        "GET",
        "/usages",
        usages.of_owner,
        "placement:usages",
        query=usages_request,
        returns={200: "usages"},
        checks=(Since(F.OWNER_USAGES), accepts_json),
        target=usages.requested_project,
    ),
    Route(
        "POST",
        "/reshaper",
        reshape.reshape,
        "placement:reshaper:reshape",
        body=reshape_bodies.RESHAPE,
        returns={204: None, 409: ERROR},
        checks=(Since(F.RESHAPE), sends_json),
    ),
)
