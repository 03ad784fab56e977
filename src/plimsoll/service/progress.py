# SPDX-License-Identifier: Apache-2.0

"""How far this process has followed the database."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.service.placement import Placement


@dataclass(frozen=True, slots=True)
class Progress:
    head: int
    """The sequence number of the last committed change."""
    lag: int
    """The changes that this process had not applied yet."""


def follow_head(placement: Placement) -> Progress:
    """Read the head of the database, then follow it. Blocks for as long as the database takes."""
    before = placement.ledger.newest.head.seq
    head = placement.ledger.database.head().seq
    placement.ledger.snapshot()
    return Progress(head, max(0, head - before))
