# SPDX-License-Identifier: Apache-2.0

"""The commands `placement-manage`, `placement-status` and `placement-api`.

They take what Placement's commands take, print what those print and exit with what those exit with.
"""
