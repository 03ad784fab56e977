# SPDX-License-Identifier: Apache-2.0

"""The examples of deploy/, adapted for tests: other paths, ports, accounts, and numbers of processes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def text(name: str) -> str:
    return (DEPLOY / name).read_text()


def adapted(name: str, places: Mapping[str, object]) -> str:
    """Return an example with these texts replaced. Each of them must occur in it."""
    changed = text(name)
    for place, ours in places.items():
        assert place in changed, f"deploy/{name} has no {place!r}"
        changed = changed.replace(place, str(ours))
    return changed
