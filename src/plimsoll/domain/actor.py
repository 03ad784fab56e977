# SPDX-License-Identifier: Apache-2.0

"""Who asked for a change, as the history keeps it."""

from __future__ import annotations

from plimsoll.domain.values import value


@value
class Actor:
    user: str | None = None
    project: str | None = None
    request_id: str | None = None


THE_SERVICE = Actor(user="plimsoll")
"""Changes that the service makes by itself, such as the standard traits at start."""
