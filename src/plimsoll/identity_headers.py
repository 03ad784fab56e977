# SPDX-License-Identifier: Apache-2.0

"""The headers that describe the caller of a request, by their keys in a WSGI environment.

The authentication sets them. If a client sends them, they are not verified.
"""

from __future__ import annotations

AUTH_TOKEN = "HTTP_X_AUTH_TOKEN"  # noqa: S105  # the name of a header
USER_ID = "HTTP_X_USER_ID"
TENANT_ID = "HTTP_X_TENANT_ID"
ROLES = "HTTP_X_ROLES"
SYSTEM_SCOPE = "HTTP_OPENSTACK_SYSTEM_SCOPE"
IS_ADMIN_PROJECT = "HTTP_X_IS_ADMIN_PROJECT"

HEADERS_BY_ATTRIBUTE = {
    "user_id": (USER_ID, "HTTP_X_USER"),
    "user_name": ("HTTP_X_USER_NAME",),
    "user_domain_id": ("HTTP_X_USER_DOMAIN_ID",),
    "user_domain_name": ("HTTP_X_USER_DOMAIN_NAME",),
    "project_id": ("HTTP_X_PROJECT_ID", TENANT_ID, "HTTP_X_TENANT"),
    "project_name": ("HTTP_X_PROJECT_NAME", "HTTP_X_TENANT_NAME"),
    "project_domain_id": ("HTTP_X_PROJECT_DOMAIN_ID",),
    "project_domain_name": ("HTTP_X_PROJECT_DOMAIN_NAME",),
    "domain_id": ("HTTP_X_DOMAIN_ID",),
    "domain_name": ("HTTP_X_DOMAIN_NAME",),
    "roles": (ROLES, "HTTP_X_ROLE"),
    "system_scope": (SYSTEM_SCOPE,),
    "is_admin_project": (IS_ADMIN_PROJECT,),
    "service_user_id": ("HTTP_X_SERVICE_USER_ID",),
    "service_user_domain_id": ("HTTP_X_SERVICE_USER_DOMAIN_ID",),
    "service_project_id": ("HTTP_X_SERVICE_PROJECT_ID",),
    "service_project_domain_id": ("HTTP_X_SERVICE_PROJECT_DOMAIN_ID",),
    "service_roles": ("HTTP_X_SERVICE_ROLES",),
}
"""Attributes of a caller, each with the headers that can have it: the first that is present counts."""

_NAMES = {header for headers in HEADERS_BY_ATTRIBUTE.values() for header in headers}
ALL_HEADERS = frozenset(
    _NAMES
    | {name.replace("HTTP_X_", "HTTP_X_SERVICE_") for name in _NAMES if "SERVICE" not in name}
    | {"HTTP_X_IDENTITY_STATUS", "HTTP_X_SERVICE_IDENTITY_STATUS", "HTTP_X_SERVICE_CATALOG"}
)
"""All headers that an authentication may set, for the user and for the service that acts for the user."""
