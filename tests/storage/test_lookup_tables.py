# SPDX-License-Identifier: Apache-2.0

"""Lookup tables: names and their ids."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import event

from plimsoll.storage.database import Database
from plimsoll.storage.lookup_tables import LookupSession, LookupTables
from tests.support.external_writes import committed_write

NAMES = {str(UUID(int=number + 1)) for number in range(3_000)}


def test_other_requests_run_between_the_statements_for_many_new_names(db: Database) -> None:
    steps: list[str] = []

    def note_statement(*_: Any) -> None:
        steps.append("statement")

    with committed_write(db) as connection:
        event.listen(connection, "before_cursor_execute", note_statement)
        lookups = LookupSession(lambda: connection, datetime(2026, 1, 1), lambda: steps.append("pause"))
        entries = lookups.entries(LookupTables().aggregates, NAMES)
    assert entries.keys() == NAMES
    assert len({entry.id for entry in entries.values()}) == len(NAMES)
    assert ("statement", "statement") not in itertools.pairwise(steps)
    assert steps.count("pause") > 3 * len(NAMES), "at least one for each row that is fetched"


def test_long_names_are_found_again_without_being_cached(db: Database) -> None:
    names = {"short", "long" * 60}
    tables = LookupTables()
    ids = []
    for _ in range(2):
        with committed_write(db) as connection:
            lookups = LookupSession(lambda: connection, datetime(2026, 1, 1))
            ids.append({name: entry.id for name, entry in lookups.entries(tables.projects, names).items()})
        lookups.cache_entries()
    assert ids[0] == ids[1]
    assert tables.projects.cached.keys() == {"short"}
