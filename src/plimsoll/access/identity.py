# SPDX-License-Identifier: Apache-2.0

"""The caller of a request, as its token describes it.

A `Caller` is frozen and hashable, so that decisions about it can be cached. `credentials` has exactly the names that a
policy file may refer to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from plimsoll.bounded_cache import bounded_cache
from plimsoll.identity_headers import HEADERS_BY_ATTRIBUTE


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

    def credentials(self) -> dict[str, Any]:
        """The attributes of this caller, by the names that policy checks use."""
        return self._asdict() | {"roles": list(self.roles), "service_roles": list(self.service_roles)}


ANONYMOUS = Caller()
"""The caller of the version document, which needs no token."""


def caller_from_environ(environ: Mapping[str, Any]) -> Caller:
    """Return the caller that the headers set by the authentication describe."""
    return _caller(tuple(map(environ.get, _HEADERS)))


MAX_CALLER_KEY_BYTES = 4096
"""Bytes of all identity headers of a request, as a tuple. A service with ten roles has about 2,000."""

_HEADERS = tuple(header for field in Caller._fields for header in HEADERS_BY_ATTRIBUTE[field])


# A few services send most requests. Bounded, because with noauth2 clients choose the values.
@bounded_cache(max_entries=1024, max_bytes=4 << 20, max_key_bytes=MAX_CALLER_KEY_BYTES)
def _caller(values: tuple[str | None, ...]) -> Caller:
    headers = dict(zip(_HEADERS, values, strict=True))
    found: dict[str, Any] = {
        field: next(
            (value for name in HEADERS_BY_ATTRIBUTE[field] if (value := headers[name]) is not None), None
        )
        for field in Caller._fields
    }
    found["roles"] = _names(found["roles"])
    found["service_roles"] = _names(found["service_roles"])
    # True if absent: tokens from before admin projects existed must keep their rights.
    found["is_admin_project"] = (found["is_admin_project"] or "true").lower() == "true"
    return Caller(**found)


def _names(listed: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",")) if listed else ()
