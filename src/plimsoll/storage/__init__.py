# SPDX-License-Identifier: Apache-2.0

"""SQL: the tables, the engines, the statements and the migrations. Nothing above the ledger speaks SQL."""
