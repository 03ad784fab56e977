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

QUERY = "SELECT seq, mark FROM plimsoll_head WHERE id = 1"
"""The head, in words that every database understands: it is asked for at each request."""
