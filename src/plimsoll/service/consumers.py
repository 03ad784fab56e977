# SPDX-License-Identifier: Apache-2.0

"""Consumers with everything they hold: lists by pages, and single ones."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from plimsoll.ledger import consumer_pages
from plimsoll.ledger.consumer_pages import ConsumerPage
from plimsoll.service.placement import Placement
from plimsoll.storage.consumer_list import ConsumerFilter
from plimsoll.storage.sql import utc_now

__all__ = ["ConsumerFilter", "ConsumerPage", "now", "page", "pages_after", "show"]


def page(placement: Placement, wanted: ConsumerFilter, after: str, limit: int) -> ConsumerPage:
    """Return at most `limit` consumers after this uuid. The page may have fewer even if there are more."""
    return consumer_pages.read_page(placement.ledger, wanted, after, limit)


def pages_after(
    placement: Placement, wanted: ConsumerFilter, first: ConsumerPage, limit: int
) -> Iterator[ConsumerPage]:
    """Yield the pages after the first one, each read in a transaction of its own when it is needed."""
    following = first.next
    while following is not None:
        read = page(placement, wanted, following, limit)
        following = read.next
        yield read


def show(placement: Placement, uuid: str) -> ConsumerPage:
    """Return a page with the consumer that has this uuid, in any spelling; an empty page if there is none."""
    found = consumer_pages.read_consumer(placement.ledger, uuid)
    usual = str(UUID(uuid))
    return (
        found if found.consumers or usual == uuid else consumer_pages.read_consumer(placement.ledger, usual)
    )


def now() -> datetime:
    """Return the current time as it is stored."""
    return utc_now()
