# SPDX-License-Identifier: Apache-2.0

"""The caller of a request, as its token describes it.

A `Caller` is frozen and hashable, so that decisions about it can be cached. `credentials` has exactly the names that a
policy file may refer to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from plimsoll.bounded_cache import bounded_cache


class Caller(NamedTuple):
    """A tuple, because it is a cache key of each request, and tuples are hashed fast."""

    user_id: str | None = None
    project_id: str | None = None
    roles: tuple[str, ...] = ()
    system_scope: str | None = None
    domain_id: str | None = None
    user_domain_id: str | None = None
    project_domain_id: str | None = None
    is_admin_project: bool = True
    service_user_id: str | None = None
    service_user_domain_id: str | None = None
    service_project_id: str | None = None
    service_project_domain_id: str | None = None
    service_roles: tuple[str, ...] = ()

    @property
    def is_authenticated(self) -> bool:
        return self.user_id is not None

    def credentials(self) -> dict[str, Any]:
        """The attributes of this caller, by the names that policy checks use."""
        return {
            "user_id": self.user_id,
            "user_domain_id": self.user_domain_id,
            "system_scope": self.system_scope,
            "domain_id": self.domain_id,
            "project_id": self.project_id,
            "project_domain_id": self.project_domain_id,
            "roles": list(self.roles),
            "is_admin_project": self.is_admin_project,
            "service_user_id": self.service_user_id,
            "service_user_domain_id": self.service_user_domain_id,
            "service_project_id": self.service_project_id,
            "service_project_domain_id": self.service_project_domain_id,
            "service_roles": list(self.service_roles),
        }


ANONYMOUS = Caller()
"""The caller of the version document, which needs no token."""


def caller_from_environ(environ: Mapping[str, Any]) -> Caller:
    """Return the caller that the headers set by the authentication describe."""
    return _caller(tuple(map(environ.get, _HEADERS)))


MAX_CALLER_KEY_BYTES = 4096
"""Bytes of all identity headers of a request, as a tuple. A service with ten roles has about 2,000."""

_HEADERS = (
    *("HTTP_X_USER_ID", "HTTP_X_USER"),
    *("HTTP_X_PROJECT_ID", "HTTP_X_TENANT_ID", "HTTP_X_TENANT"),
    *("HTTP_X_ROLES", "HTTP_X_ROLE"),
    "HTTP_OPENSTACK_SYSTEM_SCOPE",
    *("HTTP_X_DOMAIN_ID", "HTTP_X_USER_DOMAIN_ID", "HTTP_X_PROJECT_DOMAIN_ID"),
    "HTTP_X_IS_ADMIN_PROJECT",
    *("HTTP_X_SERVICE_USER_ID", "HTTP_X_SERVICE_USER_DOMAIN_ID"),
    *("HTTP_X_SERVICE_PROJECT_ID", "HTTP_X_SERVICE_PROJECT_DOMAIN_ID"),
    "HTTP_X_SERVICE_ROLES",
)


# A few services send most requests. Bounded, because with noauth2 clients choose the values.
@bounded_cache(max_entries=1024, max_bytes=4 << 20, max_key_bytes=MAX_CALLER_KEY_BYTES)
def _caller(values: tuple[str | None, ...]) -> Caller:
    headers = dict(zip(_HEADERS, values, strict=True))
    return Caller(
        user_id=_first(headers, "HTTP_X_USER_ID", "HTTP_X_USER"),
        project_id=_first(headers, "HTTP_X_PROJECT_ID", "HTTP_X_TENANT_ID", "HTTP_X_TENANT"),
        roles=_names(_first(headers, "HTTP_X_ROLES", "HTTP_X_ROLE")),
        system_scope=headers["HTTP_OPENSTACK_SYSTEM_SCOPE"],
        domain_id=headers["HTTP_X_DOMAIN_ID"],
        user_domain_id=headers["HTTP_X_USER_DOMAIN_ID"],
        project_domain_id=headers["HTTP_X_PROJECT_DOMAIN_ID"],
        # True if absent: tokens from before admin projects existed must keep their rights.
        is_admin_project=(headers["HTTP_X_IS_ADMIN_PROJECT"] or "true").lower() == "true",
        service_user_id=headers["HTTP_X_SERVICE_USER_ID"],
        service_user_domain_id=headers["HTTP_X_SERVICE_USER_DOMAIN_ID"],
        service_project_id=headers["HTTP_X_SERVICE_PROJECT_ID"],
        service_project_domain_id=headers["HTTP_X_SERVICE_PROJECT_DOMAIN_ID"],
        service_roles=_names(headers["HTTP_X_SERVICE_ROLES"]),
    )


def _first(headers: Mapping[str, str | None], *names: str) -> str | None:
    return next((value for name in names if (value := headers[name]) is not None), None)


def _names(listed: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",")) if listed else ()
