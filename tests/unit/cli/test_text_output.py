# SPDX-License-Identifier: Apache-2.0

"""Texts of the service are printed without control characters, and wrapped on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from plimsoll.cli.text_output import printable, wrapped

PROGRAM = (
    "from plimsoll.cli.text_output import print_text; print_text('First.\\n\\n  ' + 'word ' * 20, 'never')"
)


def test_control_characters_of_names_do_not_reach_the_terminal() -> None:
    assert printable("a\x1b[31mb\x07\r\n\u202ec é") == "a�[31mb��\n�c é"


def test_a_line_is_broken_at_the_width_and_indented() -> None:
    assert (
        wrapped("  " + "word " * 12, 40)
        == "  word word word word word word word\n    word word word word word"
    )
    assert wrapped("", 80) == ""
    assert wrapped("x" * 60, 40) == "x" * 60


def on_a_terminal(columns: int, **more: str) -> str:
    """Run the program with a terminal as its output."""
    leader, follower = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment = {**clean, "COLUMNS": str(columns), "TERM": "xterm", **more}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=follower, env=environment)
    os.close(follower)
    chunks = []
    while True:
        try:
            chunk = os.read(leader, 4096)
        except OSError:  # Linux reports the end of a terminal so
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(leader)
    assert process.wait(30) == 0
    return b"".join(chunks).decode().replace("\r\n", "\n")


def test_a_terminal_gets_colours_and_its_width() -> None:
    lines = on_a_terminal(60).split("\n")
    assert lines[0].startswith("\x1b[") and "First." in lines[0]
    assert len(lines) > 4
    assert all(len(line) <= 60 for line in lines[1:])
    assert "\x1b" not in "".join(lines[1:])


def test_colours_can_be_turned_off() -> None:
    assert on_a_terminal(60, NO_COLOR="1").startswith("First.\n")


def test_a_pipe_gets_the_text_unchanged() -> None:
    printed = subprocess.check_output([sys.executable, "-c", PROGRAM], text=True)
    assert printed == "First.\n\n  " + "word " * 20 + "\n"
