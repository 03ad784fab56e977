# SPDX-License-Identifier: Apache-2.0

"""Create the epoch, with its one row, and the tables of searches that found nothing."""

import secrets

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "plimsoll_epoch",
        sa.Column("id", sa.SmallInteger, autoincrement=False, nullable=False),
        sa.Column("epoch", sa.String(8), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("id = 1", name="plimsoll_epoch_is_one_row"),
        if_not_exists=True,
    )
    # Indexes are unique constraints that end with the id: these are part of CREATE TABLE, so that an interrupted
    # migration leaves no table without them, and the right to create tables is enough.
    op.create_table(
        "plimsoll_unplaced",
        _id(),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("project_id", sa.String(255)),
        sa.Column("user_id", sa.String(255)),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("microversion", sa.String(16), nullable=False),
        sa.Column("searches", sa.BigInteger, nullable=False),
        sa.Column("first_at", _time(), nullable=False),
        sa.Column("last_at", _time(), nullable=False),
        *_explanation(),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("fingerprint", name="uniq_plimsoll_unplaced0fingerprint"),
        sa.UniqueConstraint("last_at", "id", name="uniq_plimsoll_unplaced0last_at"),
        mysql_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "plimsoll_unplaced_requests",
        _id(),
        sa.Column("unplaced_id", sa.BigInteger, nullable=False),
        sa.Column("at", _time(), nullable=False),
        sa.Column("request_id", sa.String(64)),
        sa.Column("global_request_id", sa.String(64)),
        sa.Column("user_id", sa.String(255)),
        *_explanation(),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("unplaced_id", "id", name="uniq_plimsoll_unplaced_requests0unplaced_id"),
        sa.UniqueConstraint("request_id", "id", name="uniq_plimsoll_unplaced_requests0request_id"),
        sa.UniqueConstraint(
            "global_request_id", "id", name="uniq_plimsoll_unplaced_requests0global_request_id"
        ),
        mysql_charset="utf8mb4",
        if_not_exists=True,
    )
    # Not every database rolls back DDL: an interrupted migration may have inserted the row already.
    epoch = sa.table("plimsoll_epoch", sa.column("id", sa.SmallInteger), sa.column("epoch", sa.String(8)))
    if op.get_bind().scalar(sa.select(sa.func.count()).select_from(epoch)) == 0:
        op.bulk_insert(epoch, [{"id": 1, "epoch": secrets.token_hex(4)}])


def _id() -> sa.Column[int]:
    return sa.Column(
        "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
    )


def _time() -> sa.DateTime:
    return sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")


def _explanation() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("revision", sa.String(32), nullable=False),
        sa.Column("reason", sa.String(64), nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
    )
