# SPDX-License-Identifier: Apache-2.0

"""Bring a database to the schema that this release works on, or say plainly why that cannot be done.

An empty database gets the reference's tables and ours; one that the reference left at REFERENCE_HEAD gets
ours and is otherwise not touched. Any number of processes may do this at once: one does it, and the others
find it done.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, insert, inspect, select

from plimsoll.storage.database import Database
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

_REFERENCE_RELEASE = "openstack-placement 16.0.0"

_NEWER = (
    "The database is at revision {revision} of Plimsoll's own tables, which this release does not know."
    " A newer Plimsoll made it; run that one."
)
_OLDER = (
    "The database is at revision {revision} of the Placement schema; Plimsoll takes over at {head}."
    f" First run `placement-manage db sync` of {_REFERENCE_RELEASE} itself (not of plimsoll-as-placement), and its"
    " `placement-manage db online_data_migrations`; then `plimsoll db sync`."
)
_UNKNOWN = (
    "The database is at revision {revision}, which is none of the Placement schema's up to {head}. Either it"
    f" belongs to another service, or to a Placement newer than {_REFERENCE_RELEASE}. Nothing was changed."
)
_UNVERSIONED = (
    "The database has Placement's tables but no record of their revision. If they are those of"
    f" {_REFERENCE_RELEASE}, run `plimsoll db stamp head`, then `plimsoll db sync`."
)
_INCOMPLETE = (
    "The database says it is at revision {revision} of the Placement schema, but these tables are missing:"
    " {missing}. Restore it from a backup, or give Plimsoll an empty one."
)
_NOT_SYNCED = (
    "The database {where} is not ready for this release. Run `plimsoll db sync`, or set"
    " [placement_database]sync_on_startup = true."
)
_NO_SUCH_REVISION = "Can't locate revision identified by {revision!r}"
_SEVERAL = "The table {table} holds several revisions: {revisions}. It must hold one."


class SchemaError(Exception):
    """The schema is not one that we may or can work on; the text says why and what to run."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a database holds before anything is done to it."""

    revision: str | None
    present: frozenset[str]

    @property
    def missing(self) -> frozenset[str]:
        return _reference_tables() - self.present


def sync(db: Database) -> None:
    """Create what is missing. Raises SchemaError, and changes nothing, if we do not know the schema."""
    with db.change_schema() as connection:
        found = look(connection)
        if found.revision is None and holds_nothing(connection, found):
            reference.create_all(connection)
            _set_revision(connection, REFERENCE_HEAD)
        else:
            refuse_unless_at_head(found)
        _upgrade_own(connection)


def is_current(db: Database) -> bool:
    """Whether `sync` would have nothing to do."""
    with db.read() as connection:
        found = look(connection)
        return found.revision == REFERENCE_HEAD and not found.missing and own_revision(connection) == OWN_HEAD


def require_current(db: Database) -> None:
    """Raise a SchemaError with the command to run if the schema is not the one that this release works on.

    `plimsoll db sync` is advised only where it succeeds.
    """
    with db.read() as connection:
        found = look(connection)
        is_empty = found.revision is None and holds_nothing(connection, found)
        if not is_empty:
            refuse_unless_at_head(found)
        revision = own_revision(connection)
        if revision is not None and revision > OWN_HEAD:
            raise SchemaError(_NEWER.format(revision=revision))
        if is_empty or revision != OWN_HEAD:
            raise SchemaError(_NOT_SYNCED.format(where=db.where))


def has_reference_tables(db: Database) -> bool:
    """Whether there is anything of Placement's to look at."""
    with db.read() as connection:
        return not look(connection).missing


def version(db: Database) -> str | None:
    """The revision of the reference's schema that the database is at, or None if it has none."""
    with db.read() as connection:
        return _revision(connection)


def stamp(db: Database, revision: str) -> None:
    """Record that the database is at a revision of the reference's schema, without looking or touching.

    A revision may be shortened as long as one only begins with it; `head` is the newest and `base` is none. The
    record of a revision that we do not know is somebody else's, and stays.
    """
    resolved = _resolve(revision)
    with db.change_schema() as connection:
        recorded = _revision(connection)
        if recorded is not None and recorded not in REFERENCE_REVISIONS:
            raise SchemaError(_UNKNOWN.format(revision=recorded, head=REFERENCE_HEAD))
        reference_version.create(connection, checkfirst=True)
        _set_revision(connection, resolved)


def look(connection: Connection) -> Found:
    return Found(_revision(connection), frozenset(inspect(connection).get_table_names()))


def _reference_tables() -> frozenset[str]:
    return frozenset(reference.tables) - {REFERENCE_VERSION_TABLE}


def holds_nothing(connection: Connection, found: Found) -> bool:
    """Whether there is no row of Placement's. Tables without rows are what an interrupted `sync` may leave."""
    tables = (reference.tables[name] for name in found.present & _reference_tables())
    return all(connection.execute(select(table).limit(1)).first() is None for table in tables)


def refuse_unless_at_head(found: Found) -> None:
    match found.revision:
        case str(revision) if revision == REFERENCE_HEAD:
            if found.missing:
                missing = ", ".join(sorted(found.missing))
                raise SchemaError(_INCOMPLETE.format(revision=revision, missing=missing))
        case str(revision) if revision in REFERENCE_REVISIONS:
            raise SchemaError(_OLDER.format(revision=revision, head=REFERENCE_HEAD))
        case str(revision):
            raise SchemaError(_UNKNOWN.format(revision=revision, head=REFERENCE_HEAD))
        case None:
            raise SchemaError(_UNVERSIONED)


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
    # Its plugins, which it lists in the log when it is imported, are of no use to an operator.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)
    # Imported here because most starts find the tables current, and Alembic takes long to import.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise SchemaError(_NEWER.format(revision=revision))
    command.upgrade(config, "head")
