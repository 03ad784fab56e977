# SPDX-License-Identifier: Apache-2.0

"""Add the column `mark` to the head and the changes: it identifies a write and distinguishes histories."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    inspector = sa.inspect(op.get_bind())
    for table in ("plimsoll_head", "plimsoll_changes"):
        # Not every database rolls back DDL: an interrupted migration may have added the column already.
        if not any(column["name"] == "mark" for column in inspector.get_columns(table)):
            mark = sa.Column("mark", sa.BigInteger, nullable=False, server_default=sa.text("0"))
            op.add_column(table, mark)
