# SPDX-License-Identifier: Apache-2.0

"""What a handler answers: a status, perhaps a document, and when that was last changed.

Whether the version of the request shows the time of the change is decided where the answer is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import formatdate
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

import orjson


class _Undated(Enum):
    UNDATED = "undated"


UNDATED: Final = _Undated.UNDATED
"""For answers that never say when they changed, nor how they may be kept."""

Modified = datetime | Literal[_Undated.UNDATED] | None


class Response(NamedTuple):
    status: int
    body: bytes | None = None
    location: str | None = None
    """The path of what was made, from the root of the service."""
    modified: Modified = UNDATED
    """None for what cannot tell, such as a provider without inventories."""


def document(
    content: Any, modified: Modified = UNDATED, *, status: int = 200, location: str | None = None
) -> Response:
    return Response(status, encoded(content), location, modified)


def encoded(content: Any) -> bytes:
    try:
        return orjson.dumps(content)
    except TypeError:  # a capacity that 64 bits cannot hold: the ratio may be as large as a float
        return json.dumps(content).encode()


def now() -> datetime:
    return datetime.now(UTC)


def latest(times: Iterable[datetime | None]) -> datetime:
    """The last of these times; now, if there is none or one of them is not known."""
    return last_known(times) or now()


def last_known(times: Iterable[datetime | None]) -> datetime | None:
    """The last of these times; None, if there is none or one of them is not known."""
    last: datetime | None = None
    for time in times:
        if time is None:
            return None
        if last is None or time > last:
            last = time
    return last


def http_date(time: datetime) -> str:
    """In the form of HTTP; times without a zone are UTC, as the database keeps them."""
    return _http_date(time.replace(microsecond=0) if time.microsecond else time)


@lru_cache(maxsize=4096)
def _http_date(time: datetime) -> str:
    return formatdate((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp(), usegmt=True)
