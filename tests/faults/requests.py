# SPDX-License-Identifier: Apache-2.0

"""The requests that fault tests make, as bodies: they are the same in one process and over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

CLAIMED = 1


def new_uuid() -> str:
    return str(uuid4())


def claim(*hosts: str, amount: int = CLAIMED, project: str = "p", user: str = "u") -> dict[str, Any]:
    """What a consumer that is new takes of each host."""
    return {
        "allocations": {host: {"resources": {"VCPU": amount}} for host in hosts},
        "project_id": project,
        "user_id": user,
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }


def inventory(generation: int, total: int) -> dict[str, Any]:
    return {"resource_provider_generation": generation, "inventories": {"VCPU": {"total": total}}}
