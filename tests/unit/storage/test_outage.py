# SPDX-License-Identifier: Apache-2.0

"""The log lines of a database outage: when they are written, and their text."""

from __future__ import annotations

import itertools
import logging

import pytest

from plimsoll.storage.errors import Busy, HeadMoved, NotPermitted, NotWritable, Unreachable
from plimsoll.storage.outage import Outage


@pytest.fixture
def outage(caplog: pytest.LogCaptureFixture) -> Outage:
    caplog.set_level(logging.DEBUG, "plimsoll")
    seconds = itertools.count(0, 5)
    return Outage("the database", lambda: next(seconds))


def texts(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(record.levelno, record.getMessage()) for record in caplog.records]


def is_on(outage: Outage) -> bool:
    return outage.is_on


def test_failures_during_an_outage_are_logged_at_debug(
    outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    outage.note_failure(Unreachable("refused\n\tis it running?"))
    for _ in range(3):
        outage.note_failure(Unreachable("refused"))
    outage.note_success()
    outage.note_success()
    levels = [level for level, _ in texts(caplog)]
    assert levels == [logging.ERROR, *[logging.DEBUG] * 3, logging.WARNING]
    began, *_, over = (text for _, text in texts(caplog))
    assert began == (
        "Database outage: the database: The database cannot be reached. refused is it running? Check that the server runs, and"
        " its address in [placement_database]connection. Requests that need the database are answered with status 503 until it is over; further failures are logged at level DEBUG."
    )
    assert over == "Database outage over: the database works again after 5.0 s, in which 4 operations failed."


def test_a_read_does_not_end_an_outage_of_writes(outage: Outage, caplog: pytest.LogCaptureFixture) -> None:
    outage.note_failure(NotWritable("read-only"), write=True)
    outage.note_success()
    assert is_on(outage)
    outage.note_success(write=True)
    assert not is_on(outage)
    assert "read-only Writes are answered with status 503" in texts(caplog)[0][1]


def test_a_read_that_is_not_permitted_is_an_outage_of_reads(outage: Outage) -> None:
    outage.note_failure(NotPermitted("wrong password"))
    outage.note_success()
    assert not is_on(outage)


@pytest.mark.parametrize("fault", [Busy("deadlock"), HeadMoved()])
def test_a_write_conflict_is_no_outage(outage: Outage, caplog: pytest.LogCaptureFixture, fault: Busy) -> None:
    outage.note_failure(fault, write=True)
    assert not is_on(outage)
    assert not caplog.records
