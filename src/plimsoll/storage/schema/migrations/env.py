# SPDX-License-Identifier: Apache-2.0

"""Alembic environment: runs on the connection that `plimsoll.storage.schema.migrate` passes.

That connection already holds the write lock and an open transaction, which the caller commits.
"""

from alembic import context

from plimsoll.storage import tables

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("These migrations run through `plimsoll db sync`.")

context.configure(
    connection=connection,
    target_metadata=tables.own,
    version_table=tables.OWN_VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
