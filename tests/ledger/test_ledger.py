# SPDX-License-Identifier: Apache-2.0

"""The ledger on a real database: every process sees a write right after its commit."""

import threading
import time
from uuid import uuid4

import pytest

from plimsoll.domain.draft import Draft
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import CapacityExceeded, HiddenRowConflict, ProviderNameTaken, Refusal
from plimsoll.domain.rules.allocations import Claim
from plimsoll.domain.rules.reshape import NewInventories, Reshape
from plimsoll.ledger.audit import Audit
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.service import aggregates, allocations, classes, inventories, providers, reshape, traits, usages
from plimsoll.service.placement import Placement, no_result
from plimsoll.storage import changes
from plimsoll.storage.database import Database
from tests.ledger.conftest import ACTOR
from tests.support.external_writes import committed_write


def make_provider(placement: Placement, name: str, parent: str | None = None, **totals: int) -> Provider:
    uuid = str(uuid4())
    made = providers.create(placement, ACTOR, uuid, name, parent)
    assert isinstance(made, Provider)
    for resource_class, total in totals.items():
        made = inventories.add(placement, ACTOR, uuid, resource_class, Inventory(total), reserve_all=True)
        assert isinstance(made, Provider)
    return made


def make_claim(provider: Provider, consumer: str | None = None, **amounts: int) -> Claim:
    return Claim(consumer or str(uuid4()), {provider.uuid: amounts}, "project", "user", "INSTANCE")


def test_a_read_sees_the_writes_of_another_process(placement: Placement, other: Placement) -> None:
    host = make_provider(placement, "host", VCPU=4)
    assert providers.get(other, host.uuid) == host
    assert allocations.claim(placement, ACTOR, [make_claim(host, VCPU=3)]) is None
    assert other.world().providers[host.uuid].used == {"VCPU": 3}
    assert differences(other.ledger) == []


def test_every_kind_of_change_can_be_followed(placement: Placement, other: Placement) -> None:
    other.world()
    host = (
        make_provider(placement, "host", VCPU=8, CUSTOM_X=1)
        if classes.ensure(placement, ACTOR, "CUSTOM_X")
        else None
    )
    assert host is not None
    child = make_provider(placement, "child", parent=host.uuid, VCPU=8)
    traits.create(placement, ACTOR, "CUSTOM_T")
    traits.set_for_provider(placement, ACTOR, child.uuid, child.generation, ["CUSTOM_T", "HW_CPU_X86_AVX"])
    aggregates.set_for_provider(placement, ACTOR, child.uuid, [str(uuid4()), str(uuid4())], None)
    classes.rename(placement, ACTOR, "CUSTOM_X", "CUSTOM_Y")
    claim = make_claim(host, VCPU=2, CUSTOM_Y=1)
    assert allocations.claim(placement, ACTOR, [claim]) is None
    before = placement.world().providers
    moved = Reshape(
        {
            host.uuid: NewInventories(before[host.uuid].generation, {"CUSTOM_Y": Inventory(1)}),
            child.uuid: NewInventories(before[child.uuid].generation, {"VCPU": Inventory(16)}),
        },
        (
            Claim(
                claim.consumer,
                {host.uuid: {"CUSTOM_Y": 1}, child.uuid: {"VCPU": 2}},
                "p2",
                "u2",
                expected_generation=1,
            ),
        ),
    )
    assert reshape.reshape(placement, ACTOR, moved) is None
    providers.update(placement, ACTOR, child.uuid, "grown", None, reparenting=True)
    allocations.release(placement, ACTOR, claim.consumer)
    inventories.clear(placement, ACTOR, host.uuid)
    traits.clear_for_provider(placement, ACTOR, child.uuid)
    providers.delete(placement, ACTOR, host.uuid)
    classes.delete(placement, ACTOR, "CUSTOM_Y")
    traits.delete(placement, ACTOR, "CUSTOM_T")
    assert other.world().providers == placement.world().providers
    assert other.world().classes == placement.world().classes
    assert other.world().traits == placement.world().traits
    assert differences(other.ledger) == []


def test_a_refused_command_writes_nothing(placement: Placement) -> None:
    make_provider(placement, "host")
    before = placement.ledger.snapshot()
    refusal = providers.create(placement, ACTOR, str(uuid4()), "host", None)
    assert refusal == ProviderNameTaken("host")
    assert placement.ledger.snapshot() is before


def test_an_exception_in_one_command_fails_only_that_command(placement: Placement) -> None:
    def raises(draft: Draft) -> Refusal | None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        placement.write("raises", ACTOR, raises, then=no_result)
    make_provider(placement, "host")


def test_a_published_snapshot_never_changes(placement: Placement) -> None:
    host = make_provider(placement, "host", VCPU=4)
    before = placement.ledger.snapshot()
    allocations.claim(placement, ACTOR, [make_claim(host, VCPU=3)])
    assert before.world.providers[host.uuid].used == {}
    assert placement.world().providers[host.uuid].used == {"VCPU": 3}


