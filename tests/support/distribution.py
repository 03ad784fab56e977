# SPDX-License-Identifier: Apache-2.0

"""Distribution of tests to the processes of pytest-xdist: by module and engine, in the order of the collection.

That order has all tests on one engine together, so that each process starts each server once. By test, as pytest-xdist does
it, both processes run the set-ups of a module; by module alone, each module would start all servers again.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.support.databases import ENGINES

_ENGINE = re.compile(rf"\[(?:.*-)?({'|'.join(ENGINES)})[-\]]")


def unit_of(nodeid: str) -> str:
    """Return the name of the unit that a test belongs to."""
    module, _, test = nodeid.partition("::")
    engine = _ENGINE.search(test)
    return f"{module} on {engine[1]}" if engine else module


class ByModuleAndEngine(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
