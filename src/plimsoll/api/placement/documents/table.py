# SPDX-License-Identifier: Apache-2.0

"""The documents by name: `Route.returns` refers to these names."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.api.placement.documents import (
    allocations,
    candidates,
    errors,
    inventories,
    names,
    providers,
    root,
    usages,
)
from plimsoll.api.placement.schemas import Shape

ERROR = "errors"
"""The document of all errors, except for those that can occur before the version is negotiated."""
EARLY_ERROR = "early_errors"
UNAUTHORIZED = "unauthorized"

DOCUMENTS: Mapping[str, Shape] = {
    "versions": root.VERSIONS,
    "resource_class": names.RESOURCE_CLASS,
    "resource_classes": names.RESOURCE_CLASSES,
    "traits": names.TRAITS,
    "provider_traits": names.PROVIDER_TRAITS,
    "aggregates": names.AGGREGATES,
    "resource_provider": providers.PROVIDER,
    "resource_providers": providers.PROVIDERS,
    "inventory": inventories.INVENTORY,
    "inventories": inventories.INVENTORIES,
    "provider_usages": usages.PROVIDER_USAGES,
    "usages": usages.OWNER_USAGES,
    "allocations": allocations.OF_CONSUMER,
    "provider_allocations": allocations.OF_PROVIDER,
    "owner_allocations": allocations.OF_OWNER,
    "allocation_candidates": candidates.CANDIDATES,
    ERROR: errors.ERRORS,
    EARLY_ERROR: errors.EARLY_ERRORS,
    UNAUTHORIZED: errors.UNAUTHORIZED,
}
