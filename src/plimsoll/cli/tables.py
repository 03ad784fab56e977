# SPDX-License-Identifier: Apache-2.0

"""Text tables of +, - and |, exactly as Placement's commands print them, for tools that parse them."""

from __future__ import annotations

from collections.abc import Sequence


def centred(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Format a table with a ruled header; cells are centred in their columns."""
    lines = [tuple(map(str, row)) for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = "+".join(["", *("-" * (width + 2) for width in widths), ""])
    # str.center and Placement's library put the larger half of an odd padding on the same side.
    drawn = [
        "|".join(["", *(f" {cell.center(width)} " for cell, width in zip(line, widths, strict=True)), ""])
        for line in lines
    ]
    return "\n".join([rule, drawn[0], rule, *drawn[1:], rule] if rows else [rule, drawn[0], rule, rule])


def boxed(title: str, cells: Sequence[str]) -> str:
    """Format one left-aligned column with a rule after each cell; a cell may have several lines."""
    width = max(len(line) for cell in (title, *cells) for line in cell.splitlines())
    rule = f"+{'-' * (width + 2)}+"
    drawn = [rule]
    for cell in (title, *cells):
        drawn += [f"| {line:<{width}} |" for line in cell.splitlines()]
        drawn.append(rule)
    return "\n".join(drawn)
