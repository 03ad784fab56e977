# SPDX-License-Identifier: Apache-2.0

"""Benchmarks of Plimsoll and the reference: both on one machine and one kind of database, with the same client.

`python -m bench` measures and prints the table, `python -m bench profile` shows the time of each stage of a request,
`python -m bench page` writes docs/performance.md from the stored results.
"""
