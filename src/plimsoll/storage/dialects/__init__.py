# SPDX-License-Identifier: Apache-2.0

"""One module per kind of database. The rest of storage uses the same SQL for all of them."""
