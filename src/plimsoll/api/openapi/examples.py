# SPDX-License-Identifier: Apache-2.0

"""The examples of the OpenAPI documents: requests, and the responses of a real service to them.

The files are generated: `make docs` runs the requests and writes them, and a test compares them with the service.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import orjson

from plimsoll.api.openapi.placement import Examples
from plimsoll.api.placement.microversion import Version

DIRECTORY = Path(__file__).parent / "generated"
PLACEMENT, V1 = "placement.json", "v1.json"


@cache
def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = orjson.loads((DIRECTORY / name).read_bytes())
    return content


def placement_examples(version: Version) -> Examples:
    """Return the examples of a version. The file has, by route, each example once, with its first minor version."""
    found: dict[str, Any] = {}
    for route, several in _read(PLACEMENT).items():
        for each in several:
            if each["since"] <= version.minor:
                found[route] = each["example"]
    return found


def v1_examples() -> Examples:
    return _read(V1)
