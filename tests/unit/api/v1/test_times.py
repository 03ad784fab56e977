# SPDX-License-Identifier: Apache-2.0

"""Times and ages of the Plimsoll API."""

from datetime import datetime

import pytest

from plimsoll.api.v1.times import format_time, parse_time, time_before
from plimsoll.http.problems import Problem

NOW = datetime.fromisoformat("2026-11-18T12:00:00")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("30s", "2026-11-18T11:59:30"),
        ("90m", "2026-11-18T10:30:00"),
        ("12h", "2026-11-18T00:00:00"),
        ("7d", "2026-11-11T12:00:00"),
        ("2w", "2026-11-04T12:00:00"),
        ("999999999w", "1000-01-01"),
        ("999999999h", "1000-01-01"),
        ("0001-01-01", "1000-01-01"),
        ("9999-12-31T23:59:59.999999", "9000-01-01"),
        ("2026-11-18", "2026-11-18T00:00:00"),
        ("2026-11-18T12:00:00Z", "2026-11-18T12:00:00"),
        ("2026-11-18T12:00:00+02:00", "2026-11-18T10:00:00"),
    ],
)
def test_a_time_or_an_age_is_a_time_in_utc(text: str, time: str) -> None:
    assert parse_time("since", text, NOW) == datetime.fromisoformat(time)


@pytest.mark.parametrize("text", ["2026-02-30", "2026-11-18T99:00:00", "0001-01-01T00:00:00+23:59"])
def test_a_time_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="since"):
        parse_time("since", text, NOW)


def test_a_time_is_written_in_utc() -> None:
    assert format_time(time_before(NOW, "1d")) == "2026-11-17T12:00:00Z"
    assert format_time(datetime.fromisoformat("2026-11-18T12:00:00+02:00")) == "2026-11-18T10:00:00Z"
    assert format_time(None) is None
