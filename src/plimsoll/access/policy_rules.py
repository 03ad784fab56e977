# SPDX-License-Identifier: Apache-2.0

"""The policy rules and their defaults.

Names, check strings, scopes and the deprecated rule are Placement's, so that an operator's policy.yaml has the same
effect here. `RULES` has one rule per operation; they refer to the five groups of callers in `BASE_RULES`. `V1_RULES` has
the rules of the Plimsoll API, which are our own.
"""

from __future__ import annotations

from oslo_log import versionutils
from oslo_policy import policy

PROJECT = ["project"]

ADMIN_API = "admin_api"
SERVICE_API = "service_api"
ADMIN_OR_SERVICE_API = "admin_or_service_api"
PROJECT_READER_API = "project_reader_api"
ADMIN_OR_PROJECT_READER_OR_SERVICE_API = "admin_or_project_reader_or_service_api"

# The reference registers the deprecated rule under this name, prefix included, so overrides use it too.
OLD_ADMIN_API = policy.DeprecatedRule(
    name="rule:admin_api",
    check_str="role:admin",
    deprecated_reason="Access is granted to roles in a project now, and to services by a role of their own.",
    deprecated_since=versionutils.deprecated.WALLABY,
)


def _base_rule(name: str, check: str, description: str) -> policy.RuleDefault:
    return policy.RuleDefault(
        name, check, description=description, scope_types=PROJECT, deprecated_rule=OLD_ADMIN_API
    )


BASE_RULES: tuple[policy.RuleDefault, ...] = (
    policy.RuleDefault(ADMIN_API, "role:admin", description="Administrators.", scope_types=PROJECT),
    _base_rule(SERVICE_API, "role:service", "Other services, such as nova and neutron."),
    _base_rule(ADMIN_OR_SERVICE_API, "role:admin or role:service", "Administrators and other services."),
    # Only this one has no scope types, as in the reference.
    policy.RuleDefault(
        PROJECT_READER_API,
        "role:reader and project_id:%(project_id)s",
        description="Readers of the project that the request is about.",
        deprecated_rule=OLD_ADMIN_API,
    ),
    _base_rule(
        ADMIN_OR_PROJECT_READER_OR_SERVICE_API,
        f"role:admin or rule:{PROJECT_READER_API} or role:service",
        "Administrators, other services, and readers of the project that the request is about.",
    ),
)


def _rule(
    name: str, description: str, *operations: str, by: str = ADMIN_OR_SERVICE_API
) -> policy.DocumentedRuleDefault:
    """Make a rule for operations, each given as `METHOD /path`."""
    pairs = (operation.split(" ", 1) for operation in operations)
    return policy.DocumentedRuleDefault(
        name=f"placement:{name}",
        check_str=f"rule:{by}",
        description=description,
        operations=[{"method": method, "path": path} for method, path in pairs],
        scope_types=PROJECT,
    )


_PROVIDER = "/resource_providers/{uuid}"
_INVENTORIES = f"{_PROVIDER}/inventories"
_INVENTORY = f"{_INVENTORIES}/{{resource_class}}"
_AGGREGATES = f"{_PROVIDER}/aggregates"

