# SPDX-License-Identifier: Apache-2.0

"""Attacks on a real `plimsoll serve` process, the HTTP conformance table, and the request fuzzer.

`python -m tests.attacks` measures what a second client of the same worker experiences during each attack. The tests
of this folder run the same attacks and assert counts, bytes, order and statuses, never times.
"""
