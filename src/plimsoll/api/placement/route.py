# SPDX-License-Identifier: Apache-2.0

"""The declaration of a route: what it accepts, checks and returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.api.placement.bodies.body import Body
from plimsoll.api.placement.features import Feature
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.preconditions import Check, OnlyWith, Since
from plimsoll.api.placement.queries.query import QueryParser
from plimsoll.api.placement.request import ApiRequest
from plimsoll.http.response import Response

Handler = Callable[[ApiRequest], Response]
Target = Callable[[ApiRequest], Mapping[str, str | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    method: str
    path: str
    handler: Handler
    rule: str | None
    """The policy rule; None for routes that need no authorization."""
    body: Body | None = None
    """The schema of the body at each version. The handler gets a valid body from `ApiRequest.body`.

    The handler and not the dispatcher parses it, because the order is visible to clients: some handlers report a
    missing provider first. The same holds for the query.
    """
    query: QueryParser[Any] | None = None
    """Schema and parser of the query. The handler gets the parsed request from `ApiRequest.query`. None: not parsed."""
    returns: Mapping[int, str | None] = field(default_factory=dict)
    """The statuses, each with the name of its document (`documents/table.py`); None if it has no body.

    Left out are errors that follow from the other fields: 400 and 413 for `body`, 400 for `query`, 403 for `rule`, those
    of `checks`; and those of every route: 401, 500, 503.
    """
    checks: tuple[Check, ...] = ()
    """Run before the policy, in this order: clients see the first that fails."""
    until: Feature | None = None
    """From this feature on the next route with the same method and path is used."""
    target: Target | None = None
    """Returns the target of the policy rule; None for the caller's own project."""
    listed: bool = True
    """Whether the `allow` header of a 405 lists the method."""
    reads_memory: bool = False
    """True if each response needs the snapshot: then the query for the head is sent before the checks and the policy."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    def exists_at(self, version: Version) -> bool:
        """Return whether no check refuses this version, and no other route has replaced this one."""
        features = [check.feature for check in self.checks if isinstance(check, Since | OnlyWith)]
        return all(map(version.has, features)) and not (self.until and version.has(self.until))
