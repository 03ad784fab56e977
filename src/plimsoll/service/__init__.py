# SPDX-License-Identifier: Apache-2.0

"""One function per use case. The only layer that combines domain, search and ledger."""
