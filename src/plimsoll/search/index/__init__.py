# SPDX-License-Identifier: Apache-2.0

"""The providers as rows, columns and bitsets, for the search."""
