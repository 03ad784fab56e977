# SPDX-License-Identifier: Apache-2.0

"""The checks of `plimsoll status upgrade check` beyond Placement's own, before a Placement database is taken over.

Each result has the finding, its consequence and the command to run. A failure must be fixed first unless its text allows
to fix it later; with a warning the service works, but not on all rows; other results are informational.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime

from oslo_config import cfg
from sqlalchemy import Connection

from plimsoll.cli import config_lint
from plimsoll.cli.upgradecheck import Code, Result
from plimsoll.storage import tables
from plimsoll.storage.database import Database, UnusableDatabaseError
from plimsoll.storage.load import load_world
from plimsoll.storage.maintenance import data_migrations, foreign_writes, integrity, preflight
from plimsoll.storage.schema import upgrades

MAX_LISTED = 5

_COMPLETE = "Run `plimsoll db online_data_migrations`; the service may run meanwhile."
_NON_TRANSACTIONAL = (
    "These tables do not use InnoDB, so a failed write would be stored in part: {tables}. Run"
    " `ALTER TABLE <table> ENGINE = InnoDB` for each of them while Placement is stopped."
)
_NOT_CAUSAL = (
    "With [plimsoll]causal_reads = false a read through one node may lack recent writes through another. Remove this"
    " setting, unless all workers use the same node."
)
_NEWER_TABLES = (
    "They are at revision {revision}, which is newer than this release supports. Run the newer release of Plimsoll that"
    " created them."
)
_ROOTS = (
    "provider",
    "without a root: no response shows them and nothing can be placed on them, as in Placement.",
    "Every provider has a root.",
)
_RECORDS = (
    "consumer",
    "without a record: their allocations count as used, but no response shows them.",
    "Every consumer has its record.",
)
_CONTRADICTING = (
    "Plimsoll starts, but its responses about these rows may be wrong. Run `plimsoll db verify`, which prints the rows"
    " and what to do."
)
_NAMELESS = (
    "Providers without a name: {providers}. Plimsoll finds providers by name and may not start. Run"
    " `UPDATE resource_providers SET name = uuid WHERE name IS NULL` while Placement is stopped."
)


def run(conf: cfg.ConfigOpts, database: Database) -> Iterator[Result]:
    """Run every check that applies to this database, in the order in which an operator fixes problems."""
    yield _settings(conf)
    try:
        # The first query. If the database cannot be used at all, no other check can run.
        semantics = database.semantics()
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
        rootless = data_migrations.count_rootless_providers(connection)
        yield _incomplete("Missing Root Provider IDs", Code.FAILURE, rootless, *_ROOTS)
        unrecorded = data_migrations.count_incomplete_consumers(connection)
        yield _incomplete("Incomplete Consumers", Code.WARNING, unrecorded, *_RECORDS)
        yield from _rows(connection)
        yield _names(
            preflight.unnamed_providers(connection),
            preflight.colliding_names(connection, semantics),
            connection,
        )
        worker = _worker(connection, database)
        yield worker
        if worker.code is Code.SUCCESS and schema.own_revision is not None:
            yield _change_log(connection)


def _settings(conf: cfg.ConfigOpts) -> Result:
    found = config_lint.lint(conf)
    if not found:
        return Result("Settings", details="All settings have the same effect as in Placement.")
    code = Code.WARNING if any(setting.is_warning for setting in found) else Code.SUCCESS
    listed = "; ".join(f"{setting.place}: {setting.meaning}" for setting in found)
    return Result("Settings", code, f"These have another effect than in Placement, or none. {listed}.")


def _database(connection: Connection, where: str, conf: cfg.ConfigOpts) -> Result:
    server = preflight.server(connection)
    plain = preflight.non_transactional_tables(connection)
    code, finding = Code.SUCCESS, "It can be used."
    if plain:
        code, finding = Code.FAILURE, _NON_TRANSACTIONAL.format(tables=", ".join(plain))
    elif server.is_galera and not conf.plimsoll.causal_reads:
        code, finding = Code.WARNING, _NOT_CAUSAL
    return Result("Database", code, f"{server}, at {where}. {finding}")


def _placement_schema(schema: preflight.SchemaState) -> Result:
    if schema.obstacle is not None:
        return Result("Placement Schema", Code.FAILURE, schema.obstacle)
    if schema.is_empty:
        details = "The database is empty. `plimsoll db sync` creates every table."
    elif schema.steps:
        listed = "; ".join(f"{step.revision}: {step.summary}" for step in schema.steps)
        details = (
            f"It is at revision {schema.revision}, of an older release. `plimsoll db sync` upgrades it in"
            f" {len(schema.steps)} step{'' if len(schema.steps) == 1 else 's'}, and changes no row. {listed}."
        )
    else:
        details = f"It is at revision {schema.revision}, which Plimsoll supports."
    return Result("Placement Schema", details=details)


def _own_tables(schema: preflight.SchemaState) -> Result:
    code, revision = Code.SUCCESS, schema.own_revision
    if revision is None:
        listed = ", ".join(sorted(tables.own.tables))
        rest = "" if schema.steps else " and changes nothing else"
        details = f"They do not exist yet. `plimsoll db sync` adds {listed}{rest}."
    elif revision == tables.OWN_HEAD:
        details = f"They exist, at revision {revision}."
    elif revision > tables.OWN_HEAD:
        code, details = Code.FAILURE, _NEWER_TABLES.format(revision=revision)
    else:
        details = f"They are at revision {revision}. `plimsoll db sync` upgrades them to {tables.OWN_HEAD}."
    return Result("Plimsoll Tables", code, details)


def _incomplete(check: str, code: Code, count: int, noun: str, consequence: str, otherwise: str) -> Result:
    if not count:
        return Result(check, details=otherwise)
    return Result(check, code, f"{count:,} {noun}{'' if count == 1 else 's'} {consequence} {_COMPLETE}")


def _rows(connection: Connection) -> Iterator[Result]:
    findings = integrity.verify(connection)
    # Incomplete rows have checks of their own.
    faults = [each for each in findings if each.severity == "fault" and "online_data" not in each.remedy]
    if faults:
        kinds = "; ".join(f"{fault.problem} ({_times(fault.count)})" for fault in faults)
        yield Result("Contradicting Rows", Code.WARNING, f"{kinds}. {_CONTRADICTING}")
    else:
        yield Result("Contradicting Rows", details="No row contradicts another.")
    past = [each for each in findings if each.severity == "note" and each.where]
    for note in past:
        some = _listed(note.where, note.count)
        yield Result("Capacity", details=f"There are {note.problem}: {some}. {note.remedy}")
    if not past:
        yield Result("Capacity", details="No inventory has more used than its capacity.")


def _names(unnamed_providers: Sequence[str], alike: Sequence[str], connection: Connection) -> Result:
    check = "Names"
    if unnamed_providers:
        return Result(check, Code.FAILURE, _NAMELESS.format(providers=_listed(unnamed_providers)))
    several = preflight.mixed_collations(connection)
    if not alike and not several:
        return Result(check, details="Names that are different in the database are different in Plimsoll.")
    mixed = "; ".join(f"{collation}: {_listed(columns)}" for collation, columns in several.items())
    details = (
        "Plimsoll compares all texts by the collation of the table resource_providers."
        + (f" The columns have different collations ({mixed})." if several else "")
        + (f" These names would be treated as equal: {_listed(alike)}." if alike else "")
        + " Give all of Placement's tables the same collation, with"
        " `ALTER TABLE <table> CONVERT TO CHARACTER SET ... COLLATE ...`, while Placement is stopped."
    )
    return Result(check, Code.WARNING, details)


def _worker(connection: Connection, database: Database) -> Result:
    size = preflight.size(connection)
    duration = "reads"
    if upgrades.has_consumer_types(connection):  # older tables cannot be loaded before their upgrade
        began = time.monotonic()
        try:
            load_world(connection, database.semantics())
        except Exception as error:
            reason = f"The rows cannot be loaded into memory, so no worker can start: {error!r}."
            return Result("Size", Code.FAILURE, f"{reason} Run `plimsoll db verify` and fix what it finds.")
        duration = f"reads in {time.monotonic() - began:.1f} s"
    details = (
        f"{size.providers:,} providers with {size.inventories:,} inventories, which a worker {duration}"
        f" when it starts and keeps in memory; {size.consumers:,} consumers with"
        f" {size.allocations:,} allocations, which stay in the database. A worker needs about"
        f" {size.worker_bytes // 1_000_000:,} MB of memory, and {size.worker_bytes_peak // 1_000_000:,} MB while"
        " it reloads everything or lists all providers."
    )
    return Result("Size", details=details)


def _change_log(connection: Connection) -> Result:
    others = foreign_writes.find(connection)
    if others is None:
        return Result("Change Log", details="No other program has written since Plimsoll's last change.")
    details = (
        f"Another program has written to this database: its newest row is of {_time(others.newest_row)}, the last"
        f" change in Plimsoll's change log is of {_time(others.last_change)} (UTC). A worker that starts now loads"
        " everything; a running worker does not have these rows. Stop Placement and run `plimsoll db sync`, which"
        " makes all workers reload."
    )
    return Result("Change Log", Code.WARNING, details)


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _listed(places: Sequence[str], count: int | None = None) -> str:
    more = (len(places) if count is None else count) - MAX_LISTED
    return ", ".join(places[:MAX_LISTED]) + (f" and {more:,} more" if more > 0 else "")
