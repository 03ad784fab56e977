# SPDX-License-Identifier: Apache-2.0

"""The page of commands has each command with each of its options."""

from __future__ import annotations

import click
import pytest

from tests.docs.commands import PAGE, PAGES_OF_COMMANDS, commands, page

COMMANDS = dict(commands())


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_there_are_commands_in_groups() -> None:
    assert {"plimsoll serve", "plimsoll db sync", "plimsoll status upgrade check"} <= COMMANDS.keys()
    assert PAGES_OF_COMMANDS.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_of_the_command_is_in_its_section(name: str) -> None:
    section = PAGE.read_text().partition(f"## `{name}`\n")[2].partition("\n## ")[0]
    assert section
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option):
            assert all(f"`{each}`" in section for each in option.opts), option.name
