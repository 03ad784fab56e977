# SPDX-License-Identifier: Apache-2.0

"""What `plimsoll status upgrade check` finds beyond Placement's own checks, for an operator about to take over.

Each result says what was found, what that means and what to run. A failure has to be seen to first; with a warning
the service works, though not on all rows; everything else is told and is well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime

from oslo_config import cfg
from sqlalchemy import Connection

from plimsoll.cli import config_lint
from plimsoll.cli.results import Code, Result
from plimsoll.storage import tables
from plimsoll.storage.database import Database, UnusableDatabaseError
from plimsoll.storage.load import load_world
from plimsoll.storage.maintenance import (
    data_migrations,
    foreign_writes,
    integrity,
    preflight,
)

SHOWN = 5

_COMPLETE = "Run `plimsoll db online_data_migrations`; it may run beside the service."
_NAMELESS = (
    "Providers without a name: {providers}. Plimsoll finds providers by name and may not start. Run"
    " `UPDATE resource_providers SET name = uuid WHERE name IS NULL` while Placement is stopped."
)


def run(conf: cfg.ConfigOpts, database: Database) -> Iterator[Result]:
    """Every check that makes sense on this database, in the order in which an operator sees to things."""
    yield _settings(conf)
    try:
        # What cannot be used at all says so at the first contact, and nothing else can be asked of it.
        keeping = database.keeping()
    except UnusableDatabaseError as error:
        yield Result("Database", Code.FAILURE, str(error))
        return
    with database.read() as connection:
        schema = preflight.schema(connection)
        yield _database(connection, database.where, conf)
        yield _placement_schema(schema)
        yield _own_tables(schema)
        if schema.obstacle or schema.is_empty:
            return
        yield _roots(connection)
        yield _consumers(connection)
        yield from _rows(connection)
        yield _names(
            preflight.nameless(connection),
            preflight.names_taken_for_the_same(connection, keeping),
            connection,
        )
        worker = _worker(connection, database)
        yield worker
        if worker.code is Code.SUCCESS and schema.own_revision is not None:
            yield _change_log(connection)


def _settings(conf: cfg.ConfigOpts) -> Result:
    found = config_lint.settings(conf)
    if not found:
        return Result(
            "MigrationSettings", details="All settings that were found mean here what they mean to Placement."
        )
    code = Code.WARNING if any(setting.matters for setting in found) else Code.SUCCESS
    listed = "; ".join(f"{setting.place}: {setting.meaning}" for setting in found)
    return Result(
        "MigrationSettings", code, f"These mean something else here than to Placement, or nothing. {listed}."
    )


def _database(connection: Connection, where: str, conf: cfg.ConfigOpts) -> Result:
    server = preflight.server(connection)
    found = f"{server}, at {where}."
    plain = preflight.without_transactions(connection)
    if plain:
        return Result(
            "Database",
            Code.FAILURE,
            f"{found} These tables are not kept by InnoDB, so that half a write would stay: {', '.join(plain)}."
            " Run `ALTER TABLE <table> ENGINE = InnoDB` for each of them while Placement is stopped.",
        )
    if server.is_galera and not conf.plimsoll.causal_reads:
        return Result(
            "Database",
            Code.WARNING,
            f"{found} With [plimsoll]causal_reads = false an answer through one node may lack what was just written"
            " through another. Leave it out, unless all workers use the same node.",
        )
    return Result("Database", details=f"{found} It can be used.")


def _placement_schema(schema: preflight.SchemaState) -> Result:
    if schema.obstacle is not None:
        return Result("Placement Schema", Code.FAILURE, schema.obstacle)
    if schema.is_empty:
        return Result(
            "Placement Schema", details="There is nothing yet. `plimsoll db sync` creates every table."
        )
    return Result(
        "Placement Schema",
        details=f"It is at revision {schema.revision}, which is the one that Plimsoll works on.",
    )


def _own_tables(schema: preflight.SchemaState) -> Result:
    check = "Plimsoll Tables"
    match schema.own_revision:
        case tables.OWN_HEAD:
            return Result(check, details=f"They are there, at revision {tables.OWN_HEAD}.")
        case None:
            listed = ", ".join(sorted(tables.own.tables))
            return Result(
                check,
                details=f"They are not there yet. `plimsoll db sync` adds {listed} and touches nothing else.",
            )
        case revision if revision > tables.OWN_HEAD:
            return Result(
                check,
                Code.FAILURE,
                f"They are at revision {revision}, which this release does not know: a newer Plimsoll made them."
                " Run that one.",
            )
        case revision:
            return Result(
                check,
                details=f"They are at revision {revision}. `plimsoll db sync` brings them to {tables.OWN_HEAD}.",
            )


def _roots(connection: Connection) -> Result:
    check = "Missing Root Provider IDs"
    rootless = data_migrations.count_rootless_providers(connection)
    if not rootless:
        return Result(check, details="Every provider has a root.")
    return Result(
        check,
        Code.FAILURE,
        f"{_counted(rootless, 'provider')} without a root: no answer shows them and nothing can be placed on them,"
        f" as it is with Placement. {_COMPLETE}",
    )


def _consumers(connection: Connection) -> Result:
    check = "Incomplete Consumers"
    unrecorded = data_migrations.count_incomplete_consumers(connection)
    if not unrecorded:
        return Result(check, details="Every consumer has its record.")
    return Result(
        check,
        Code.WARNING,
        f"{_counted(unrecorded, 'consumer')} without a record: what they hold counts as used, but no answer shows"
        f" who holds it. {_COMPLETE}",
    )


def _rows(connection: Connection) -> Iterator[Result]:
    findings = integrity.verify(connection)
    # Rows that only want completing have checks of their own.
    faults = [each for each in findings if each.severity == "fault" and "online_data" not in each.remedy]
    if faults:
        kinds = "; ".join(f"{fault.what} ({_times(fault.count)})" for fault in faults)
        yield Result(
            "Contradicting Rows",
            Code.WARNING,
            f"{kinds}. Plimsoll starts all the same; what it answers about these rows may surprise. Run"
            " `plimsoll db verify`, which says where they are and what to do.",
        )
    else:
        yield Result("Contradicting Rows", details="No row contradicts another.")
    past = [each for each in findings if each.severity == "note" and each.where]
    for note in past:
        some = _listed(note.where, note.count)
        yield Result("Capacity", details=f"There are {note.what}: {some}. {note.remedy}")
    if not past:
        yield Result("Capacity", details="No inventory has more used than its capacity.")


def _names(nameless: Sequence[str], alike: Sequence[str], connection: Connection) -> Result:
    check = "Names"
    if nameless:
        return Result(
            check,
            Code.FAILURE,
            _NAMELESS.format(providers=_listed(nameless)),
        )
    several = preflight.collations(connection)
    if alike or several:
        mixed = "; ".join(f"{collation}: {_listed(columns)}" for collation, columns in several.items())
        return Result(
            check,
            Code.WARNING,
            "Plimsoll compares all texts by the collation of the table resource_providers."
            + (f" The columns differ in theirs ({mixed})." if several else "")
            + (f" These would be taken for the same: {_listed(alike)}." if alike else "")
            + " Give all of Placement's tables one collation, with"
            " `ALTER TABLE <table> CONVERT TO CHARACTER SET ... COLLATE ...`, while Placement is stopped.",
        )
    return Result(check, details="Names that the database keeps apart, Plimsoll keeps apart.")


def _worker(connection: Connection, database: Database) -> Result:
    check = "Size"
    size = preflight.size(connection)
    began = time.monotonic()
    try:
        load_world(connection, database.keeping())
    except Exception as error:
        return Result(
            check,
            Code.FAILURE,
            f"The rows cannot be read into memory, so that no worker can start: {error!r}. Run `plimsoll db verify`"
            " and mend what it finds.",
        )
    return Result(
        check,
        details=f"{size.providers:,} providers with {size.inventories:,} inventories, which a worker reads in"
        f" {time.monotonic() - began:.1f} s when it starts and keeps in memory; {size.consumers:,} consumers with"
        f" {size.allocations:,} allocations, which stay in the database. A worker needs about"
        f" {size.worker_bytes // 1_000_000:,} MB of memory, and {size.worker_bytes_at_worst // 1_000_000:,} MB while"
        " it reads everything anew or lists all providers.",
    )


def _change_log(connection: Connection) -> Result:
    check = "Change Log"
    others = foreign_writes.find(connection)
    if others is None:
        return Result(check, details="Nobody else has written since Plimsoll's last change.")
    return Result(
        check,
        Code.WARNING,
        f"Somebody else has written to this database: its newest row is of {_time(others.newest_row)}, the last"
        f" change that Plimsoll knows of is of {_time(others.last_change)} (UTC). A worker that starts now reads"
        " everything; one that has run all the while does not know of it. Stop Placement and run"
        " `plimsoll db sync`, which tells them all.",
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _listed(places: Sequence[str], count: int | None = None) -> str:
    more = (len(places) if count is None else count) - SHOWN
    return ", ".join(places[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
