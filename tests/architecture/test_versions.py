# SPDX-License-Identifier: Apache-2.0

"""Only api/placement/features.py has the numbers of API versions. All other files name a feature.

A version is `1.28` in a string, a docstring or a comment, or the pair `(1, 28)` in code.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "plimsoll"
FEATURES = SOURCE / "api" / "placement" / "features.py"
HTTP = SOURCE / "server"
"""Does not depend on the API: its version numbers are those of HTTP."""

VERSION = re.compile(r"(?<![\d.])1\.(?:[0-9]|[12][0-9]|3[0-9])(?![\d.]*\d)(?!%)")
TEXT = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def versions_in(text: str) -> list[str]:
    found = [
        f"{token.start[0]}: {match[0]}"
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in TEXT
        for match in VERSION.finditer(token.string)
    ]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            values = [element.value for element in node.elts if isinstance(element, ast.Constant)]
            if len(values) == 2 and values[0] == 1 and type(values[1]) is int and 0 <= values[1] <= 39:
                found.append(f"{node.lineno}: {tuple(values)}")
    return found


def test_only_the_table_of_features_has_version_numbers() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{place}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file != FEATURES and HTTP not in file.parents
        for place in versions_in(file.read_text())
    ]
    assert found == [], "name the feature instead (api/placement/features.py)"


@pytest.mark.parametrize(
    "text",
    ['"since 1.28"', "# from 1.8 on", '"""Needs 1.0."""', "x = (1, 12)", "if version >= (1, 39): pass"],
)
def test_a_version_number_is_found(text: str) -> None:
    assert len(versions_in(text)) == 1


@pytest.mark.parametrize(
    "text",
    ['"127.0.0.1"', "ratio = 1.5", '"SQLAlchemy 2.1.8"', '"11.2"', '"1.1.1"', "x = (2, 12)", '"1.100"'],
)
def test_other_numbers_are_not_findings(text: str) -> None:
    assert versions_in(text) == []
