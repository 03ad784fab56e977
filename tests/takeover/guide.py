# SPDX-License-Identifier: Apache-2.0

"""Parse the commands and the expected output of docs/guides/take-over.md, by step name."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "take-over.md"


def commands(step: str) -> str:
    """Return the shell commands of a step."""
    return _block(f"sh {step}")


def statements(step: str) -> list[str]:
    """Return the SQL statements of a step."""
    return [line.strip() for line in _block(f"sql {step}").split(";") if line.strip()]


def printed(step: str) -> str:
    """Return the expected output of a step."""
    return _block(f"text {step}")


def cells(table: str) -> dict[str, str]:
    """Return the text of each check in a table, without spaces: line breaks depend on the width."""
    found = {}
    for cell in re.split(r"^\+-+\+$", table, flags=re.MULTILINE):
        text = "".join(line.strip("| ") for line in cell.splitlines()).replace(" ", "")
        name = re.search(r"Check: (.*?) *\|", cell)
        if name:
            found[name[1]] = text
    return found


def _block(opening: str) -> str:
    found = re.findall(
        rf"^( *)```{re.escape(opening)}\n(.*?)^ *```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    assert len(found) == 1, f"the page has {len(found)} blocks {opening!r}"
    return textwrap.dedent(found[0][1])
