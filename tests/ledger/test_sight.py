# SPDX-License-Identifier: Apache-2.0

"""Reading of what memory has while the database is asked whether that is the present."""

from __future__ import annotations

from uuid import uuid4

import pytest
from sqlalchemy import delete, update

from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import ProviderMissing
from plimsoll.service import providers
from plimsoll.service.placement import Placement
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.head import Head
from tests.ledger.conftest import SOMEBODY


def create(placement: Placement) -> Provider:
    uuid = str(uuid4())
    made = providers.create(placement, SOMEBODY, uuid, f"host-{uuid}", None)
    assert isinstance(made, Provider)
    return made


def test_who_reads_what_is_current_is_asked_once(placement: Placement) -> None:
    host = create(placement)
    asked = []

    def question(seeing: Placement) -> Provider | ProviderMissing:
        asked.append(seeing)
        return providers.get(seeing, host.uuid)

    assert placement.read(question) == host
    assert len(asked) == 1


def test_what_others_wrote_before_is_read_again(placement: Placement, other: Placement) -> None:
    other.world()
    host = create(placement)
    seen: list[Provider | ProviderMissing] = []

    def question(seeing: Placement) -> Provider | ProviderMissing:
        seen.append(providers.get(seeing, host.uuid))
        return seen[-1]

    assert other.read(question) == host
    assert seen == [ProviderMissing(host.uuid), host]


def test_an_error_about_what_is_no_longer_so_is_not_raised(placement: Placement, other: Placement) -> None:
    other.world()
    host = create(placement)

    def question(seeing: Placement) -> Provider:
        return seeing.world().providers[host.uuid]

    assert other.read(question) == host
    with pytest.raises(KeyError):
        other.read(lambda seeing: seeing.world().providers["nobody"])


def test_one_question_sees_one_moment(placement: Placement, other: Placement) -> None:
    create(placement)
    other.world()

    def question(seeing: Placement) -> tuple[int, int]:
        first = len(seeing.world().providers)
        create(placement)
        return first, len(seeing.world().providers)

    first, second = other.read(question)
    assert first == second


def test_who_needs_no_snapshot_asks_for_no_head(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(type(placement.ledger.database), "ask_head", never)
    assert placement.read(lambda _: "nothing to see") == "nothing to see"


def test_whoever_hears_of_a_head_that_we_have_passed_meanwhile_is_given_what_we_have(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own writes go on while the answer is on its way; nobody has to be asked what they changed."""
    database = type(placement.ledger.database)
    heard, before = database.head, len(placement.world().providers)

    def slowly(self: Database) -> Head:
        head = heard(self)
        create(placement)
        create(placement)
        monkeypatch.setattr(database, "ask", never)
        return head

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(database, "head", slowly)
    try:
        assert len(placement.world().providers) == before + 2
    finally:
        monkeypatch.undo()


def test_a_database_that_was_set_back_is_read_anew(placement: Placement, database: Database) -> None:
    """A replica takes over that did not have everything yet, say: memory has come by its head, and is not beyond it."""
    create(placement)
    before, kept = placement.ledger.snapshot().head, set(placement.world().providers)
    lost = create(placement)
    with database.write() as conn:
        row = t.resource_providers.c.uuid == lost.uuid
        conn.execute(update(t.resource_providers).where(row).values(root_provider_id=None))
        conn.execute(delete(t.resource_providers).where(row))
        conn.execute(delete(t.changes).where(t.changes.c.seq > before.seq))
        conn.execute(update(t.head).values(seq=before.seq, mark=before.mark))
    assert set(placement.world().providers) == kept
