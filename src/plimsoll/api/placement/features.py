# SPDX-License-Identifier: Apache-2.0

"""The table of microversions: the feature that each of them added, and its line in the version history.

This is the only file with version numbers. Routes, fields, parameters and views name a feature and call
`Version.has(feature)`.
"""

from __future__ import annotations

from enum import Enum

MAJOR = 1
FIRST_MINOR = 0


class Feature(Enum):
    """A feature: the minor version that added it, and its line in the version history."""

    AGGREGATES = 1, "GET and PUT /resource_providers/{uuid}/aggregates"
    RESOURCE_CLASSES = 2, "/resource_classes and /resource_classes/{name}: custom resource classes"
    PROVIDERS_BY_AGGREGATE = 3, "GET /resource_providers takes member_of"
    PROVIDERS_BY_RESOURCES = 4, "GET /resource_providers takes resources"
    CLEAR_INVENTORIES = 5, "DELETE /resource_providers/{uuid}/inventories removes all of them at once"
    TRAITS = 6, "/traits, /traits/{name} and /resource_providers/{uuid}/traits"
    ENSURE_RESOURCE_CLASS = 7, "PUT /resource_classes/{name} takes no body: the class exists afterwards"
    CONSUMER_OWNER = (
        8,
        "project_id and user_id are required on PUT /allocations/{consumer_uuid};"
        " GET /allocations takes project_id and user_id (Plimsoll alone)",
    )
    OWNER_USAGES = 9, "GET /usages of a project, or of one user in it"
    CANDIDATES = 10, "GET /allocation_candidates"
    ALLOCATIONS_LINK = 11, "a provider links to its allocations"
    KEYED_ALLOCATIONS = 12, "allocations are keyed by provider uuid wherever they are read or written"
    SEVERAL_CONSUMERS = 13, "POST /allocations writes the allocations of several consumers at once"
    PROVIDER_TREES = 14, "providers have a parent and a root; GET /resource_providers takes in_tree"
    CACHE_HEADERS = 15, "responses have the headers last-modified and cache-control"
    LIMIT = 16, "GET /allocation_candidates takes limit"
    CANDIDATES_BY_TRAITS = 17, "GET /allocation_candidates takes required, and summaries show traits"
    PROVIDERS_BY_TRAITS = 18, "GET /resource_providers takes required"
    AGGREGATES_GENERATION = 19, "the provider's generation guards and goes with its aggregates"
    SHOW_CREATED_PROVIDER = 20, "POST /resource_providers returns the provider"
    CANDIDATES_BY_AGGREGATE = 21, "GET /allocation_candidates takes member_of"
    FORBIDDEN_TRAITS = 22, "required takes !TRAIT for traits that a provider must not have"
    ERROR_CODES = 23, "errors carry a code"
    REPEATED_MEMBER_OF = 24, "member_of can be given several times, and all have to hold"
    GRANULAR_GROUPS = 25, "GET /allocation_candidates takes numbered groups, and group_policy"
    RESERVE_ALL = 26, "an inventory may be reserved as a whole"
    ALL_CLASSES_IN_SUMMARIES = 27, "provider summaries show all resource classes, not only the requested ones"
    CONSUMER_GENERATION = 28, "consumer_generation guards allocation writes; {} clears a consumer"
    CANDIDATES_IN_TREES = 29, "candidates use nested providers; summaries show parent and root"
    RESHAPE = 30, "POST /reshaper moves inventories and allocations between providers at once"
    CANDIDATES_IN_TREE = 31, "GET /allocation_candidates takes in_tree, in each group"
    FORBIDDEN_AGGREGATES = 32, "member_of takes ! and !in: for aggregates that a provider must not be in"
    NAMED_GROUPS = 33, "the suffix of a group has up to 64 letters, digits, - and _"
    MAPPINGS = 34, "candidates have mappings: the providers of each group"
    ROOT_REQUIRED = 35, "GET /allocation_candidates takes root_required"
    SAME_SUBTREE = 36, "GET /allocation_candidates takes same_subtree, and groups without resources"
    REPARENTING = 37, "PUT /resource_providers/{uuid} may give a provider another parent, or none"
    CONSUMER_TYPES = 38, "consumers have a type; GET /usages groups by it and takes consumer_type"
    ANY_TRAITS = 39, "required takes in:T1,T2 for any of these traits, and can be given several times"

    def __init__(self, minor: int, history: str) -> None:
        self.minor = minor
        self.history = history

    @property
    def version(self) -> str:
        """The version that added it, as clients write it."""
        return version_text(self.minor)


def version_text(minor: int) -> str:
    return f"{MAJOR}.{minor}"


LAST_MINOR = max(feature.minor for feature in Feature)
