# SPDX-License-Identifier: Apache-2.0

"""SQL: the tables, the engines, the statements and the migrations. Layers above the ledger contain no SQL."""
