# SPDX-License-Identifier: Apache-2.0

"""Every table, as SQLAlchemy Core objects.

The tables in `reference` are those of openstack-placement 16.0.0 at its schema revision REFERENCE_HEAD, down
to the names of their constraints, so that either service can run on the other's database. The tables in `own`
have the prefix `plimsoll_`: the head, the change log, the epoch, and the searches that found nothing.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    Unicode,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import mysql

from plimsoll.storage.head import HEAD_GUARD

REFERENCE_HEAD = "a082b8bb98d0"

# Oldest first. A database at any revision but the last was migrated by an older Placement.
REFERENCE_REVISIONS = ("b4ed3a175331", "611cd6dffd7b", "b5c396305c25", "422ece571366", REFERENCE_HEAD)

REFERENCE_VERSION_TABLE = "alembic_version"
OWN_VERSION_TABLE = "plimsoll_alembic_version"

# The newest of `migrations/versions`, repeated here: a service whose tables are current does not load them.
OWN_HEAD = "0004"

reference = MetaData()
own = MetaData()


def _timestamps() -> tuple[Column[object], Column[object]]:
    return Column("created_at", DateTime), Column("updated_at", DateTime)


resource_classes = Table(
    "resource_classes",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("name", String(255), nullable=False),
    UniqueConstraint("name", name="uniq_resource_classes0name"),
)

traits = Table(
    "traits",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("name", Unicode(255), nullable=False),
    UniqueConstraint("name", name="uniq_traits0name"),
)

resource_providers = Table(
    "resource_providers",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("uuid", String(36), nullable=False),
    Column("name", Unicode(200)),
    Column("generation", Integer),
    Column("root_provider_id", Integer),
    Column("parent_provider_id", Integer),
    # The order matters, here and below: MySQL derives names from it.
    ForeignKeyConstraint(["parent_provider_id"], ["resource_providers.id"]),
    ForeignKeyConstraint(["root_provider_id"], ["resource_providers.id"]),
    UniqueConstraint("uuid", name="uniq_resource_providers0uuid"),
    UniqueConstraint("name", name="uniq_resource_providers0name"),
    Index("resource_providers_root_provider_id_idx", "root_provider_id"),
    Index("resource_providers_parent_provider_id_idx", "parent_provider_id"),
)

# Like the reference, inventories, allocations and aggregates have no foreign keys: `integrity` checks them.
inventories = Table(
    "inventories",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("resource_provider_id", Integer, nullable=False),
    Column("resource_class_id", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("reserved", Integer, nullable=False),
    Column("min_unit", Integer, nullable=False),
    Column("max_unit", Integer, nullable=False),
    Column("step_size", Integer, nullable=False),
    Column("allocation_ratio", Float, nullable=False),
    UniqueConstraint(
        "resource_provider_id", "resource_class_id", name="uniq_inventories0resource_provider_resource_class"
    ),
    Index("inventories_resource_class_id_idx", "resource_class_id"),
)

allocations = Table(
    "allocations",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("resource_provider_id", Integer, nullable=False),
    # The consumer's uuid: unlike the columns beside it, this one holds no row id.
    Column("consumer_id", String(36), nullable=False),
    Column("resource_class_id", Integer, nullable=False),
    Column("used", Integer, nullable=False),
    Index(
        "allocations_resource_provider_class_used_idx", "resource_provider_id", "resource_class_id", "used"
    ),
    Index("allocations_resource_class_id_idx", "resource_class_id"),
    Index("allocations_consumer_id_idx", "consumer_id"),
)

placement_aggregates = Table(
    "placement_aggregates",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("uuid", String(36)),
    UniqueConstraint("uuid", name="uniq_placement_aggregates0uuid"),
)

resource_provider_aggregates = Table(
    "resource_provider_aggregates",
    reference,
    *_timestamps(),
    Column("resource_provider_id", Integer, primary_key=True, autoincrement=False),
    Column("aggregate_id", Integer, primary_key=True, autoincrement=False),
    Index("resource_provider_aggregates_aggregate_id_idx", "aggregate_id"),
)

resource_provider_traits = Table(
    "resource_provider_traits",
    reference,
    *_timestamps(),
    Column("trait_id", Integer, primary_key=True, autoincrement=False),
    Column("resource_provider_id", Integer, primary_key=True, autoincrement=False),
    ForeignKeyConstraint(["resource_provider_id"], ["resource_providers.id"]),
    ForeignKeyConstraint(["trait_id"], ["traits.id"]),
    Index("resource_provider_traits_resource_provider_trait_idx", "resource_provider_id", "trait_id"),
)

projects = Table(
    "projects",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("external_id", String(255), nullable=False),
    UniqueConstraint("external_id", name="uniq_projects0external_id"),
)

users = Table(
    "users",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("external_id", String(255), nullable=False),
    UniqueConstraint("external_id", name="uniq_users0external_id"),
)

consumer_types = Table(
    "consumer_types",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("name", Unicode(255), nullable=False),
    UniqueConstraint("name", name="uniq_consumer_types0name"),
)

consumers = Table(
    "consumers",
    reference,
    *_timestamps(),
    Column("id", Integer, primary_key=True),
    Column("uuid", String(36), nullable=False),
    Column("project_id", Integer, nullable=False),
    Column("user_id", Integer, nullable=False),
    Column("generation", Integer, nullable=False, server_default=text("0")),
    Column(
        "consumer_type_id", Integer, ForeignKey("consumer_types.id", name="consumers_consumer_type_id_fkey")
    ),
    UniqueConstraint("uuid", name="uniq_consumers0uuid"),
    Index("consumers_project_id_uuid_idx", "project_id", "uuid"),
    Index("consumers_project_id_user_id_uuid_idx", "project_id", "user_id", "uuid"),
    Index("consumers_consumer_type_id_idx", "consumer_type_id"),
)

reference_version = Table(
    REFERENCE_VERSION_TABLE,
    reference,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

# 64 bits on all databases; SQLite requires INTEGER for a primary key that is the rowid.
_SEQUENCE = BigInteger().with_variant(Integer, "sqlite")
_TIME = DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")

own_version = Table(
    OWN_VERSION_TABLE,
    own,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="plimsoll_alembic_version_pkc"),
)

head = Table(
    "plimsoll_head",
    own,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("mark", BigInteger, nullable=False, server_default=text("0")),
    CheckConstraint("id = 1", name=HEAD_GUARD),
)

changes = Table(
    "plimsoll_changes",
    own,
    Column("seq", _SEQUENCE, primary_key=True, autoincrement=False),
    Column("at", _TIME, nullable=False),
    Column("request_id", String(64)),
    Column("user_id", String(255)),
    Column("project_id", String(255)),
    Column("operation", String(64), nullable=False),
    Column("effects", Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb"), nullable=False),
    # Identifies the write: every batch has its own random number.
    Column("mark", BigInteger, nullable=False, server_default=text("0")),
    Column("global_request_id", String(64)),
)

epoch = Table(
    "plimsoll_epoch",
    own,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    # Eight random hexadecimal digits: with the number of a change they identify a revision.
    Column("epoch", String(8), nullable=False),
    CheckConstraint("id = 1", name="plimsoll_epoch_is_one_row"),
)


def _explanation() -> tuple[Column[object], ...]:
    return (
        Column("revision", String(32), nullable=False),
        Column("reason", String(64), nullable=False),
        Column("verdict", String(16), nullable=False),
        Column("summary", Text, nullable=False),
    )


# One row for all searches of a project with the same query and microversion. Texts may have any character, whatever
# the character set of the database is. Unique constraints that end with the id serve as indexes: CREATE TABLE has them.
unplaced = Table(
    "plimsoll_unplaced",
    own,
    Column("id", _SEQUENCE, primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("project_id", String(255)),
    Column("user_id", String(255)),
    Column("query", Text, nullable=False),
    Column("microversion", String(16), nullable=False),
    Column("searches", BigInteger, nullable=False),
    Column("first_at", _TIME, nullable=False),
    Column("last_at", _TIME, nullable=False),
    *_explanation(),
    UniqueConstraint("fingerprint", name="uniq_plimsoll_unplaced0fingerprint"),
    UniqueConstraint("last_at", "id", name="uniq_plimsoll_unplaced0last_at"),
    mysql_charset="utf8mb4",
)

# One row per search, which its request ids find. It has no foreign key: both tables are pruned on their own.
unplaced_requests = Table(
    "plimsoll_unplaced_requests",
    own,
    Column("id", _SEQUENCE, primary_key=True),
    Column("unplaced_id", BigInteger, nullable=False),
    Column("at", _TIME, nullable=False),
    Column("request_id", String(64)),
    Column("global_request_id", String(64)),
    Column("user_id", String(255)),
    *_explanation(),
    UniqueConstraint("unplaced_id", "id", name="uniq_plimsoll_unplaced_requests0unplaced_id"),
    UniqueConstraint("request_id", "id", name="uniq_plimsoll_unplaced_requests0request_id"),
    UniqueConstraint("global_request_id", "id", name="uniq_plimsoll_unplaced_requests0global_request_id"),
    mysql_charset="utf8mb4",
)
