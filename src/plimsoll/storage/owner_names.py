# SPDX-License-Identifier: Apache-2.0

"""Read the names of all projects or users. Memory has only their keys, in which spellings that are equal are one."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, Table, select

from plimsoll.storage import tables as t
from plimsoll.storage.fetching import fetch_rows

PROJECTS = t.projects
USERS = t.users


def read_names(conn: Connection, table: Table, pause: Callable[[], object]) -> list[str]:
    """Return the names in the table: `PROJECTS` or `USERS`."""
    return [name for (name,) in fetch_rows(conn, pause, select(table.c.external_id))]
