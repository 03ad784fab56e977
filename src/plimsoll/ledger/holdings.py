# SPDX-License-Identifier: Apache-2.0

"""Single allocations, read from SQL: the part of the state that is not in memory. SQL is always current."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.domain.consumer import ConsumerAllocations, Holding, ProviderAllocations
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.ledger.ledger import Ledger
from plimsoll.storage import consumers
from plimsoll.storage.consumers_on import consumers_on


def of_consumer(ledger: Ledger, uuid: str) -> ConsumerAllocations:
    return consumers.allocations_of_consumer(ledger.database, uuid)


def of_provider(ledger: Ledger, uuid: str) -> ProviderAllocations | None:
    """Return the allocations on a provider, or None if the provider does not exist."""
    return consumers.allocations_of_provider(ledger.database, uuid)


def of_owner(ledger: Ledger, project: str, user: str | None) -> list[tuple[str, dict[str, int]]]:
    return ledger.database.run_read(
        lambda conn: consumers.allocations_of_owner(conn, project, user), single_query=True
    )


def on_providers(
    ledger: Ledger, providers: Sequence[str], semantics: DatabaseSemantics
) -> list[Holding] | None:
    """Return the consumers with allocations on these providers and all they hold; None if there are too many."""
    return consumers_on(ledger.database, providers, semantics)
