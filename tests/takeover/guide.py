# SPDX-License-Identifier: Apache-2.0

"""What docs/guides/take-over.md tells to run, and what it says that is printed, by the names of its steps."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "take-over.md"


def commands(step: str) -> str:
    """The lines to copy at a step."""
    return _block(f"sh {step}")


def statements(step: str) -> list[str]:
    """The SQL to run at a step."""
    return [line.strip() for line in _block(f"sql {step}").split(";") if line.strip()]


def printed(step: str) -> str:
    """What a step is said to print."""
    return _block(f"text {step}")


def cells(table: str) -> dict[str, str]:
    """What each check of a table says, without the room between words: where lines break depends on their length."""
    found = {}
    for cell in re.split(r"^\+-+\+$", table, flags=re.MULTILINE):
        said = "".join(line.strip("| ") for line in cell.splitlines()).replace(" ", "")
        name = re.search(r"Check: (.*?) *\|", cell)
        if name:
            found[name[1]] = said
    return found


def _block(opening: str) -> str:
    found = re.findall(
        rf"^( *)```{re.escape(opening)}\n(.*?)^ *```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    assert len(found) == 1, f"the page has {len(found)} blocks {opening!r}"
    return textwrap.dedent(found[0][1])
