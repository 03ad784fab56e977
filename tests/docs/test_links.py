# SPDX-License-Identifier: Apache-2.0

"""Links between pages lead to files and headings that exist, and each question of "How do I ...?" leads to one page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "docs" / "how-do-i.md"
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def prose(page: Path) -> str:
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub and the site make them."""
    headings = re.findall(r"^#{1,6} (.+)$", prose(page), re.MULTILINE)
    texts = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for target, anchor in LINK.findall(prose(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            broken.append(f"{target}#{anchor}")
    assert broken == []


def test_each_question_leads_to_one_page_of_the_documentation() -> None:
    rows = re.findall(r"^\| (.+\?) \| (.+) \|$", QUESTIONS.read_text(), re.MULTILINE)
    assert len(rows) >= 40
    assert len({question for question, _ in rows}) == len(rows)
    for question, answer in rows:
        assert len(LINK.findall(answer)) == 1, question
