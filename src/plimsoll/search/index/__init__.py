# SPDX-License-Identifier: Apache-2.0

"""The search index: providers as rows, columns and bitsets."""
