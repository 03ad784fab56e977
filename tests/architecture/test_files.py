# SPDX-License-Identifier: Apache-2.0

"""Each file has a licence and a docstring, and none imports HTTP, JSON and SQL libraries at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src", ROOT / "as-placement" / "src")
FILES = sorted(file for source in SOURCES for file in source.rglob("*.py") if file.read_text().strip())

LIBRARIES = {
    "HTTP": {"falcon", "http", "webob", "wsgiref"},
    "JSON": {"json", "orjson", "jsonschema", "jsonschema_rs"},
    "SQL": {"alembic", "sqlalchemy", "sqlite3"},
}


def kinds_of_libraries(text: str) -> set[str]:
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported.add(node.module.partition(".")[0])
    return {kind for kind, modules in LIBRARIES.items() if modules & imported}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_begins_with_its_licence_and_a_docstring(file: Path) -> None:
    text = file.read_text()
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n\n")
    assert ast.get_docstring(ast.parse(text)), "the module has no docstring"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_file_imports_http_json_and_sql_libraries(file: Path) -> None:
    assert kinds_of_libraries(file.read_text()) != set(LIBRARIES)


def test_a_file_with_all_three_kinds_is_found() -> None:
    assert kinds_of_libraries("import json\nfrom falcon import HTTP_200\nimport sqlalchemy as sa\n") == set(
        LIBRARIES
    )


def test_no_file_is_a_collection_of_helpers() -> None:
    collections = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py"}
    assert [file for file in FILES if file.name in collections] == []
