# SPDX-License-Identifier: Apache-2.0

"""ARCHITECTURE.md names files, classes and functions: each of them exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "plimsoll"
PAGE = ROOT / "ARCHITECTURE.md"

FILE = re.compile(r"`((?:[\w-]+/)*[\w.-]+\.(?:py|tsx?|ya?ml|json))`")
FOLDER = re.compile(r"`((?:[\w-]+/)+)`")
ROW = re.compile(r"^\| *\d* *\|? *`(?P<file>[\w/]+\.py)` *\| *(?P<names>`[^|]+`) *\|", re.MULTILINE)
"""A line of a table with a file, and then the names that the file defines."""


def texts() -> str:
    return PAGE.read_text()


@cache
def definitions(file: Path) -> frozenset[str]:
    """Classes and functions, methods as `Class.method`."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found.update(
                f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)
            )
    return frozenset(found)


@pytest.mark.parametrize("name", sorted(set(FILE.findall(texts()))))
def test_each_file_that_the_page_names_exists(name: str) -> None:
    assert any((place / name).is_file() for place in (SOURCE, ROOT)), name


@pytest.mark.parametrize("name", sorted(set(FOLDER.findall(texts()))))
def test_each_folder_that_the_page_names_exists(name: str) -> None:
    assert any((place / name).is_dir() for place in (SOURCE, ROOT)), name


def test_each_class_and_function_of_a_path_is_defined_in_its_file() -> None:
    rows = list(ROW.finditer(texts()))
    assert len(rows) >= 30
    missing = [
        f"{row['file']}: {name}"
        for row in rows
        for name in re.findall(r"`([^`]+)`", row["names"])
        if name.removesuffix("()") not in definitions(SOURCE / row["file"])
    ]
    assert missing == []


def test_the_page_answers_twenty_questions_about_where_to_change_something() -> None:
    part = texts().partition("## Where to change what")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| [^|-][^|]*\|", part, re.MULTILINE)) - 1 >= 20
