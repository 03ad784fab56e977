# SPDX-License-Identifier: Apache-2.0

"""Each file says under which licence it is and what it promises, and keeps to one trade."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src", ROOT / "as-placement" / "src")
FILES = sorted(file for source in SOURCES for file in source.rglob("*.py") if file.read_text().strip())

TRADES = {
    "HTTP": {"falcon", "http", "webob", "wsgiref"},
    "JSON": {"json", "orjson", "jsonschema", "jsonschema_rs"},
    "SQL": {"alembic", "sqlalchemy", "sqlite3"},
}


def trades(text: str) -> set[str]:
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported.add(node.module.partition(".")[0])
    return {trade for trade, modules in TRADES.items() if modules & imported}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_opens_with_its_licence_and_its_promise(file: Path) -> None:
    text = file.read_text()
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n\n")
    assert ast.get_docstring(ast.parse(text)), "a module opens with what it promises"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_http_json_and_sql_never_meet(file: Path) -> None:
    assert trades(file.read_text()) != set(TRADES)


def test_a_file_of_all_trades_would_be_found() -> None:
    assert trades("import json\nfrom falcon import HTTP_200\nimport sqlalchemy as sa\n") == set(TRADES)


def test_no_file_is_named_after_nothing() -> None:
    nameless = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py"}
    assert [file for file in FILES if file.name in nameless] == []
