# SPDX-License-Identifier: Apache-2.0

"""Write the page of commands from the command line interface: `make docs`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from plimsoll.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"

INTRODUCTION = """# Commands

Every command has `--help` (`-h`), which shows the same text. Options in brackets such as `[OS_CLOUD]` can also be given as an environment variable of that name.
[The commands of OpenStack Placement](guides/replace-the-commands.md) (`placement-manage`, `placement-status`) are a package of their own;
[`plimsoll explain` and `plimsoll why`](v1/commands.md) have a page with examples and their answers.

This page is generated from the commands by `make docs`.
"""
PAGES_OF_COMMANDS = {
    "plimsoll config": "[configuration](configuration.md#commands)",
    "plimsoll db sync": "[take over](guides/take-over.md), [upgrade](guides/upgrade.md)",
    "plimsoll db verify": "[take over](guides/take-over.md#afterwards)",
    "plimsoll db stamp": "[databases of older releases](guides/take-over.md#databases-of-older-releases)",
    "plimsoll db online_data_migrations": "[take over](guides/take-over.md#afterwards)",
    "plimsoll demo": "[a demo](guides/demo.md)",
    "plimsoll explain": "[the commands `plimsoll explain` and `plimsoll why`](v1/commands.md)",
    "plimsoll policy": "[policy](policy.md#commands)",
    "plimsoll serve": "[deploy](guides/deploy.md), [operating](guides/operating.md)",
    "plimsoll status upgrade check": "[take over](guides/take-over.md#before-check-the-database)",
    "plimsoll why": "[no valid host](guides/no-valid-host.md)",
}
"""Where to read more."""


def commands(command: click.Command = main, name: str = "plimsoll") -> Iterator[tuple[str, click.Command]]:
    """Yield each command with its whole name: groups first, then what they have."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            child = command.get_command(context, each)
            assert child is not None
            if not child.hidden:
                yield from commands(child, f"{name} {each}")


def page() -> str:
    lines = [INTRODUCTION]
    for name, command in commands():
        lines += [f"## `{name}`", "", *_usage(name, command), *_help(command)]
        if name in PAGES_OF_COMMANDS:
            lines += [f"More: {PAGES_OF_COMMANDS[name]}.", ""]
        lines += _parts(name, command)
    return "\n".join(lines).rstrip("\n") + "\n"


def _usage(name: str, command: click.Command) -> Iterator[str]:
    pieces = command.collect_usage_pieces(click.Context(command))
    yield f"Usage: `{' '.join([name, *pieces])}`"
    yield ""


def _help(command: click.Command) -> Iterator[str]:
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            _, title, *examples = paragraph.split("\n")
            yield from (title, "", "```text", *(line.strip() for line in examples), "```", "")
        else:
            yield from (_prose(" ".join(paragraph.split())), "")


def _parts(name: str, command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        yield from ("| command | |", "|---|---|")
        context = click.Context(command)
        for each in command.list_commands(context):
            child = command.get_command(context, each)
            assert child is not None
            anchor = f"{name} {each}".replace(" ", "-")
            yield f"| [`{name} {each}`](#{anchor}) | {_cell(child.get_short_help_str(200))} |"
        yield ""
    rows = [_row(each) for each in command.params if isinstance(each, click.Option) and not each.hidden]
    if rows:
        yield from ("| option | |", "|---|---|")
        yield from (f"| {names} | {_cell(text)} |" for names, text in rows)
        yield ""


def _row(option: click.Option) -> tuple[str, str]:
    context = click.Context(main)
    shown, text = option.get_help_record(context) or ("", "")
    names = ", ".join(f"`{each}`" for each in option.opts)
    metavar = shown.partition(" ")[2].strip()
    value = metavar.replace("|", "\\|")
    return (f"{names} `{value}`" if value else names), " ".join(text.split())


def _prose(text: str) -> str:
    """Mark options, paths and variables that the help has without marks."""
    pieces = re.split(r"(`[^`]*`)", text)
    word = r"(?<![\w/`.-])(--[a-z][\w-]*|\./[\w./-]+|/[a-z][\w./-]*[\w]|OS_[\w<>*]+|\[\w+\]\w*)"
    return "".join(piece if piece.startswith("`") else re.sub(word, r"`\1`", piece) for piece in pieces)


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|").replace("*.conf", "`*.conf`")


if __name__ == "__main__":
    PAGE.write_text(page())
