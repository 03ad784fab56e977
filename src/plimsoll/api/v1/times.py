# SPDX-License-Identifier: Apache-2.0

"""Times and ages in queries and documents of the Plimsoll API."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from plimsoll.http.problems import BAD_PARAMETER, LONGEST_QUOTE, Problem, shorten

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

AGE_UNITS = frozenset(_UNITS)
"""The last character of an age."""

AGE: dict[str, Any] = {"type": "string", "pattern": "^[0-9]{1,9}[smhdw]$"}
"""Schema of an age: a number and a unit."""
TIME_OR_AGE: dict[str, Any] = {
    "type": "string",
    "maxLength": 64,
    "pattern": r"^([0-9]{1,9}[smhdw]|[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})?)?)$",
}
"""Schema of a time, or of an age that is subtracted from the current time."""
_EARLIEST = datetime.fromisoformat("1000-01-01")
_LATEST = datetime.fromisoformat("9000-01-01")
"""Times that all databases can compare with, and to which tolerances can be added. Others are replaced by the nearest one."""
_is_age = re.compile(AGE["pattern"]).fullmatch


def time_before(now: datetime, age: str) -> datetime:
    """Return the time that lies this age before `now`; the earliest one if there is no such time."""
    try:
        return max(now - timedelta(seconds=int(age[:-1]) * _UNITS[age[-1]]), _EARLIEST)
    except OverflowError:
        return _EARLIEST


def parse_time(name: str, text: str, now: datetime) -> datetime:
    """Return the time in UTC, without a zone, that a parameter has as a time or as an age."""
    if _is_age(text):
        return time_before(now, text)
    try:
        time = datetime.fromisoformat(text)
        time = time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
        return min(max(time, _EARLIEST), _LATEST)
    except (ValueError, OverflowError):
        detail = f"Invalid value of the query parameter {name}: '{shorten(text, LONGEST_QUOTE)}' is no time."
        raise Problem(400, detail, BAD_PARAMETER) from None


def format_exact_time(time: datetime) -> str:
    """Return a time in UTC with microseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@lru_cache(maxsize=4096)  # many providers have the same time
def format_time(time: datetime | None) -> str | None:
    """Return a time as RFC 3339. Times without a zone are UTC, as in the database."""
    if time is None:
        return None
    if time.tzinfo:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return f"{time.isoformat(timespec='seconds')}Z"
