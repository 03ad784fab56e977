# SPDX-License-Identifier: Apache-2.0

"""Error documents have the shape and the layout of the reference."""

import json
import random
from typing import Any

import pytest
import webob.exc

from plimsoll.http.problems import LONGEST_DETAIL, LONGEST_QUOTE, Problem, full_detail, render


def document(problem: Problem, *, with_code: bool = True, **environ: Any) -> dict[str, Any]:
    environ = {"REQUEST_METHOD": "GET", "HTTP_ACCEPT": "application/json"} | environ
    content_type, body = render(problem, environ, "req-1", with_code=with_code)
    assert content_type == "application/json"
    errors: list[dict[str, Any]] = json.loads(body)["errors"]
    assert len(errors) == 1
    return errors[0]


def test_an_error_has_status_title_detail_code_and_request_id() -> None:
    assert document(Problem(409, "no room", "placement.concurrent_update")) == {
        "status": 409,
        "title": "Conflict",
        "detail": "There was a conflict when trying to complete your request.\n\n no room  ",
        "code": "placement.concurrent_update",
        "request_id": "req-1",
    }


def test_errors_have_no_code_in_versions_before_codes() -> None:
    assert "code" not in document(Problem(404), with_code=False)


def test_an_error_without_detail_has_the_explanation_of_its_status() -> None:
    assert document(Problem(404))["detail"] == "The resource could not be found.\n\n   "


@pytest.mark.parametrize(
    ("problem", "environ", "detail"),
    [
        (
            Problem(405, "Not allowed."),
            {"REQUEST_METHOD": "PATCH"},
            "The method PATCH is not allowed for this resource. \n\n Not allowed.",
        ),
        (
            Problem(406, "No."),
            {"HTTP_ACCEPT": "application/json, x/y"},
            "The resource could not be generated that was acceptable to your browser"
            " (content of type application/json, x/y. \n\n No.",
        ),
        (
            Problem(415, "No."),
            {"CONTENT_TYPE": "text/plain; charset=x"},
            "The request media type text/plain; charset=x is not supported by this server. \n\n No.",
        ),
    ],
)
def test_some_explanations_quote_the_request(problem: Problem, environ: dict[str, Any], detail: str) -> None:
    assert document(problem, **environ)["detail"] == detail


def test_lines_are_joined_and_tags_are_removed() -> None:
    detail = document(Problem(400, "one\ntwo\r\n<b>three</b> <!-- four -->"))["detail"]
    assert detail.endswith("\n\n one two three  four   ")


def test_further_facts_are_members_of_the_document() -> None:
    assert document(Problem(406, facts=(("max_version", "9"),)))["max_version"] == "9"


def test_a_text_that_is_not_unicode_can_be_quoted() -> None:
    assert "\\ud800" in document(Problem(400, "got \ud800"))["detail"]


def test_a_head_request_gets_no_body() -> None:
    assert render(Problem(405), {"REQUEST_METHOD": "HEAD"}, "req-1", with_code=True)[1] == b""


@pytest.mark.parametrize(
    ("accept", "content_type", "start"),
    [
        ("text/html", "text/html; charset=UTF-8", b"<html>"),
        ("text/plain", "text/plain; charset=UTF-8", b"404 Not Found\n\n"),
        ("text/plain, application/json;q=0.1", "application/json", b'{"errors"'),
    ],
)
def test_a_client_that_does_not_accept_json_gets_the_type_it_accepts(
    accept: str, content_type: str, start: bytes
) -> None:
    environ = {"REQUEST_METHOD": "GET", "HTTP_ACCEPT": accept}
    given, body = render(Problem(404, "gone"), environ, "req-1", with_code=True)
    assert given == content_type
    assert body.startswith(start)


LONG = 1_000_000


@pytest.mark.parametrize("sent", ["<", "<br", "<!--", "<!-- ><", "<!---->", "<a>", "x\n", "\u2603"])
@pytest.mark.parametrize("accept", ["application/json", "text/html", "text/plain"])
def test_an_error_is_short_for_long_values_of_the_request(sent: str, accept: str) -> None:
    """A million characters: a quadratic scan would take hours."""
    for problem, quoted_from in (
        (Problem(400, f"Got: {sent * LONG}"), {}),
        (Problem(405), {"REQUEST_METHOD": sent * LONG}),
        (Problem(415), {"CONTENT_TYPE": sent * LONG}),
        (Problem(406), {"HTTP_ACCEPT": f"{accept}, {sent * LONG}"}),
    ):
        environ = {"REQUEST_METHOD": "GET", "HTTP_ACCEPT": accept} | quoted_from
        _, body = render(problem, environ, "req-1", with_code=True)
        assert len(body.decode()) < LONGEST_DETAIL + LONGEST_QUOTE + 6 * LONGEST_DETAIL


def test_a_cut_text_ends_with_its_length() -> None:
    assert Problem(400, "x" * 5000).detail == "x" * LONGEST_DETAIL + "... (5000 characters)"


def test_plain_text_has_the_same_detail_as_json() -> None:
    content_type, body = render(
        Problem(409, "no <b>room</b>"),
        {"REQUEST_METHOD": "GET", "HTTP_ACCEPT": "text/plain"},
        None,
        with_code=True,
    )
    assert content_type == "text/plain; charset=UTF-8"
    assert body == b"409 Conflict\n\nThere was a conflict when trying to complete your request.\n\n no room  "


def test_tags_are_removed_as_in_webob() -> None:
    dice = random.Random(1)
    parts = ["<", ">", "<br", "<BR/>", "<!--", "-->", "a", "\n", "\r", " ", "--", "!"]
    for _ in range(2000):
        text = "".join(dice.choices(parts, k=dice.randint(0, 30)))
        environ = {"REQUEST_METHOD": text}
        frame = f"The method {text} is not allowed for this resource. <br><br> {text}"
        assert full_detail(Problem(405, text), environ) == webob.exc.strip_tags(frame)
