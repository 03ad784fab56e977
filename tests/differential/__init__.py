# SPDX-License-Identifier: Apache-2.0

"""Plimsoll and the reference, side by side: the same random worlds, the same random requests.

Every answer and the state after every write are compared; a seed repeats a run exactly. See
`python -m tests.differential --help`.
"""
