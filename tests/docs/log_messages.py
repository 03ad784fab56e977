# SPDX-License-Identifier: Apache-2.0

"""The messages that the code logs at level WARNING or above, found in its syntax trees."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEVELS = {"warning": "WARNING", "error": "ERROR", "exception": "ERROR", "critical": "CRITICAL"}
LOGGERS = ("LOG", "_LOG")


@dataclass(frozen=True, slots=True)
class LogMessage:
    level: str
    """Empty if it is computed."""
    text: str
    place: str


def messages() -> list[LogMessage]:
    files = sorted((ROOT / "src" / "plimsoll").rglob("*.py"))
    return [message for path in files for message in _messages_of(path)]


def _messages_of(path: Path) -> Iterator[LogMessage]:
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        logger = node.func.value
        if not (isinstance(logger, ast.Name) and logger.id in LOGGERS):
            continue
        place = f"{path.relative_to(ROOT)}:{node.lineno}"
        if node.func.attr in LEVELS:
            yield LogMessage(LEVELS[node.func.attr], _text(node.args[0], path), place)
        elif node.func.attr == "log":
            yield LogMessage("", _text(node.args[1], path), place)


def _text(node: ast.expr, path: Path) -> str:
    """Return the text of a literal, or of a constant of the module."""
    if isinstance(node, ast.Name):
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        return str(getattr(importlib.import_module(name), node.id))
    return str(ast.literal_eval(node))
