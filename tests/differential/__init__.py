# SPDX-License-Identifier: Apache-2.0

"""Plimsoll and the reference with the same random initial data and the same random requests.

Every response and the state after every write are compared; a seed repeats a run exactly. See
`python -m tests.differential --help`.
"""
