# SPDX-License-Identifier: Apache-2.0

"""Print texts of the service: on a terminal with colours and wrapped at its width, elsewhere unchanged."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

import click

COLOURS = {"found": "green", "not now": "yellow", "never": "red"}


def print_text(text: str, verdict: str) -> None:
    """Print an explanation; its first paragraph has the colour of the verdict."""
    lines = printable(text).rstrip("\n").split("\n")
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    has_colours = is_terminal and not os.environ.get("NO_COLOR")
    is_first = True
    for line in lines:
        is_first = is_first and bool(line)
        shown = wrapped(line, width) if is_terminal else line
        click.echo(
            click.style(shown, fg=COLOURS.get(verdict), bold=True) if is_first and has_colours else shown
        )


def printable(text: str) -> str:
    """Replace control characters: names of providers may have any, and a terminal interprets them."""
    return "".join(
        char if char == "\n" or char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def wrapped(line: str, width: int) -> str:
    """Break a line at the width; the lines after the first are indented two more than it."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return "\n".join(
        textwrap.wrap(
            line,
            max(width, 40),
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
