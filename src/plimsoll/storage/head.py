# SPDX-License-Identifier: Apache-2.0

"""The head: the place of the last committed change in the order of all writes."""

from __future__ import annotations

from typing import NamedTuple


class Head(NamedTuple):
    """The number of a change, and the mark that nobody but the writer of it has put there.

    Two histories may reach the same number: after a restore from a backup, say. They never have the same mark.
    """

    seq: int
    mark: int


BEGINNING = Head(0, 0)
"""Before the first change."""

GUARD = "plimsoll_head_is_one_row"
"""The constraint that fails if the head is not where whoever moves it takes it to be: see `moving`."""

UNGUARDED = "UPDATE plimsoll_head SET id = 2 WHERE id = 1"
"""What the constraint must not let happen."""

QUERY = "SELECT seq, mark FROM plimsoll_head WHERE id = 1"
"""The head, in words that every database understands: it is asked for at each request."""


def moving(before: Head, after: Head) -> str:
    """The statement that moves the head, if it is still where it was; else it fails, and with it the transaction."""
    still = f"CASE WHEN seq = {before.seq:d} AND mark = {before.mark:d} THEN 1 ELSE 2 END"
    return f"UPDATE plimsoll_head SET id = {still}, seq = {after.seq:d}, mark = {after.mark:d} WHERE id = 1"  # noqa: S608
