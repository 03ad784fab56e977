# SPDX-License-Identifier: Apache-2.0

"""Migrate a database to the schema of this release, or raise a SchemaError that states the reason.

An empty database gets the reference's tables and ours; a database of the reference is upgraded to REFERENCE_HEAD and
gets ours. Several processes may do this at once: the first one migrates, and the others find nothing to do.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Integer, delete, insert, inspect, literal_column, select, update

from plimsoll.storage.database import Database
from plimsoll.storage.schema import upgrades
from plimsoll.storage.schema.upgrades import UpgradeStep
from plimsoll.storage.tables import (
    OWN_HEAD,
    OWN_VERSION_TABLE,
    REFERENCE_HEAD,
    REFERENCE_REVISIONS,
    REFERENCE_VERSION_TABLE,
    own_version,
    reference,
    reference_version,
)

LOG = logging.getLogger(__name__)

_REFERENCE_RELEASE = "openstack-placement 16.0.0"

_NEWER = (
    "The database is at revision {revision} of Plimsoll's own tables, which this release does not support."
    " A newer Plimsoll made it; run that release."
)
_OLDER = (
    "The database {where} is at revision {revision} of the Placement schema; this release needs {head}. Run `plimsoll"
    " db sync`, or set [placement_database]sync_on_startup = true."
)
_BLOCKED = (
    "The database is at revision {revision} of the Placement schema and cannot be upgraded yet: {problems}. Run"
    " `plimsoll db online_data_migrations`, then `plimsoll db sync`. Nothing was changed."
)
_UNKNOWN = (
    "The database is at revision {revision}, which is none of the Placement schema's up to {head}. Either it"
    f" belongs to another service, or to a Placement newer than {_REFERENCE_RELEASE}. Nothing was changed."
)
_UNVERSIONED = (
    "The database has Placement's tables but no record of their revision. They look like those of revision {revision}"
    "{origin}. If they are, run `plimsoll db stamp {revision}`, then `plimsoll db sync`."
)
_FIRST_ORIGIN = " (OpenStack Stein, or tables that were copied from nova's database)"
_INCOMPLETE = (
    "The database is marked as revision {revision} of the Placement schema, but these tables are missing:"
    " {missing}. Restore it from a backup, or give Plimsoll an empty one."
)
_NOT_SYNCED = (
    "The database {where} is not ready for this release. Run `plimsoll db sync`, or set"
    " [placement_database]sync_on_startup = true."
)
_NO_SUCH_REVISION = "Can't locate revision identified by {revision!r}"
_SEVERAL = "The table {table} holds several revisions: {revisions}. It must hold one."


class SchemaError(Exception):
    """The schema is not supported; the message states the reason and the command to run."""


@dataclass(frozen=True, slots=True)
class InspectedSchema:
    """Revision and tables of a database before a migration."""

    revision: str | None
    tables: frozenset[str]

    @property
    def missing(self) -> frozenset[str]:
        """Tables that should exist at this revision."""
        return upgrades.tables_at(self.revision) - self.tables


def sync(db: Database) -> None:
    """Create missing tables, upgrade old ones. Raise SchemaError, and change nothing, if the schema is unknown."""
    with db.change_schema() as transaction:
        connection = transaction.connection
        state = inspect_schema(connection)
        if is_empty(connection, state):
            reference.create_all(connection)
            _set_revision(connection, REFERENCE_HEAD)
        else:
            for step in upgrade_steps(connection, state):
                LOG.info("Upgrading the Placement schema to revision %s: %s", step.revision, step.summary)
                upgrades.run(connection, step)
                # One statement: without a transaction, two could leave no revision.
                connection.execute(update(reference_version).values(version_num=step.revision))
        _upgrade_own(connection)
        transaction.commit()


def is_current(db: Database) -> bool:
    """True if `sync` has nothing to do."""
    with db.read() as connection:
        state = inspect_schema(connection)
        return state.revision == REFERENCE_HEAD and not state.missing and own_revision(connection) == OWN_HEAD


def require_current(db: Database) -> None:
    """Raise a SchemaError with the command to run if the schema is not that of this release.

    The message names `plimsoll db sync` only if it would succeed.
    """
    with db.read() as connection:
        state = inspect_schema(connection)
        empty = is_empty(connection, state)
        if not empty and upgrade_steps(connection, state):
            raise SchemaError(_OLDER.format(where=db.where, revision=state.revision, head=REFERENCE_HEAD))
        revision = own_revision(connection)
        if revision is not None and revision > OWN_HEAD:
            raise SchemaError(_NEWER.format(revision=revision))
        if empty or revision != OWN_HEAD:
            raise SchemaError(_NOT_SYNCED.format(where=db.where))


def has_reference_tables(db: Database) -> bool:
    """True if all tables of the reference exist, as of the recorded revision."""
    with db.read() as connection:
        return not inspect_schema(connection).missing


def version(db: Database) -> str | None:
    """Return the recorded revision of the reference's schema, or None."""
    with db.read() as connection:
        return _revision(connection)


