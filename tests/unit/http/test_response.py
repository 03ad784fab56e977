# SPDX-License-Identifier: Apache-2.0

"""The time of the last change, and its format."""

from datetime import UTC, datetime, timedelta, timezone

from plimsoll.http.response import http_date, latest

EARLY, LATE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)


def is_now(time: datetime) -> bool:
    return abs(datetime.now(UTC) - time) < timedelta(minutes=1)


def test_latest_returns_the_last_time() -> None:
    assert latest([EARLY, LATE, EARLY]) == LATE


def test_latest_without_a_known_time_is_now() -> None:
    assert is_now(latest([]))
    assert is_now(latest([EARLY, None]))


def test_times_have_the_format_of_http() -> None:
    noon_elsewhere = datetime(2026, 1, 2, 12, 30, 15, 999_999, tzinfo=timezone(timedelta(hours=2)))
    assert http_date(noon_elsewhere) == "Fri, 02 Jan 2026 10:30:15 GMT"


def test_times_without_a_zone_are_utc() -> None:
    assert http_date(datetime(2026, 1, 2, 10, 30, 15)) == "Fri, 02 Jan 2026 10:30:15 GMT"
