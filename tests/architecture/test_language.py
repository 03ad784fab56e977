# SPDX-License-Identifier: Apache-2.0

"""Docstrings, comments and log texts in src/ use plain technical English (CONTRIBUTING.md, "How we write").

The subject of a sentence is a component, not a person, and its verb is an action of a machine: send, read, write, fail.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[2] / "src"

LOGGERS = {"LOG"}
SUBJECTS = "whoever whomever who whom somebody someone nobody anybody everybody"
VERBS = (
    *("tells", "told", "telling", "says", "said", "hears", "heard", "speaks", "spoken"),
    *("believes", "believed", "knows", "is asked", "are asked", "looks out", "lookout"),
    *("comes back", "gives way", "let others"),
    *("asks", "remembers", "remembered", "forgets", "forgotten"),
)
FIRST_WORDS = ("What", "Those", "Of those", "For who", "Such")


def _any_of(phrases: Iterable[str]) -> str:
    return "(?:" + "|".join(phrase.replace(" ", r"\s+") for phrase in phrases) + ")"


BANNED = re.compile(
    rf"\b(?i:{_any_of((*SUBJECTS.split(), *VERBS))})\b"
    rf"|(?:^|(?<=[.!?]\s))\s*{_any_of(FIRST_WORDS)}\b",
    re.MULTILINE,
)

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""Allowed findings: path below src/ and the line of text, with the reason."""
MAX_EXCEPTIONS = 20


class Finding(NamedTuple):
    path: str
    text: str
    """The line of text, without indentation."""
    line: int
    phrase: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.phrase!r} in: {self.text}"


def texts_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield each docstring, log text and comment with its line. A text below an attribute is a docstring too."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(ast.Constant(str(text))):
                yield node.lineno, text
            case ast.Call(ast.Attribute(ast.Name(logger), method), arguments) if logger in LOGGERS:
                # LOG.log has the level as its first argument.
                for argument in arguments[1:2] if method == "log" else arguments[:1]:
                    yield from strings_in(argument)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def strings_in(expression: ast.expr) -> Iterator[tuple[int, str]]:
    for part in ast.walk(expression):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.lineno, part.value


def findings_in(source: Path) -> list[Finding]:
    return [
        Finding(str(file.relative_to(source)), *found)
        for file in sorted(source.rglob("*.py"))
        for found in banned_in(file.read_text())
    ]


def banned_in(source: str) -> Iterator[tuple[str, int, str]]:
    """Yield line of text, line number and phrase."""
    for first_line, text in texts_in(source):
        for match in BANNED.finditer(text):
            start = match.end() - len(match[0].lstrip())
            number = text.count("\n", 0, start)
            yield text.split("\n")[number].strip(), first_line + number, " ".join(match[0].split())


def test_docstrings_comments_and_log_texts_are_plain() -> None:
    findings = [found for found in findings_in(SOURCE) if (found.path, found.text) not in EXCEPTIONS]
    if findings:
        pytest.fail(f"{len(findings)} findings\n" + "\n".join(map(str, findings)), pytrace=False)


def test_exceptions_are_few_have_reasons_and_still_occur() -> None:
    assert len(EXCEPTIONS) <= MAX_EXCEPTIONS
    assert all(EXCEPTIONS.values())
    assert set(EXCEPTIONS) <= {(found.path, found.text) for found in findings_in(SOURCE)}


@pytest.mark.parametrize(
    ("source", "line", "phrase"),
    [
        ('"""Wake whoever waits."""', 1, "whoever"),
        ('x = 1\n"""The limit.\n\nSomebody sets it."""', 4, "Somebody"),
        ("def f():\n    '''Return it.\n    What is left is read.'''", 3, "What"),
        ('"""Return it. Those that fail are retried."""', 1, "Those"),
        ("x = 1  # the database knows", 1, "knows"),
        ("# Such a row is skipped.", 1, "Such"),
        ('"""Return the entry that the cache remembers."""', 1, "remembers"),
        ('LOG.warning("The server said: %s", text)', 1, "said"),
        ('LOG.log(level, "The server is\\n asked again")', 1, "is asked"),
        ('LOG.info(f"{name} " + "comes back")', 1, "comes back"),
    ],
)
def test_a_banned_phrase_is_found(source: str, line: int, phrase: str) -> None:
    assert [found[1:] for found in banned_in(source)] == [(line, phrase)]


@pytest.mark.parametrize(
    "source",
    [
        '"""Return what the database has, for those rows."""',
        '"""Return the whole, suchlike and unsaid."""',
        'raise ValueError("who")',
        'log_text("said")',
        "who = nobody",
    ],
)
def test_other_texts_and_code_are_not_findings(source: str) -> None:
    assert list(banned_in(source)) == []


def test_a_planted_offender_is_found_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").write_text('"""A module."""\n\n# Nobody reads this.\nx = 1\n')
    assert list(map(str, findings_in(tmp_path))) == ["package/module.py:3: 'Nobody' in: Nobody reads this."]
