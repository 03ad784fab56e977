# SPDX-License-Identifier: Apache-2.0

"""Table of the rule for each route. A `*` stands for any path segment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.audit.model import claims, inventories, names, providers, reads
from tests.audit.model.responses import Refused, Response
from tests.audit.model.state import Draft, State
from tests.audit.operations import Request

Rule = Callable[[Draft, Request], Response]

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


def respond(state: State, request: Request) -> tuple[Response, State]:
    """Return the expected response and the next state: the same state for a read or a refusal."""
    rule = RULES[route_of(request)]
    draft = Draft(state)
    try:
        response = rule(draft, request)
    except Refused as refused:
        return refused.response, state
    return response, state if request.method == "GET" else draft.finished()


def route_of(request: Request) -> str:
    """Return the key in `RULES`: even path segments are names, odd ones are wildcards."""
    parts = [part if position % 2 == 0 else "*" for position, part in enumerate(request.parts)]
    return f"{request.method} {'/'.join(parts)}"
