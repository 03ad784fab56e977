# SPDX-License-Identifier: Apache-2.0

"""No cache grows with the length of client input: caches bounded only in entries need a reason, all are documented."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "plimsoll"
PAGE = ROOT / "docs" / "internals" / "caches.md"

UNBOUNDED_IN_BYTES = {"lru_cache", "cache"}
BOUNDED_IN_BYTES = {"bounded_cache", "BoundedCache"}

REASONS = {
    ("api/openapi/examples.py", "_read"): "the name of one of two files",
    ("access/keystone.py", "_environ_key"): "names of headers from the code of keystonemiddleware",
    ("cli/config_lint.py", "_old_names"): "of a command, not of the service",
    ("domain/provider.py", "_in_order"): "sets of traits that exist; a name has at most 255 characters",
    ("domain/values.py", "_fields_of"): "classes of our own",
    ("runtime/memory.py", "_malloc_trim"): "no argument",
    ("server/headers.py", "_cached_key"): "names of headers, short ones only",
    ("storage/dialects/collation.py", "ratio_in_single_precision"): "a number",
    ("storage/dialects/collation.py", "self._cached_key"): "texts of at most 64 characters",
    ("storage/fast/mysql_protocol.py", "_time"): "a time in the form of the database",
    ("storage/sql.py", "_update_rows"): "columns of our tables",
    ("storage/sql.py", "_insert_rows"): "columns of our tables",
    ("storage/sql.py", "_query"): "SQL of our own and a number",
    ("storage/sql.py", "_update_where"): "columns of our tables",
    ("storage/sql.py", "_time_formatter"): "a dialect",
    ("storage/sql.py", "format_time"): "a time",
    ("api/placement/views/providers.py", "_shared_json_cache"): "links of at most 4 kB",
    ("http/response.py", "_http_date"): "a time",
    ("server/response.py", "_http_date"): "a time",
}
"""Uses of functools.lru_cache and functools.cache, and why their keys cannot be long."""


def uses(names: set[str]) -> set[tuple[str, str]]:
    return {
        (str(file.relative_to(SOURCE)), name)
        for file in SOURCE.rglob("*.py")
        if file.name != "bounded_cache.py"
        for name in used_in(file.read_text(), names)
    }


def used_in(text: str, names: set[str]) -> Iterator[str]:
    """Yield the names of cached objects: decorated functions, or targets of assignments."""
    nodes = list(ast.walk(ast.parse(text)))
    imports = [each for each in nodes if isinstance(each, ast.ImportFrom)]
    imported = names & {alias.name for each in imports for alias in each.names}
    names = imported | {f"functools.{name}" for name in names}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(mentions(decorator, names) for decorator in node.decorator_list):
                yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value and mentions(node.value, names):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield ast.unparse(target)


def mentions(node: ast.AST, names: set[str]) -> bool:
    return any(
        isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each) in names for each in ast.walk(node)
    )


def test_each_cache_that_does_not_count_bytes_has_a_reason() -> None:
    assert uses(UNBOUNDED_IN_BYTES) == set(REASONS), (
        "A cache whose key has text of a request needs bounded_cache; another one needs a reason in REASONS."
    )


def test_each_cache_is_documented() -> None:
    documented = set(re.findall(r"`([\w/]+\.py)`", PAGE.read_text()))
    files = {file for file, _ in uses(UNBOUNDED_IN_BYTES | BOUNDED_IN_BYTES)}
    assert files <= documented
    assert [name for name in documented if not (SOURCE / name).exists() and not (ROOT / name).exists()] == []


def test_decorated_and_assigned_caches_are_found() -> None:
    text = """
import functools
from functools import lru_cache
from plimsoll.bounded_cache import BoundedCache
@functools.lru_cache(maxsize=1)
def decorated(): ...
assigned = lru_cache(maxsize=1)(decorated)
class Cached:
    def __init__(self):
        self.method = lru_cache(1)(self.compute)
        self.entries: BoundedCache[str, int] = BoundedCache(1, 1)
        self.flag = cache
"""
    assert set(used_in(text, {"lru_cache", "cache"})) == {"decorated", "assigned", "self.method"}
    assert set(used_in(text, {"BoundedCache"})) == {"self.entries"}
