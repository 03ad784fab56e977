# SPDX-License-Identifier: Apache-2.0

"""Remove everything that clients created in a service, through the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def empty(send: Callable[[str, str], Any]) -> None:
    """Remove all consumers and providers, and all classes and traits that are not standard ones.

    `send` sends a method and a path at the newest version, and returns the document of the response.
    """
    providers = send("GET", "/resource_providers")["resource_providers"]
    for provider in providers:
        for consumer in send("GET", f"/resource_providers/{provider['uuid']}/allocations")["allocations"]:
            send("DELETE", f"/allocations/{consumer}")
    while providers:
        parents = {provider["parent_provider_uuid"] for provider in providers}
        for provider in providers:
            if provider["uuid"] not in parents:
                send("DELETE", f"/resource_providers/{provider['uuid']}")
        providers = [provider for provider in providers if provider["uuid"] in parents]
    for resource_class in send("GET", "/resource_classes")["resource_classes"]:
        if resource_class["name"].startswith("CUSTOM_"):
            send("DELETE", f"/resource_classes/{resource_class['name']}")
    for trait in send("GET", "/traits?name=startswith:CUSTOM_")["traits"]:
        send("DELETE", f"/traits/{trait}")
