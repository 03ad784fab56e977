# SPDX-License-Identifier: Apache-2.0

"""Add the column `global_request_id` to the changes: the request id that the client has sent."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    columns = sa.inspect(op.get_bind()).get_columns("plimsoll_changes")
    # Not every database rolls back DDL: an interrupted migration may have added the column already.
    if not any(column["name"] == "global_request_id" for column in columns):
        # Workers of the release before go on writing rows without it.
        op.add_column("plimsoll_changes", sa.Column("global_request_id", sa.String(64)))
