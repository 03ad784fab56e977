# SPDX-License-Identifier: Apache-2.0

"""One function per use case. The only place that puts domain, search and ledger together."""
