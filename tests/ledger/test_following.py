# SPDX-License-Identifier: Apache-2.0

"""Following what other processes wrote: the same answers in the same order, whatever the log may hold."""

from datetime import datetime
from uuid import uuid4

import pytest

from plimsoll.ledger.audit import Audit
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.search.budget import Budget
from plimsoll.search.request import CandidatesRequest, Group
from plimsoll.search.result import Candidates
from plimsoll.service import candidates, providers
from plimsoll.service.placement import Placement
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from tests.ledger.conftest import SOMEBODY
from tests.ledger.test_ledger import make


def first_hosts(placement: Placement) -> list[str]:
    request = CandidatesRequest((Group("", {"VCPU": 1}),), limit=10)
    found = candidates.find(placement, request, "", Budget())
    assert isinstance(found, Candidates)
    world = placement.world()
    return [world.providers[uuid].name for each in found.requests for uuid, _ in each.allocations]


def test_every_process_visits_providers_in_the_same_order(
    placement: Placement, other: Placement, database: Database
) -> None:
    for number in range(20):
        make(placement, f"host-{number}", VCPU=4)
    wanted = [f"host-{number}" for number in range(10)]
    followed_at_once, loaded_now = other, Placement(Ledger(database))
    assert first_hosts(placement) == wanted
    assert first_hosts(followed_at_once) == wanted
    assert first_hosts(loaded_now) == wanted


def test_the_order_stays_the_same_when_providers_go_and_others_come(
    placement: Placement, other: Placement, database: Database
) -> None:
    made = [make(placement, f"host-{number}", VCPU=4) for number in range(8)]
    first_hosts(other)
    for gone in (made[1], made[5]):
        providers.delete(placement, SOMEBODY, gone.uuid)
        placement.world()
        make(placement, f"after-{gone.name}", VCPU=4)
    wanted = ["host-0", "host-2", "host-3", "host-4", "host-6", "host-7", "after-host-1", "after-host-5"]
    assert first_hosts(placement) == wanted
    assert first_hosts(other) == wanted
    assert first_hosts(Placement(Ledger(database))) == wanted


@pytest.mark.parametrize(
    "effects",
    [
        '[["painted_by_a_later_release", {"provider": "x"}]]',
        '[["provider_removed", {"uuid": "one that memory never had"}]]',
        '[["generation_raised", {"provider": 7, "generation": 1, "at": "2026-01-01"}]]',
    ],
)
def test_a_change_that_cannot_be_applied_is_logged_and_everything_is_read_anew(
    placement: Placement, database: Database, caplog: pytest.LogCaptureFixture, effects: str
) -> None:
    host = make(placement, "host", VCPU=4)
    with database.write() as conn:
        head = changes.lock_head(conn)
        seq = head.seq + 1
        changes.append(conn, [Change(seq, datetime(2026, 1, 1), SOMEBODY, "strange", effects)], head, mark=1)
        conn.exec_driver_sql("UPDATE resource_providers SET generation = 9")
    assert placement.world().providers[host.uuid].generation == 9
    assert f"Changes {seq} to {seq} do not fit" in caplog.text
    assert Audit(placement.ledger, interval=3600).look() == []
    make(placement, str(uuid4()))
    assert differences(placement.ledger) == []
