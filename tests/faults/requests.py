# SPDX-License-Identifier: Apache-2.0

"""Request bodies of the fault tests, for requests in one process and over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

CLAIMED = 1


def new_uuid() -> str:
    return str(uuid4())


def claim(*hosts: str, amount: int = CLAIMED, project: str = "p", user: str = "u") -> dict[str, Any]:
    """The body of a claim by a new consumer: this amount of each host."""
    return {
        "allocations": {host: {"resources": {"VCPU": amount}} for host in hosts},
        "project_id": project,
        "user_id": user,
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }


def inventory(generation: int, total: int) -> dict[str, Any]:
    return {"resource_provider_generation": generation, "inventories": {"VCPU": {"total": total}}}
