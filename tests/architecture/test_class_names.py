# SPDX-License-Identifier: Apache-2.0

"""Class names are unique in src/, so that a search for a name finds one class."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


def classes_in(source: Path) -> dict[str, list[str]]:
    """Return the places of each class name, as path and line."""
    places: dict[str, list[str]] = defaultdict(list)
    for file in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{file.relative_to(source)}:{node.lineno}")
    return places


def duplicates_in(source: Path) -> list[str]:
    return [
        f"{name}: {', '.join(places)}"
        for name, places in sorted(classes_in(source).items())
        if len(places) > 1
    ]


def test_no_two_classes_have_the_same_name() -> None:
    assert len(classes_in(SOURCE)) > 100
    assert duplicates_in(SOURCE) == []


def test_a_second_class_with_the_same_name_is_found_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text("class Index:\n    class Row: ...\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "second.py").write_text("x = 1\ndef make():\n    class Row: ...\n")
    assert duplicates_in(tmp_path) == ["Row: first.py:2, package/second.py:3"]
