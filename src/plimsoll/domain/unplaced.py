# SPDX-License-Identifier: Apache-2.0

"""Unplaced searches: searches for allocation candidates that found nothing, as they are stored and shown."""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b

from plimsoll.domain.values import value

UNEXPLAINED = "unexplained"
"""The reason of a search that was not explained: it took too long, or there were too many."""


@value
class SearchSummary:
    """Why a search found nothing, at one revision."""

    revision: str
    reason: str
    """A stable word for programs."""
    verdict: str
    """`not now`; `never` if even an empty cloud could not serve the request; `unknown` if it was not explained."""
    summary: str
    """One sentence for people."""


@value
class UnplacedRequest:
    """One search, with the ids of its request."""

    at: datetime
    request_id: str | None
    global_request_id: str | None
    """The id that the client has sent, such as the id of nova's request."""
    user: str | None
    why: SearchSummary


@value
class UnplacedQuery:
    """The part that equal searches share."""

    project: str | None
    query: str
    microversion: str

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits, equal for equal queries alone."""
        parts = (self.project or "", self.microversion, self.query)
        return blake2b("\n".join(parts).encode("utf-8", "backslashreplace"), digest_size=32).hexdigest()


@value
class UnplacedEntry:
    """All searches of one project with the same query and microversion."""

    id: int
    query: UnplacedQuery
    searches: int
    """How many there were."""
    first_at: datetime
    last_at: datetime
    user: str | None
    """Of the last search, and so is `why`."""
    why: SearchSummary
    requests: tuple[UnplacedRequest, ...] = ()
    """The last of them, or those that were asked for; the newest first."""
