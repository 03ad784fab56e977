# SPDX-License-Identifier: Apache-2.0

"""Which rule answers which request. A `*` stands for any part of a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.audit.model import claims, inventories, names, providers, reads
from tests.audit.model.answers import Refused, Said
from tests.audit.model.world import Draft, World
from tests.audit.operations import Request

Rule = Callable[[Draft, Request], Said]

_OF_PROVIDER = "resource_providers/*/"

RULES: Mapping[str, Rule] = {
    "GET resource_providers": reads.all_providers,
    "POST resource_providers": providers.create,
    "GET resource_providers/*": reads.provider,
    "PUT resource_providers/*": providers.change,
    "DELETE resource_providers/*": providers.delete,
    f"GET {_OF_PROVIDER}inventories": reads.all_inventories,
    f"POST {_OF_PROVIDER}inventories": inventories.add,
    f"PUT {_OF_PROVIDER}inventories": inventories.replace_all,
    f"DELETE {_OF_PROVIDER}inventories": inventories.remove_all,
    f"GET {_OF_PROVIDER}inventories/*": reads.inventory,
    f"PUT {_OF_PROVIDER}inventories/*": inventories.change,
    f"DELETE {_OF_PROVIDER}inventories/*": inventories.remove,
    f"GET {_OF_PROVIDER}usages": reads.usages,
    f"GET {_OF_PROVIDER}allocations": reads.allocations_of_provider,
    f"GET {_OF_PROVIDER}traits": reads.traits,
    f"PUT {_OF_PROVIDER}traits": providers.set_traits,
    f"DELETE {_OF_PROVIDER}traits": providers.clear_traits,
    f"GET {_OF_PROVIDER}aggregates": reads.aggregates,
    f"PUT {_OF_PROVIDER}aggregates": providers.set_aggregates,
    "GET allocations/*": reads.allocations_of_consumer,
    "PUT allocations/*": claims.put,
    "DELETE allocations/*": claims.delete,
    "POST allocations": claims.post,
    "POST reshaper": claims.reshape,
    "GET usages": reads.usages_of_project,
    "GET allocation_candidates": reads.candidates,
    "POST resource_classes": names.create_class,
    "GET resource_classes/*": reads.resource_class,
    "PUT resource_classes/*": names.ensure_class,
    "DELETE resource_classes/*": names.delete_class,
    "GET traits": reads.custom_traits,
    "GET traits/*": reads.trait,
    "PUT traits/*": names.ensure_trait,
    "DELETE traits/*": names.delete_trait,
}


def respond(world: World, request: Request) -> tuple[Said, World]:
    """What is to be answered, and the world afterwards: the same one if it is a read, or refused."""
    rule = RULES[route_of(request)]
    draft = Draft(world)
    try:
        said = rule(draft, request)
    except Refused as refused:
        return refused.said, world
    return said, world if request.method == "GET" else draft.finished()


def route_of(request: Request) -> str:
    """A path has names at even places and wildcards at odd ones."""
    parts = [part if place % 2 == 0 else "*" for place, part in enumerate(request.parts)]
    return f"{request.method} {'/'.join(parts)}"
