# SPDX-License-Identifier: Apache-2.0

"""Reading of what memory has while the database is asked whether that is the present."""

from __future__ import annotations

from uuid import uuid4

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import ProviderMissing
from plimsoll.service import providers
from plimsoll.service.placement import Placement
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
