# SPDX-License-Identifier: Apache-2.0

"""Where could this fit? Filters over columns, then a lazy, pruned combination of what survived."""
