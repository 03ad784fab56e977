# SPDX-License-Identifier: Apache-2.0

"""The commands `placement-manage`, `placement-status` and `placement-api`.

They have the options, the output and the exit status of Placement's commands.
"""
