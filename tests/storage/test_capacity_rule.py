# SPDX-License-Identifier: Apache-2.0

"""The SQL check of `db verify` finds exactly the usage that the capacity rule does not admit."""

from __future__ import annotations

from random import Random

import pytest

from plimsoll.storage.database import Database
from plimsoll.storage.load import load_world
from plimsoll.storage.maintenance import integrity
from tests.support.databases import run_sql

RATIOS = (1.0, 16.0, 1.5, 0.5, 0.9, 0.1, 1.1, 3.3, 0.3333)
PROVIDERS = 300


def test_sql_and_the_capacity_rule_agree(db: Database, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(7)
    statements = [
        "INSERT INTO resource_classes (id, name) VALUES (0, 'VCPU')",
        "INSERT INTO projects (id, external_id) VALUES (1, 'project')",
        "INSERT INTO users (id, external_id) VALUES (1, 'user')",
        "INSERT INTO consumers (id, uuid, project_id, user_id) VALUES (1, 'vm', 1, 1)",
    ]
    providers, inventories, allocations = [], [], []
    for number in range(1, PROVIDERS + 1):
        total, ratio = random.randint(1, 40), random.choice(RATIOS)
        reserved = random.choice([0, 0, 1, total])
        used = max(1, int((total - reserved) * ratio) + random.choice([-1, 0, 0, 1]))
        providers.append(f"({number}, 'p{number}', 'p{number}', 0, {number})")
        inventories.append(f"({number}, {number}, 0, {total}, {reserved}, 1, 1000, 1, {ratio})")
        allocations.append(f"({number}, {number}, 'vm', 0, {used})")
    run_sql(
        url,
        *statements,
        "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES "
        + ", ".join(providers),
        "INSERT INTO inventories (id, resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit,"
        " step_size, allocation_ratio) VALUES " + ", ".join(inventories),
        "INSERT INTO allocations (id, resource_provider_id, consumer_id, resource_class_id, used) VALUES "
        + ", ".join(allocations),
    )
    monkeypatch.setattr(integrity, "MAX_SHOWN", PROVIDERS)
    with db.read() as connection:
        findings = integrity.verify(connection)
        world = load_world(connection).world
    refused = {
        uuid
        for uuid, provider in world.providers.items()
        if not provider.inventories["VCPU"].admits(provider.used_of("VCPU"), 0)
    }
    (finding,) = findings
    assert {line.split()[1].rstrip(",") for line in finding.where} == refused
    assert 50 < len(refused) < PROVIDERS - 50
