# SPDX-License-Identifier: Apache-2.0

"""Who holds what, one by one: the part of the state that stays in SQL. SQL is always current."""

from __future__ import annotations

from plimsoll.domain.consumer import ConsumerAllocations, ProviderAllocations
from plimsoll.ledger.ledger import Ledger
from plimsoll.storage import consumers


def of_consumer(ledger: Ledger, uuid: str) -> ConsumerAllocations:
    return consumers.allocations_of_consumer(ledger.database, uuid)


def of_provider(ledger: Ledger, uuid: str) -> ProviderAllocations | None:
    """None if there is no such provider."""
    return consumers.allocations_of_provider(ledger.database, uuid)


def of_owner(ledger: Ledger, project: str, user: str | None) -> list[tuple[str, dict[str, int]]]:
    return ledger.database.ask(
        lambda conn: consumers.allocations_of_owner(conn, project, user), in_one_query=True
    )