def test_concurrent_claims_stop_exactly_at_the_capacity(placement: Placement, other: Placement) -> None:
    host = make_provider(placement, "host", VCPU=50)
    outcomes: list[Refusal | None] = []

    def claim_20_times(process: Placement) -> None:
        for _ in range(20):
            outcomes.append(allocations.claim(process, ACTOR, [make_claim(host, VCPU=1)]))

    threads = [threading.Thread(target=claim_20_times, args=(process,)) for process in (placement, other) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(None) == 50
    full = CapacityExceeded(host.uuid, host.name, "VCPU", asked=1, used=50, capacity=50)
    assert outcomes.count(full) == 70
    assert (
        other.world().providers[host.uuid].used == placement.world().providers[host.uuid].used == {"VCPU": 50}
    )
    assert placement.world().providers[host.uuid].generation == 51


def test_usage_and_allocations_are_found_by_owner_and_type(placement: Placement) -> None:
    host = make_provider(placement, "host", VCPU=8, DISK_GB=100)
    first, second = make_claim(host, VCPU=1, DISK_GB=10), make_claim(host, VCPU=2)
    allocations.claim(placement, ACTOR, [first, second])
    allocations.claim(placement, ACTOR, [Claim(str(uuid4()), {host.uuid: {"VCPU": 4}}, "project", "other")])
    assert usages.of_owner(placement, "project", None) == {"VCPU": 7, "DISK_GB": 10}
    assert usages.of_owner(placement, "project", "user") == {"VCPU": 3, "DISK_GB": 10}
    assert usages.by_consumer_type(placement, "project", None, None) == {
        "INSTANCE": (2, {"VCPU": 3, "DISK_GB": 10}),
        "unknown": (1, {"VCPU": 4}),
    }
    assert usages.by_consumer_type(placement, "project", None, "all") == {
        "all": (3, {"VCPU": 7, "DISK_GB": 10})
    }
    assert usages.by_consumer_type(placement, "project", None, "unknown") == {"unknown": (1, {"VCPU": 4})}
    assert usages.by_consumer_type(placement, "missing", None, "all") == {}
    held = allocations.of_consumer(placement, first.consumer)
    assert held.by_provider == {host.uuid: (5 - 1, {"VCPU": 1, "DISK_GB": 10})}
    assert held.consumer is not None
    assert (held.consumer.type, held.consumer.generation) == ("INSTANCE", 1)
    assert sorted(allocations.of_owner(placement, "project", "user"), key=str) == sorted(
        [(host.uuid, {"VCPU": 1, "DISK_GB": 10}), (host.uuid, {"VCPU": 2})], key=str
    )


def test_the_change_log_has_actor_and_operation(placement: Placement, database: Database) -> None:
    seq = placement.ledger.snapshot().head.seq
    make_provider(placement, "host")
    with database.read() as conn:
        (change,) = changes.since(conn, seq, limit=10)
    assert change.actor == ACTOR
    assert change.operation == "provider.create"


def test_a_process_behind_a_pruned_change_log_makes_a_full_load(
    database: Database, placement: Placement
) -> None:
    behind = Placement(Ledger(database))
    behind.world()
    host = make_provider(placement, "host", VCPU=4)
    with committed_write(database) as conn:
        changes.prune(conn, placement.ledger.snapshot().head.seq - 1, limit=1000)
    assert behind.world().providers[host.uuid].inventories == {"VCPU": Inventory(4)}
    assert differences(behind.ledger) == []


def test_an_audit_finds_and_repairs_changes_that_bypassed_the_change_log(
    placement: Placement, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    host = make_provider(placement, "host", VCPU=4)
    audit = Audit(placement.ledger, interval=3600)
    assert audit.check() == []
    with committed_write(database) as conn:
        conn.exec_driver_sql("UPDATE inventories SET total = 7")
    (found,) = audit.check()
    assert host.uuid in found
    assert "another program has written to the database" in caplog.text
    assert "or this is a bug of Plimsoll" in caplog.text
    assert "plimsoll db verify" in caplog.text
    assert found in caplog.text
    assert placement.world().providers[host.uuid].inventories == {"VCPU": Inventory(7)}
    assert audit.check() == []


def test_a_command_that_cannot_be_written_does_not_fail_the_others_of_its_batch(
    placement: Placement, database: Database
) -> None:
    with committed_write(database) as conn:  # a row that is not in memory: its tree has no root
        conn.exec_driver_sql(
            "INSERT INTO resource_providers (uuid, name, generation) VALUES ('x', 'hidden', 0)"
        )
    outcomes: dict[str, object] = {}

    def create(name: str) -> None:
        outcomes[name] = providers.create(placement, ACTOR, str(uuid4()), name, None)

    # While another transaction holds the head, the commands queue up for one batch.
    with database.transaction() as transaction:
        transaction.lock_head()
        threads = [threading.Thread(target=create, args=(name,)) for name in ("one", "hidden", "two")]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
    for thread in threads:
        thread.join()
    assert outcomes["hidden"] == HiddenRowConflict()
    assert isinstance(outcomes["one"], Provider)
    assert isinstance(outcomes["two"], Provider)
    with committed_write(database) as conn:
        conn.exec_driver_sql("DELETE FROM resource_providers WHERE uuid = 'x'")
