# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.audit.follow`: followers of the change feed, killed and started again while clients write.

Several processes write to one database, which is killed with `--kills`, as are its connections and the services. Each follower must see
every change once and in order, and what it rebuilds from the changes alone must equal the rows of the database.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.audit import databases, rows
from tests.audit.clients import Client
from tests.audit.databases import opened
from tests.audit.fleet import Fleet
from tests.audit.follower import WAYS, Follower
from tests.audit.identifiers import Identifiers
from tests.audit.kills import Killer, create_killers
from tests.audit.proxies import open_proxies
from tests.audit.run import Settings, running, set_up, settle, wait
from tests.support.mirror import Mirror
from tests.support.running import Client as PlainClient

FOLLOWER_PAUSE = (0.2, 2.0)
"""Pause between two kills of a follower."""
CATCH_UP_SECONDS = 120


def run(seed: int, settings: Settings, directory: Path, log: Callable[[str], None]) -> list[str]:
    """Return what does not hold."""
    with (
        opened(settings.engine, directory, spread=settings.spread) as database,
        open_proxies(database.urls(), seed, enabled=settings.kills and database.victims > 0) as proxies,
    ):
        fleet = Fleet(directory, settings.services, lambda service: proxies.urls[database.node_of(service)])
        followers: list[Follower] = []
        try:
            fleet.start()
            start = _bound(fleet, "lowest")
            assert start.endswith(":0"), "a follower begins with an empty database"
            followers += [_follower(way, directory, fleet.ports, seed, start) for way in WAYS]
            ids = Identifiers(seed)
            set_up(ids, fleet)
            clients = [Client(number, seed, ids, fleet.ports) for number in range(settings.clients)]
            killers = create_killers(seed, database, proxies, fleet) if settings.kills else []
            killers += [_follower_killer(follower, seed) for follower in followers]
            for follower in followers:
                follower.start()
            with running(killers), running(clients):
                wait(settings.seconds, clients, killers, log)
            for failure in [*(each.failure for each in killers), *(each.failure for each in clients)]:
                if failure is not None:
                    raise failure
            database.settle()
            settle(fleet)
            log("waiting until the followers have reached the end")
            highest = _bound(fleet, "highest")
            found = [line for each in followers for line in _wait_for(each, highest)]
            final, *_ = database.read_all()
        finally:
            for follower in followers:
                follower.kill()
            fleet.stop()
    for follower in followers:
        found += [f"{follower.file.name}: {line}" for line in check(follower.changes(), final)]
        log(f"{follower.file.name}: {len(follower.changes())} changes, started {follower.starts} times")
    return found


def _bound(fleet: Fleet, name: str) -> str:
    """Return the lowest or highest revision of the change log."""
    client = PlainClient(fleet.ports[0])
    status, document = client.call("GET", "/plimsoll/v1/changes?limit=1")
    client.close()
    assert status == 200, document
    bound: str = document[name]
    return bound


def _follower(way: str, directory: Path, ports: Sequence[int], seed: int, start: str) -> Follower:
    file = directory / f"{way}.jsonl"
    file.touch()
    file.with_suffix(".start").write_text(start)
    return Follower(way, file, ports, seed * 1000)


def _follower_killer(follower: Follower, seed: int) -> Killer:
    name = f"follower {follower.file.name}"
    rng = random.Random(f"{seed}/{name}")
    return Killer(name, 1, lambda _: follower.kill(), lambda _: follower.start(), FOLLOWER_PAUSE, rng)


def _wait_for(follower: Follower, highest: str) -> list[str]:
    deadline = time.monotonic() + CATCH_UP_SECONDS
    while not (changes := follower.changes()) or changes[-1]["revision"] != highest:
        if time.monotonic() > deadline:
            return [f"{follower.file.name} did not reach {highest}: {changes[-1:]}"]
        time.sleep(0.5)
    return []


def check(changes: Sequence[Any], final: rows.Rows) -> list[str]:
    """Return what does not hold: each change once and in order, and the rebuilt rows are those of the database."""
    numbers = [int(each["revision"].partition(":")[2]) for each in changes]
    found = [
        f"change {second} came after change {first}"
        for first, second in zip([0, *numbers], numbers, strict=False)
        if second != first + 1
    ]
    mirror = Mirror()
    for change in changes:
        mirror.apply(change)
    for table, rebuilt in mirrored_rows(mirror).items():
        found += [f"{table}: the database has {row}, the follower has not" for row in final[table] - rebuilt]
        found += [f"{table}: the follower has {row}, the database has not" for row in rebuilt - final[table]]
    return found


def mirrored_rows(mirror: Mirror) -> rows.Rows:
    """Return the copy in the form of the rows of the database."""
    providers, consumers = mirror.providers.items(), mirror.consumers.items()
    fields = ("total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio")
    return {
        "providers": Counter(
            (uuid, one["name"], one["generation"], one["parent"], one["root"]) for uuid, one in providers
        ),
        "inventories": Counter(
            (uuid, name, *(each[field] for field in fields))
            for uuid, one in providers
            for name, each in one["inventories"].items()
        ),
        "traits": Counter((uuid, name) for uuid, one in providers for name in one["traits"]),
        "aggregates": Counter((uuid, name) for uuid, one in providers for name in one["aggregates"]),
        "consumers": Counter(
            (
                uuid,
                one["generation"],
                one["project"],
                one["user"],
                None if one["type"] == "unknown" else one["type"],
            )
            for uuid, one in consumers
        ),
        "allocations": Counter(
            (uuid, provider, name, amount)
            for uuid, one in consumers
            for provider, amounts in one["allocations"].items()
            for name, amount in amounts.items()
        ),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.audit.follow", description=__doc__)
    parser.add_argument("--database", choices=databases.ENGINES, default="sqlite")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", action="store_true", help="kill the database and services during the run")
    options = parser.parse_args()
    failed = 0
    for seed in options.seeds:
        settings = Settings(options.database, options.seconds, options.kills)
        with tempfile.TemporaryDirectory(prefix="plimsoll-follow-") as directory:
            found = run(seed, settings, Path(directory), lambda line: print(f"  {line}", flush=True))
        print(f"{options.database}, seed {seed}: {'DOES NOT HOLD' if found else 'holds'}", flush=True)
        print("".join(f"  {line}\n" for line in found[:20]), end="")
        failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
