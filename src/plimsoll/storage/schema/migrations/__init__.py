# SPDX-License-Identifier: Apache-2.0

"""The revisions of Plimsoll's own tables, an Alembic chain separate from the reference's."""
