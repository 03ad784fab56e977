# SPDX-License-Identifier: Apache-2.0

"""The user, project and request that made a change, for the change log."""

from __future__ import annotations

from plimsoll.domain.values import value


@value
class Actor:
    user: str | None = None
    project: str | None = None
    request_id: str | None = None
    global_request_id: str | None = None
    """The id that the client has sent; nova sends that of its own request."""


SERVICE_ACTOR = Actor(user="plimsoll")
"""The actor of changes by the service itself, such as adding the standard traits at start."""
