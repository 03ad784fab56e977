# SPDX-License-Identifier: Apache-2.0

"""The glossary of CONTRIBUTING.md has the terms of the code: none that is not used, each once, in order."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TERMS = re.findall(
    r"^\| ([a-z ]+) \| ", (ROOT / "CONTRIBUTING.md").read_text().partition("## Glossary")[2], re.M
)


def test_terms_are_in_order_and_stand_once() -> None:
    terms = TERMS[1:]  # the first row is the head of the table
    assert len(terms) > 50
    assert terms == sorted(set(terms))


def test_each_term_is_used_in_the_code() -> None:
    code = "\n".join(file.read_text() for file in (ROOT / "src" / "plimsoll").rglob("*.py"))
    # As words, or as parts of a name: "group commit" is GroupCommitLock and group_commit too.
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", code).replace("_", " ").lower()
    text = " ".join(words.split())
    assert [term for term in TERMS[1:] if not re.search(rf"\b{term}", text)] == []
