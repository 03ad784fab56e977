# SPDX-License-Identifier: Apache-2.0

"""Parse bodies and query strings with the reference; run by the Python that has it installed.

Reads lists of cases as JSON lines from standard input and writes the list of their outcomes for each. The reference's own handlers run until
they have parsed the request: the functions that query the database are replaced by ones that raise `Parsed`.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

warnings.simplefilter("ignore")

import microversion_parse  # noqa: E402
import webob.exc  # noqa: E402
from placement import microversion, util  # noqa: E402
from placement.handlers import (  # noqa: E402
    aggregate,
    allocation,
    allocation_candidate,
    inventory,
    reshaper,
    resource_class,
    resource_provider,
    trait,
    usage,
)


class Parsed(Exception):
    """The handler has parsed the request; the argument is the result."""


HANDLERS: dict[str, Any] = {
    "POST /resource_providers": resource_provider.create_resource_provider,
    "PUT /resource_providers/{uuid}": resource_provider.update_resource_provider,
    "POST /resource_providers/{uuid}/inventories": inventory.create_inventory,
    "PUT /resource_providers/{uuid}/inventories": inventory.set_inventories,
    "PUT /resource_providers/{uuid}/inventories/{resource_class}": inventory.update_inventory,
    "PUT /resource_providers/{uuid}/aggregates": aggregate.set_aggregates,
    "PUT /resource_providers/{uuid}/traits": trait.update_traits_for_resource_provider,
    "POST /resource_classes": resource_class.create_resource_class,
    "PUT /resource_classes/{name}": resource_class.update_resource_class,
    "PUT /allocations/{consumer_uuid}": allocation.set_allocations_for_consumer,
    "POST /allocations": allocation.set_allocations,
    "POST /reshaper": reshaper.reshape,
    "GET /resource_providers": resource_provider.list_resource_providers,
    "GET /allocation_candidates": allocation_candidate.list_allocation_candidates,
    "GET /traits": trait.list_traits,
    "GET /usages": usage.get_total_usages,
}
PATH = {
    "uuid": "11111111-1111-1111-1111-111111111111",
    "consumer_uuid": "22222222-2222-2222-2222-222222222222",
    "resource_class": "VCPU",
    "name": "CUSTOM_A",
}


def replace_the_database() -> None:
    def stop(make: Callable[..., Any]) -> Callable[..., Any]:
        def stopped(*args: Any, **kwargs: Any) -> None:
            raise Parsed(make(*args, **kwargs))

        return stopped

    extract_json = util.extract_json

    def extracted(body: Any, schema: Any) -> None:
        extract_json(body, schema)
        raise Parsed(None)

    util.extract_json = extracted
    provider = SimpleNamespace(uuid=PATH["uuid"], generation=0)
    resource_provider.rp_obj.ResourceProvider.get_by_uuid = lambda *_: provider
    resource_provider.rp_obj.get_all_by_filters = stop(lambda _, filters: as_data(filters))
    candidates = allocation_candidate.ac_obj.AllocationCandidates
    candidates.get_by_requests = stop(
        lambda _, groups, wide, nested_aware: as_data(
            {
                "groups": [[suffix, vars(group)] for suffix, group in groups.items()],
                "wide": vars(wide),
                "nested": nested_aware,
            }
        )
    )
    trait.trait_obj.get_all = stop(lambda _, filters: as_data(filters))
    usage.usage_obj.get_all_by_project_user = stop(lambda _, project, user_id: [project, user_id, None])
    usage.usage_obj.get_by_consumer_type = stop(
        lambda _, project, user_id, consumer_type: [project, user_id, consumer_type]
    )


def as_data(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, dict):
        return {key: as_data(content) for key, content in value.items()}
    return [as_data(content) for content in value] if isinstance(value, list | tuple) else value


def version(minor: int) -> Any:
    requested = microversion_parse.parse_version_string(f"1.{minor}")
    requested.min_version = microversion_parse.parse_version_string(microversion.VERSIONS[0])
    requested.max_version = microversion_parse.parse_version_string(microversion.VERSIONS[-1])
    return requested


def outcome_of(case: dict[str, Any]) -> dict[str, Any]:
    method = case["route"].split(" ")[0]
    request = webob.Request.blank("/", method=method)
    request.environ["QUERY_STRING"] = case.get("query", "")
    if "body" in case:
        request.body = case["body"].encode("latin-1")
        request.content_type = "application/json"
    request.environ["wsgiorg.routing_args"] = ((), PATH)
    request.environ[microversion.MICROVERSION_ENVIRON] = version(case["minor"])
    request.environ["placement.context"] = SimpleNamespace(can=lambda *_, **__: True)
    try:
        HANDLERS[case["route"]].func(request)
    except Parsed as stopped:
        return {"status": 200, "value": stopped.args[0]}
    except webob.exc.HTTPException as refusal:
        return {"status": refusal.code, "detail": refusal.detail, "code": refusal.comment}
    except Exception as fault:
        return {"status": 500, "detail": repr(fault)}
    return {"status": 200, "value": "the handler did not stop"}


if __name__ == "__main__":
    replace_the_database()
    for line in sys.stdin:
        outcomes = [outcome_of(case) for case in json.loads(line)]
        sys.stdout.write(json.dumps(outcomes) + "\n")
        sys.stdout.flush()
