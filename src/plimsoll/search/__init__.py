# SPDX-License-Identifier: Apache-2.0

"""Search for providers and allocation candidates: filters over columns, then combination. See README.md."""
