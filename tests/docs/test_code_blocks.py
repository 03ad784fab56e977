# SPDX-License-Identifier: Apache-2.0

"""Every code block of the documentation is run or checked by a test, or is marked as output or as commands that are not run.

A block `text` is output. A block `console commands` is for the machine of the reader: the commands of Plimsoll, their
options and the targets of make in it are checked here, nothing is run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from plimsoll.config import loader
from tests.docs.commands import commands

ROOT = Path(__file__).parents[2]
TESTED = {
    ("*", "text"): "output",
    ("*", "console commands"): "this module",
    ("*", "console sample-cloud"): "test_v1_pages.py",
    ("*", "console empty-cloud"): "test_v1_pages.py",
    ("*", "sh empty-cloud"): "test_v1_pages.py",
    ("docs/v1/*", "console"): "test_v1_pages.py",
    ("docs/v1/changes.md", "python"): "test_follow_example.py",
    ("docs/api/*", "http"): "test_api_reference.py",
    ("docs/api/*", "json"): "test_api_reference.py",
    ("docs/start/tour.md", "sh"): "test_tour.py",
    ("docs/start/tour.md", "sh refused"): "test_tour.py",
    ("docs/start/five-minutes.md", "sh demo-cloud"): "test_five_minutes.py",
    ("docs/guides/take-over.md", "sh *"): "tests/takeover",
    ("docs/guides/take-over.md", "text *"): "tests/takeover",
    ("docs/guides/take-over.md", "sql *"): "tests/takeover",
    ("docs/guides/backup.md", "sh *"): "test_backup.py",
    ("docs/guides/hardening.md", "sql *"): "tests/deploy/test_rights.py",
    ("docs/guides/hardening.md", "yaml"): "tests/api/v1/test_policy_file.py",
    ("docs/guides/example-files.md", "{literalinclude} *"): "make site",
    ("docs/guides/clients.md", "sh"): "tests/cloud/clients/test_guide.py",
    ("docs/guides/clients.md", "python"): "tests/cloud/clients/test_guide.py",
    ("docs/guides/kolla-ansible.md", "dockerfile"): "tests/deploy/test_pages.py",
    ("docs/guides/openstack-helm.md", "dockerfile"): "tests/deploy/test_pages.py",
    ("docs/guides/kolla-ansible.md", "yaml"): "said on the page to be not run",
    ("docs/guides/openstack-ansible.md", "yaml"): "said on the page to be not run",
    ("docs/guides/openstack-helm.md", "yaml"): "said on the page to be not run",
    ("docs/guides/replace-the-commands.md", "ini"): "tests/as_placement",
    ("docs/guides/*", "ini"): "this module",
    ("docs/access.md", "ini"): "this module",
    ("docs/performance.md", "console"): "the bench, which writes the page",
    ("docs/index.md", "{toctree}"): "make site",
}
"""Which test has the blocks of a page: patterns of the page and of the words after the fence."""
OPTIONS = {(group, opt.name) for group, opts in loader.list_opts() for opt in opts}
SECTIONS_OF_LIBRARIES = ("keystone_authtoken", "oslo_middleware", "oslo_policy", "uwsgi")
COMMANDS = dict(commands())
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


class Block(NamedTuple):
    page: str
    line: int
    kind: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks() -> Iterator[Block]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        opened: tuple[int, str] | None = None
        text: list[str] = []
        for number, line in enumerate(page.read_text().splitlines(), start=1):
            fence = re.match(r" *```(.*)$", line)
            if not fence:
                text.append(line)
            elif opened is None:
                opened, text = (number, fence[1].strip()), []
            else:
                yield Block(str(page.relative_to(ROOT)), *opened, "\n".join(text))
                opened = None
        assert opened is None, f"{page}: a block is not closed"


BLOCKS = list(blocks())
FOR_READERS = [block for block in BLOCKS if block.kind == "console commands"]
SETTINGS = [block for block in BLOCKS if block.kind == "ini" and "uwsgi" not in block.text.partition("\n")[0]]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_the_block_has_a_test_or_is_marked(block: Block) -> None:
    assert any(fnmatch(block.page, page) and fnmatch(block.kind, kind) for page, kind in TESTED), (
        f"`{block.kind}`: name its test here, or mark it as `text` (output) or `console commands` (not run)"
    )


def test_each_kind_of_block_occurs() -> None:
    unused = [
        (page, kind)
        for page, kind in TESTED
        if not any(fnmatch(block.page, page) and fnmatch(block.kind, kind) for block in BLOCKS)
    ]
    assert unused == []


@pytest.mark.parametrize("block", FOR_READERS, ids=lambda block: block.place)
def test_commands_of_the_block_exist_with_their_options(block: Block) -> None:
    lines = re.findall(r"^ *[$#] (.+)$", block.text.replace("\\\n", " "), re.MULTILINE)
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)
        while words and ("=" in words[0] or words[0] in ("sudo", "podman", "run")):
            del words[0]
        if words and words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= TARGETS, line
        elif words and Path(words[0]).name == "plimsoll":
            _check(words[1:], line)


def _check(words: list[str], line: str) -> None:
    name = "plimsoll"
    while words and f"{name} {words[0]}" in COMMANDS:
        name = f"{name} {words.pop(0)}"
    command = COMMANDS[name]
    assert not isinstance(command, click.Group) or not words or words[0].startswith("-"), line
    known = {opt for each in command.params for opt in (*each.opts, *each.secondary_opts)}
    for word in words:
        if word.startswith("--"):
            assert word.partition("=")[0] in {*known, "--help"}, f"{line}: no option {word}"


@pytest.mark.parametrize("block", SETTINGS, ids=lambda block: block.place)
def test_settings_of_the_block_exist(block: Block) -> None:
    group = ""
    for line in block.text.splitlines():
        if line.startswith("["):
            group = line.strip("[]")
        elif re.match(r"\w+ *=", line) and group not in SECTIONS_OF_LIBRARIES:
            assert (group, line.partition("=")[0].strip()) in OPTIONS, line
