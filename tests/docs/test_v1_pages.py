# SPDX-License-Identifier: Apache-2.0

"""The examples in the pages of the v1 API have the answers that a real service gives on the sample cloud."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.api.v1.routes import ROUTES
from tests.docs import v1_pages
from tests.support.running import Service

PAGES = v1_pages.pages()


@pytest.fixture(scope="module")
def unchanged() -> Iterator[Service]:
    """A service with the sample cloud, for pages that change nothing."""
    with v1_pages.sample_service() as service:
        yield service


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples use curl")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(v1_pages.ROOT)))
def test_each_example_of_the_page_has_its_response(page: Path, unchanged: Service) -> None:
    found = v1_pages.differences(page, unchanged if v1_pages.changes_nothing(page) else None)
    hint = "`python -m tests.docs.v1_pages --write` writes the answers into the pages."
    assert not found, "\n\n".join([*found, hint])


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("curl -s -H 'x: y' http://127.0.0.1:8778/plimsoll/v1/fit?resources=VCPU:1", False),
        ("curl -s -i -X PUT http://127.0.0.1:8778/traits/CUSTOM_A", True),
        ("curl -s http://127.0.0.1:8778/allocations \\\n  -d '{}'", True),
        ("echo\n$ put /traits/CUSTOM_A", True),
        ("plimsoll why --url http://127.0.0.1:8778 req-1", True),
    ],
)
def test_a_page_with_a_command_that_changes_the_cloud_gets_a_service_of_its_own(
    tmp_path: Path, command: str, changes: bool
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```console sample-cloud\n$ {command}\n```\n")
    assert v1_pages.changes_nothing(page) is not changes


def test_blocks_are_examples_with_command_response_and_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n```console sample-cloud\n$ curl \\\n  /one\n{\n}\n$ curl /two\n```\n```console\n$ make\n```\n"
    )
    first, second = v1_pages.examples(page)
    assert (first.line, first.command, first.answer) == (3, "curl \\\n  /one", ("{", "}"))
    assert (second.line, second.command, second.answer) == (7, "curl /two", ())


@pytest.mark.parametrize(
    ("expected", "answer", "equal"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["a", "b", "c"], False),
        (["a", "  ...", "c"], ["a", "b", "b", "c"], True),
        (["a", "...", "c"], ["a", "c"], True),
        (["a", "...", "d"], ["a", "b", "c"], False),
        (["a.c"], ["abc"], False),
    ],
)
def test_three_points_stand_for_any_lines(expected: list[str], answer: list[str], equal: bool) -> None:
    assert v1_pages.matches(expected, answer) is equal


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        (["old"], ["a", "b", "c", "d"]),
        (["a", "...", "d"], ["a", "...", "d"]),
        (["...", "d"], ["...", "d"]),
        (["old", "b", "..."], ["a", "b", "..."]),
        (["a", "...", "c", "..."], ["a", "...", "c", "..."]),
        (["old", "...", "d"], ["a", "b", "c", "d"]),
        (["d", "...", "a"], ["a", "b", "c", "d"]),
    ],
)
def test_what_a_page_leaves_out_stays_left_out(expected: list[str], written: list[str]) -> None:
    assert v1_pages.elided(expected, ["a", "b", "c", "d"]) == written


def test_values_that_differ_from_run_to_run_are_shown_as_fixed_ones() -> None:
    known = "00000000-0000-4000-8000-000000000001"
    other = "9b0e1f2a-1111-4222-8333-444455556666"
    text = f'{{"revision": "0badcafe:17", "at": "2027-01-02T03:04:05Z", "a": "{known}", "b": "req-{other}"}}'
    assert v1_pages.shown(text, {known}) == [
        "{",
        '  "revision": "5f3a9c1e:63",',
        '  "at": "2026-11-18T12:00:00Z",',
        f'  "a": "{known}",',
        f'  "b": "req-{v1_pages.FIXED_UUID}"',
        "}",
    ]


def test_a_page_about_revisions_shows_their_numbers() -> None:
    text = '{"revision": "0badcafe:17", "next": "0badcafe:18:1f"} at 0badcafe:19: restored'
    fixed = '{"revision": "5f3a9c1e:17", "next": "5f3a9c1e:18:1c9e2f5a"} at 5f3a9c1e:19: restored'
    assert v1_pages.shown(text, set(), numbered=True) == [fixed]


def test_an_entity_tag_is_shown_as_a_fixed_one() -> None:
    output = 'HTTP/1.1 200 OK\r\nETag: "0badcafe:17:x"\r\nx: y\r\n\r\n{}'.replace("\r\n", "\n")
    assert v1_pages.shown(output, set()) == [
        "HTTP/1.1 200 OK",
        f"ETag: {v1_pages.FIXED_ETAG}",
        "x: y",
        "",
        "{}",
    ]


def test_each_route_has_an_example_in_a_page() -> None:
    commands = "\n".join(example.command for page in PAGES for example in v1_pages.examples(page))
    patterns = {route.path: re.sub(r"\\{\w+\\}", r"[^/?\\s]+", re.escape(route.path)) for route in ROUTES}
    missing = [path for path, pattern in patterns.items() if not re.search(rf"{pattern}(?![\w/])", commands)]
    assert missing == [], "docs/v1 has no example of these routes"


def test_a_wrong_response_is_reported_with_page_line_and_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unchanged: Service
) -> None:
    monkeypatch.setattr(v1_pages, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    command = "curl -s http://127.0.0.1:8778/"
    page.write_text(f"```console sample-cloud\n$ {command}\nwrong\n$ false\n$ echo $?\n1\n```\n")
    (text,) = v1_pages.differences(page, unchanged)
    assert text.startswith(f"page.md:2: `{command}` has another answer\n")
    assert "-wrong" in text
    assert '+{"versions":' in text.replace("+{\n+  ", "+{")
    assert v1_pages.write(page, unchanged) == 1
    assert v1_pages.differences(page, unchanged) == []
