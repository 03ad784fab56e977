# SPDX-License-Identifier: Apache-2.0

"""Calls with different roles, under noauth2: the headers name the roles."""

from __future__ import annotations

from tests.support.api import Api, Response

ROLES = ("admin", "service", "reader", "member", "")


def call_as(client: Api, roles: str, path: str, project: str = "engines") -> Response:
    """Call as a user with these roles in a project."""
    return client.call("GET", path, headers={"X-Auth-Token": f"ada:{project}", "X-Roles": roles})


def statuses_by_role(client: Api, path: str) -> dict[str, int]:
    return {roles: call_as(client, roles, path).status for roles in ROLES}


READERS = {"admin": 200, "service": 200, "reader": 200, "member": 403, "": 403}
"""The statuses of a route that readers may read."""
