# SPDX-License-Identifier: Apache-2.0

"""When things were last changed."""

from datetime import UTC, datetime, timedelta, timezone

from plimsoll.http.response import http_date, latest

EARLY, LATE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)


def is_now(time: datetime) -> bool:
    return abs(datetime.now(UTC) - time) < timedelta(minutes=1)


def test_the_last_change_of_several_counts() -> None:
    assert latest([EARLY, LATE, EARLY]) == LATE


def test_what_was_never_changed_or_at_an_unknown_time_is_of_now() -> None:
    assert is_now(latest([]))
    assert is_now(latest([EARLY, None]))


def test_times_are_written_as_http_writes_them() -> None:
    noon_elsewhere = datetime(2026, 1, 2, 12, 30, 15, 999_999, tzinfo=timezone(timedelta(hours=2)))
    assert http_date(noon_elsewhere) == "Fri, 02 Jan 2026 10:30:15 GMT"


def test_times_without_a_zone_are_utc() -> None:
    assert http_date(datetime(2026, 1, 2, 10, 30, 15)) == "Fri, 02 Jan 2026 10:30:15 GMT"
