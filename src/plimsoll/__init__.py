# SPDX-License-Identifier: Apache-2.0

"""Plimsoll: a Placement service that decides in memory and records in SQL."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("plimsoll-placement")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0.0.0"
