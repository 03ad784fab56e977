# SPDX-License-Identifier: Apache-2.0

"""The response of a handler: status, body, location, and the time of the last change.

The application decides by the version of the request whether to send `last-modified`.
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
"""For responses without `last-modified` and `cache-control`."""

Headers = list[tuple[str, str]]
Reply = tuple[str, Headers, tuple[bytes, ...]]
"""The arguments and the result of a WSGI call: status, headers, body."""

Modified = datetime | Literal[_Undated.UNDATED] | None


class Response(NamedTuple):
    status: int
    body: bytes | None = None
    location: str | None = None
    """The path of the created resource, from the root of the service."""
    modified: Modified = UNDATED
    """None if there is no such time, as for a provider without inventories: `cache-control` is sent alone."""


def json_response(
    content: Any, modified: Modified = UNDATED, *, status: int = 200, location: str | None = None
) -> Response:
    return Response(status, encode_json(content), location, modified)


def encode_json(content: Any) -> bytes:
    try:
        return orjson.dumps(content)
    except TypeError:  # a capacity that does not fit into 64 bits: the ratio may be as large as a float
        return json.dumps(content).encode()


def compact(encoded: bytes) -> bytes:
    """Return a copy of JSON that is to be cached: a short text that orjson has made occupies 4 kB."""
    return bytes(memoryview(encoded))


def length_header(body: bytes | None) -> tuple[str, str]:
    return "content-length", str(len(body or b""))


def now() -> datetime:
    return datetime.now(UTC)


def latest(times: Iterable[datetime | None]) -> datetime:
    """Return the last of these times; now, if there is none or one of them is None."""
    return latest_or_none(times) or now()


def latest_or_none(times: Iterable[datetime | None]) -> datetime | None:
    """Return the last of these times; None, if there is none or one of them is None."""
    listed = list(times)
    known = [time for time in listed if time is not None]
    return max(known) if known and len(known) == len(listed) else None


def http_date(time: datetime) -> str:
    """Format a time for an HTTP header. Times without a zone are UTC, as in the database."""
    return _http_date(time.replace(microsecond=0) if time.microsecond else time)


@lru_cache(maxsize=4096)
def _http_date(time: datetime) -> str:
    return formatdate((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp(), usegmt=True)