def stamp(db: Database, revision: str) -> None:
    """Record a revision of the reference's schema, without checking or changing its tables.

    A unique prefix of a revision is enough; `head` is the newest and `base` is none. An unknown recorded revision
    belongs to another service: it raises a SchemaError, and the record stays.
    """
    resolved = _resolve(revision)
    with db.change_schema() as transaction:
        connection = transaction.connection
        recorded = _revision(connection)
        if recorded is not None and recorded not in REFERENCE_REVISIONS:
            raise SchemaError(_UNKNOWN.format(revision=recorded, head=REFERENCE_HEAD))
        reference_version.create(connection, checkfirst=True)
        _set_revision(connection, resolved)
        transaction.commit()


def inspect_schema(connection: Connection) -> InspectedSchema:
    return InspectedSchema(_revision(connection), frozenset(inspect(connection).get_table_names()))


def is_empty(connection: Connection, state: InspectedSchema) -> bool:
    """True if Placement's tables have no rows, or do not exist. An interrupted `sync` can leave empty tables.

    Tables of an older release count as rows: they must be upgraded, and their revision is not recorded.
    """
    if state.revision is not None:
        return False
    found = state.tables & upgrades.tables_at(REFERENCE_HEAD)
    if "consumers" in found and not upgrades.has_consumer_types(connection):
        return False
    one = select(literal_column("1", Integer)).limit(1)
    return all(connection.execute(one.select_from(reference.tables[name])).first() is None for name in found)


def upgrade_steps(connection: Connection, state: InspectedSchema) -> tuple[UpgradeStep, ...]:
    """Return the steps to the schema of this release. Raise SchemaError if `sync` would refuse this database."""
    revision = state.revision
    if revision is None:
        guess = upgrades.guess_revision(connection)
        origin = _FIRST_ORIGIN if guess == upgrades.FIRST else ""
        raise SchemaError(_UNVERSIONED.format(revision=guess, origin=origin))
    if revision not in REFERENCE_REVISIONS:
        raise SchemaError(_UNKNOWN.format(revision=revision, head=REFERENCE_HEAD))
    if state.missing:
        missing = ", ".join(sorted(state.missing))
        raise SchemaError(_INCOMPLETE.format(revision=revision, missing=missing))
    steps = upgrades.steps_from(revision)
    counts = ((step.count_obstacles(connection), step.obstacle) for step in steps)
    problems = " and ".join(f"{count:,} {obstacle}" for count, obstacle in counts if count)
    if problems:
        raise SchemaError(_BLOCKED.format(revision=revision, problems=problems))
    return steps


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(REFERENCE_VERSION_TABLE):
        return None
    revisions = connection.scalars(select(reference_version.c.version_num)).all()
    if len(revisions) > 1:
        listed = ", ".join(sorted(revisions))
        raise SchemaError(_SEVERAL.format(table=REFERENCE_VERSION_TABLE, revisions=listed))
    return revisions[0] if revisions else None


def _set_revision(connection: Connection, revision: str | None) -> None:
    connection.execute(delete(reference_version))
    if revision is not None:
        connection.execute(insert(reference_version).values(version_num=revision))


def _resolve(revision: str) -> str | None:
    if revision in ("head", "heads"):
        return REFERENCE_HEAD
    if revision == "base":
        return None
    matches = [known for known in REFERENCE_REVISIONS if revision and known.startswith(revision)]
    if len(matches) != 1:
        raise SchemaError(_NO_SUCH_REVISION.format(revision=revision))
    return matches[0]


def own_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(OWN_VERSION_TABLE):
        return None
    return connection.scalar(select(own_version.c.version_num))


def _upgrade_own(connection: Connection) -> None:
    revision = own_revision(connection)
    if revision == OWN_HEAD:
        return
    # Alembic logs its plugins when it is imported, which does not help an operator.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)
    # Imported here because Alembic is slow to import, and most starts do not need it.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise SchemaError(_NEWER.format(revision=revision))
    command.upgrade(config, "head")
