# SPDX-License-Identifier: Apache-2.0

"""The head: the position of the last committed change in the order of all writes."""

from __future__ import annotations

from typing import NamedTuple

from plimsoll.storage.sql import Statement


class Head(NamedTuple):
    """The number of a change, and a random mark that its writer chose.

    After a restore from a backup, two histories can reach the same number, but never with the same mark.
    """

    seq: int
    mark: int


BEGINNING = Head(0, 0)
"""Before the first change."""

HEAD_GUARD = "plimsoll_head_is_one_row"
"""The constraint that fails if the head is not at the position that a writer expects: see `move_head_sql`."""

VIOLATE_HEAD_GUARD = Statement("UPDATE plimsoll_head SET id = 2 WHERE id = 1")
"""A statement that violates the constraint, to test that the database enforces it."""

QUERY = "SELECT seq, mark FROM plimsoll_head WHERE id = 1"
"""Reads the head, in SQL that all databases accept. Runs for each request."""

LOCKING_QUERY = f"{QUERY} FOR UPDATE"
"""Reads the head on a server and locks it, which excludes all other writers."""


def move_head_sql(before: Head, after: Head) -> str:
    """Return the statement that moves the head from `before` to `after`; its transaction fails at another head."""
    still = f"CASE WHEN seq = {before.seq:d} AND mark = {before.mark:d} THEN 1 ELSE 2 END"
    return f"UPDATE plimsoll_head SET id = {still}, seq = {after.seq:d}, mark = {after.mark:d} WHERE id = 1"  # noqa: S608
