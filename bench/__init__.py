# SPDX-License-Identifier: Apache-2.0

"""Plimsoll beside the reference: both on one machine and one kind of database, driven by the same client.

`python -m bench` measures and prints the table, `python -m bench profile` tells where the time of a request goes,
`python -m bench page` writes docs/performance.md from what was measured.
"""
