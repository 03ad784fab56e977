# SPDX-License-Identifier: Apache-2.0

"""An empty cloud to begin with: whatever a client left in a service is taken away, through the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def empty(ask: Callable[[str, str], Any]) -> None:
    """Remove all consumers and providers, and all classes and traits that are not standard ones.

    `ask` sends a method and a path at the newest version, and returns what the body of the answer holds.
    """
    providers = ask("GET", "/resource_providers")["resource_providers"]
    for provider in providers:
        for consumer in ask("GET", f"/resource_providers/{provider['uuid']}/allocations")["allocations"]:
            ask("DELETE", f"/allocations/{consumer}")
    while providers:
        parents = {provider["parent_provider_uuid"] for provider in providers}
        for provider in providers:
            if provider["uuid"] not in parents:
                ask("DELETE", f"/resource_providers/{provider['uuid']}")
        providers = [provider for provider in providers if provider["uuid"] in parents]
    for resource_class in ask("GET", "/resource_classes")["resource_classes"]:
        if resource_class["name"].startswith("CUSTOM_"):
            ask("DELETE", f"/resource_classes/{resource_class['name']}")
    for trait in ask("GET", "/traits?name=startswith:CUSTOM_")["traits"]:
        ask("DELETE", f"/traits/{trait}")
