# SPDX-License-Identifier: Apache-2.0

"""Pages of consumers with everything they hold, each read from SQL in one transaction, with its revision."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from plimsoll.domain.consumer import ListedConsumer
from plimsoll.domain.values import unhashable_value
from plimsoll.ledger.ledger import Ledger
from plimsoll.storage import changes
from plimsoll.storage.consumer_details import consumers_with_allocations
from plimsoll.storage.consumer_list import ConsumerFilter, UuidPage, page_of_uuids
from plimsoll.storage.epoch import read_epoch, revision_of


@unhashable_value
class ConsumerPage:
    consumers: list[ListedConsumer]
    next: str | None
    """The uuid after which the next page begins; None if there are no more."""
    revision: str
    mark: int
    """Of the head: with the revision it identifies the state of the database in which all rows were read."""


def read_page(ledger: Ledger, wanted: ConsumerFilter, after: str, limit: int) -> ConsumerPage:
    """Return at most `limit` consumers after this uuid. The page may have fewer even if there are more."""
    return _read(ledger, lambda conn: page_of_uuids(conn, wanted, after, limit))


def read_consumer(ledger: Ledger, uuid: str) -> ConsumerPage:
    """Return a page with this consumer, or an empty one if it does not exist."""
    return _read(ledger, lambda _: UuidPage((uuid,), None))


def _read(ledger: Ledger, select_uuids: Callable[[Connection], UuidPage]) -> ConsumerPage:
    key, pause = ledger.newest.world.semantics.key, ledger.runtime.yield_now

    def read(conn: Connection) -> ConsumerPage:
        head = changes.read_head(conn)
        found = select_uuids(conn)
        consumers = consumers_with_allocations(conn, found.uuids, key, pause)
        return ConsumerPage(consumers, found.next, revision_of(read_epoch(conn), head.seq), head.mark)

    return ledger.database.run_read(read)
