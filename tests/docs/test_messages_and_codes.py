# SPDX-License-Identifier: Apache-2.0

"""Every log message of level WARNING or above, and every error code, is on a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.http import problems
from tests.docs.log_messages import LogMessage, messages

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (WARNING|ERROR|CRITICAL) \| `(.+?)` \| (.+) \|$", re.MULTILINE)
MESSAGES = messages()


def documented() -> set[tuple[str, str]]:
    rows = ROW.findall((ROOT / "docs" / "messages.md").read_text())
    return {(level, text) for level, text, _ in rows}


def shown(text: str) -> str:
    return text.replace("`", "")


def test_there_are_messages() -> None:
    assert len(MESSAGES) > 30


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.place)
def test_each_message_is_on_the_page(message: LogMessage) -> None:
    levels = [message.level] if message.level else ["WARNING", "ERROR"]
    rows = documented()
    assert any((level, shown(message.text)) in rows for level in levels), (
        f"docs/messages.md lacks `{shown(message.text)}`"
    )


def test_the_page_has_no_message_that_does_not_exist() -> None:
    known = {shown(message.text) for message in MESSAGES}
    assert {text for _, text in documented()} - known == set()


def test_the_page_of_codes_has_each_code_and_no_other() -> None:
    codes = {
        value
        for value in vars(problems).values()
        if isinstance(value, str)
        and not value.startswith("plimsoll.http")
        and re.fullmatch(r"(placement|plimsoll)\.[a-z_.]+", value)
    }
    page = (ROOT / "docs" / "errors.md").read_text()
    assert set(re.findall(r"^\| `([a-z_.]+)` \|", page, re.MULTILINE)) == codes
