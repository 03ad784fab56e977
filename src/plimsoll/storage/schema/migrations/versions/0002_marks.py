# SPDX-License-Identifier: Apache-2.0

"""Marks: the head and every change say whose write they are, so that two histories are never confused."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    inspector = sa.inspect(op.get_bind())
    for table in ("plimsoll_head", "plimsoll_changes"):
        # Not every database undoes half a migration: what an interrupted one has left is taken as it is.
        if not any(column["name"] == "mark" for column in inspector.get_columns(table)):
            mark = sa.Column("mark", sa.BigInteger, nullable=False, server_default=sa.text("0"))
            op.add_column(table, mark)
