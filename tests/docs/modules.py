# SPDX-License-Identifier: Apache-2.0

"""Write the list of all modules in ARCHITECTURE.md from their docstrings: `make docs`."""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "plimsoll"
PAGE = ROOT / "ARCHITECTURE.md"

BEGIN = "This list is written by `make docs` from the first lines of the modules.\n"


def first_line(module: Path) -> str:
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(module.read_text())) or "").split("\n", 1)[0]


def modules() -> list[Path]:
    """Return all modules, package by package. Migrations are left out: they are never changed."""
    found = [
        path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" and "versions" not in path.parts
    ]
    return sorted(found, key=lambda path: (path.parent.relative_to(SOURCE).parts, path.name))


def listing() -> str:
    lines: list[str] = []
    for folder, members in groupby(modules(), key=lambda path: path.parent):
        name = "" if folder == SOURCE else f"{folder.relative_to(SOURCE)}/"
        lines += ["", f"**{name or 'src/plimsoll/'}**: {first_line(folder / '__init__.py')}", ""]
        lines += [f"- `{name}{path.name}`: {first_line(path)}" for path in members]
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the page with an up-to-date list at its end."""
    before, _, _ = PAGE.read_text().partition(BEGIN)
    return before + BEGIN + listing()


if __name__ == "__main__":
    PAGE.write_text(page())
