# SPDX-License-Identifier: Apache-2.0

"""Create the head, with its one row, and the change log."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "plimsoll_head",
        sa.Column("id", sa.SmallInteger, autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("id = 1", name="plimsoll_head_is_one_row"),
        if_not_exists=True,
    )
    op.create_table(
        "plimsoll_changes",
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column(
            "at", sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb"), nullable=False
        ),
        sa.Column("request_id", sa.String(64)),
        sa.Column("user_id", sa.String(255)),
        sa.Column("project_id", sa.String(255)),
        sa.Column("operation", sa.String(64), nullable=False),
        sa.Column("effects", sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb"), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        if_not_exists=True,
    )
    # Not every database rolls back DDL: an interrupted migration may have inserted the row already.
    head = sa.table("plimsoll_head", sa.column("id", sa.SmallInteger), sa.column("seq", sa.BigInteger))
    if op.get_bind().scalar(sa.select(sa.func.count()).select_from(head)) == 0:
        op.bulk_insert(head, [{"id": 1, "seq": 0}])