RULES: tuple[policy.DocumentedRuleDefault, ...] = (
    _rule("resource_providers:list", "List resource providers.", "GET /resource_providers"),
    _rule("resource_providers:create", "Create a resource provider.", "POST /resource_providers"),
    _rule("resource_providers:show", "Show a resource provider.", f"GET {_PROVIDER}"),
    _rule("resource_providers:update", "Rename or move a resource provider.", f"PUT {_PROVIDER}"),
    _rule("resource_providers:delete", "Delete a resource provider.", f"DELETE {_PROVIDER}"),
    _rule("resource_classes:list", "List resource classes.", "GET /resource_classes"),
    _rule("resource_classes:create", "Create a resource class.", "POST /resource_classes"),
    _rule("resource_classes:show", "Show a resource class.", "GET /resource_classes/{name}"),
    _rule("resource_classes:update", "Ensure or rename a resource class.", "PUT /resource_classes/{name}"),
    _rule("resource_classes:delete", "Delete a resource class.", "DELETE /resource_classes/{name}"),
    _rule("resource_providers:inventories:list", "List a provider's inventories.", f"GET {_INVENTORIES}"),
    _rule("resource_providers:inventories:create", "Add one inventory.", f"POST {_INVENTORIES}"),
    _rule("resource_providers:inventories:show", "Show one inventory.", f"GET {_INVENTORY}"),
    _rule(
        "resource_providers:inventories:update",
        "Set one or all inventories of a provider.",
        f"PUT {_INVENTORIES}",
        f"PUT {_INVENTORY}",
    ),
    _rule(
        "resource_providers:inventories:delete",
        "Delete one or all inventories of a provider.",
        f"DELETE {_INVENTORIES}",
        f"DELETE {_INVENTORY}",
    ),
    _rule("resource_providers:aggregates:list", "List a provider's aggregates.", f"GET {_AGGREGATES}"),
    _rule("resource_providers:aggregates:update", "Set a provider's aggregates.", f"PUT {_AGGREGATES}"),
    _rule("resource_providers:usages", "Show the usage of a provider.", f"GET {_PROVIDER}/usages"),
    _rule(
        "usages",
        "Show the total usage of a project.",
        "GET /usages",
        by=ADMIN_OR_PROJECT_READER_OR_SERVICE_API,
    ),
    _rule("traits:list", "List traits.", "GET /traits"),
    _rule("traits:show", "Show a trait.", "GET /traits/{name}"),
    _rule("traits:update", "Ensure a trait.", "PUT /traits/{name}"),
    _rule("traits:delete", "Delete a trait.", "DELETE /traits/{name}"),
    _rule("resource_providers:traits:list", "List a provider's traits.", f"GET {_PROVIDER}/traits"),
    _rule("resource_providers:traits:update", "Set a provider's traits.", f"PUT {_PROVIDER}/traits"),
    _rule("resource_providers:traits:delete", "Remove a provider's traits.", f"DELETE {_PROVIDER}/traits"),
    _rule("allocations:manage", "Write the allocations of several consumers.", "POST /allocations"),
    _rule(
        "allocations:list",
        "List a consumer's allocations.",
        "GET /allocations/{consumer_uuid}",
        "GET /allocations",
    ),
    _rule("allocations:update", "Set a consumer's allocations.", "PUT /allocations/{consumer_uuid}"),
    _rule("allocations:delete", "Delete a consumer's allocations.", "DELETE /allocations/{consumer_uuid}"),
    _rule(
        "resource_providers:allocations:list",
        "List the allocations against a provider.",
        f"GET {_PROVIDER}/allocations",
    ),
    _rule("allocation_candidates:list", "Search for allocation candidates.", "GET /allocation_candidates"),
    _rule(
        "reshaper:reshape", "Move inventories and allocations in one step.", "POST /reshaper", by=SERVICE_API
    ),
)


_READERS = "role:reader or role:admin or role:service"


def _v1_rule(
    name: str, description: str, *operations: str, check: str = _READERS
) -> policy.DocumentedRuleDefault:
    """Make a rule for operations below /plimsoll/v1, each given as `METHOD /path`."""
    pairs = (operation.split(" ", 1) for operation in operations)
    return policy.DocumentedRuleDefault(
        name=f"plimsoll:{name}",
        check_str=check,
        description=description,
        operations=[{"method": method, "path": f"/plimsoll/v1{path}"} for method, path in pairs],
        scope_types=PROJECT,
    )


V1_RULES: tuple[policy.DocumentedRuleDefault, ...] = (
    _v1_rule("explain:show", "Explain the result of a search for allocation candidates.", "GET /explain"),
    _v1_rule("unplaced:list", "List searches that found no candidates.", "GET /unplaced"),
    _v1_rule("providers:list", "List providers with everything about them.", "GET /providers"),
    _v1_rule("providers:show", "Show a provider with everything about it.", "GET /providers/{provider}"),
    _v1_rule("consumers:list", "List consumers with their allocations.", "GET /consumers"),
    _v1_rule("consumers:show", "Show a consumer with its allocations.", "GET /consumers/{uuid}"),
    _v1_rule("usage:show", "Show capacity and usage per resource class.", "GET /usage"),
    _v1_rule("fit:show", "Show how many instances of a shape still fit.", "GET /fit"),
    _v1_rule("changes:list", "List changes, with what was before and after.", "GET /changes"),
    _v1_rule(
        "projects:all",
        "See consumers, searches and usage of all projects. Other readers see those of their own project.",
        "GET /changes",
        "GET /explain",
        "GET /unplaced",
        "GET /consumers",
        "GET /consumers/{uuid}",
        "GET /usage",
        check=f"rule:{ADMIN_OR_SERVICE_API}",
    ),
)


def list_rules() -> list[policy.RuleDefault]:
    """Return every rule. Entry point for `oslopolicy-sample-generator --namespace plimsoll`."""
    return [*BASE_RULES, *RULES, *V1_RULES]
