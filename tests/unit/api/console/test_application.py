# SPDX-License-Identifier: Apache-2.0

"""`/console/` as an HTTP client sees it: a small build in a directory, called in process."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple
from wsgiref.types import WSGIApplication

import pytest

from plimsoll.api.console.application import ConsoleApp
from plimsoll.api.console.files import accepted_codings, load_files
from plimsoll.api.console.sign_in import SessionPage, SignInPage
from tests.support.wsgi import environ

PAGE = b'<!doctype html><base href="/console/"><title>Plimsoll</title>'
SCRIPT = b"export {}" * 50
BROTLI = b"not really brotli"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def send(
    app: WSGIApplication, path: str, method: str = "GET", prefix: str = "", body: bytes = b"", **headers: str
) -> Answer:
    sent = [(name.replace("_", "-"), value) for name, value in headers.items()]
    request = environ(method, path, body, [*sent, ("content-length", str(len(body)))])
    request["SCRIPT_NAME"] = prefix
    started: list[Any] = []
    content = b"".join(app(request, lambda *args: started.extend(args[:2])))  # type: ignore[arg-type]
    return Answer(int(started[0][:3]), dict(started[1]), content)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "static" / "assets").mkdir(parents=True)
    static = tmp_path / "static"
    (static / "index.html").write_bytes(PAGE)
    (static / "index.html.gz").write_bytes(gzip.compress(PAGE))
    (static / "assets" / "index-abc.js").write_bytes(SCRIPT)
    (static / "assets" / "index-abc.js.gz").write_bytes(gzip.compress(SCRIPT))
    (static / "assets" / "index-abc.js.br").write_bytes(BROTLI)
    (static / "notes.bak").write_bytes(b"not of the application")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    return static


def app_of(directory: Path) -> ConsoleApp:
    return ConsoleApp(load_files(directory), SessionPage("Lab", needs_sign_in=False), SignInPage(None))


@pytest.fixture
def app(built: Path) -> ConsoleApp:
    return app_of(built)


@pytest.mark.parametrize(
    "path",
    ["/console/", "/console/fleet", "/console/index.html", "/console/projects/a.b%2Fc", "/console/x/y/z.js"],
)
def test_every_path_of_the_application_is_the_page(app: ConsoleApp, path: str) -> None:
    answer = send(app, path)
    assert (answer.status, answer.body) == (200, PAGE)
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_a_hashed_file_is_kept_for_ever(app: ConsoleApp) -> None:
    answer = send(app, "/console/assets/index-abc.js")
    assert answer.body == SCRIPT
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"


def test_an_unknown_asset_is_a_404_and_not_the_page(app: ConsoleApp) -> None:
    answer = send(app, "/console/assets/index-old.js")
    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    "path",
    [
        "/console/../secret.txt",
        "/console/assets/../../secret.txt",
        "/console//etc/passwd",
        "/console/..%2fsecret.txt",
        "/console/notes.bak",
        "/console/assets/index-abc.js.br",
        "/console/\x00",
    ],
)
def test_nothing_but_the_files_of_the_build_can_be_read(app: ConsoleApp, path: str) -> None:
    answer = send(app, path)
    assert answer.status == 404 if path.startswith("/console/assets/") else answer.body == PAGE


def test_the_best_accepted_coding_is_sent(app: ConsoleApp) -> None:
    path = "/console/assets/index-abc.js"
    best = send(app, path, accept_encoding="gzip, deflate, br")
    assert (best.headers["content-encoding"], best.body) == ("br", BROTLI)
    second = send(app, path, accept_encoding="gzip;q=0.8, br;q=0")
    assert second.headers["content-encoding"] == "gzip"
    assert gzip.decompress(second.body) == SCRIPT
    plain = send(app, path, accept_encoding="identity")
    assert "content-encoding" not in plain.headers
    assert {each.headers["vary"] for each in (best, second, plain)} == {"accept-encoding"}
    assert len({each.headers["etag"] for each in (best, second, plain)}) == 3


def test_an_unchanged_page_is_a_304(app: ConsoleApp) -> None:
    tag = send(app, "/console/").headers["etag"]
    again = send(app, "/console/fleet", if_none_match=f'"other", W/{tag}')
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == tag
    assert send(app, "/console/", if_none_match='"other"').status == 200


def test_every_response_has_the_security_headers(app: ConsoleApp) -> None:
    for path in ("/console", "/console/", "/console/assets/none.js", "/console/session", "/console/sign-in"):
        headers = send(app, path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"


def test_the_address_without_a_slash_is_redirected(app: ConsoleApp) -> None:
    answer = send(app, "/console?x=1", prefix="/placement")
    assert (answer.status, answer.headers["location"]) == (308, "/placement/console/?x=1")


def test_below_a_prefix_the_base_of_the_page_is_another_one(app: ConsoleApp) -> None:
    answer = send(app, "/console/fleet", prefix='/pla"ce', accept_encoding="gzip")
    assert b'<base href="/pla&quot;ce/console/">' in answer.body
    assert "content-encoding" not in answer.headers
    assert answer.headers["etag"] != send(app, "/console/fleet").headers["etag"]


def test_a_head_request_gets_the_headers_alone(app: ConsoleApp) -> None:
    answer = send(app, "/console/", "HEAD")
    assert answer.body == b""
    assert answer.headers["content-length"] == str(len(PAGE))


def test_other_methods_are_refused(app: ConsoleApp) -> None:
    for path in ("/console/", "/console/session"):
        answer = send(app, path, "POST")
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_without_a_build_the_page_explains_how_to_build(tmp_path: Path) -> None:
    app = app_of(tmp_path)
    answer = send(app, "/console/fleet")
    assert answer.status == 503
    assert b"make console" in answer.body
    assert send(app, "/console/session").status == 200


def test_the_session_of_development_has_the_token(app: ConsoleApp) -> None:
    answer = send(app, "/console/session")
    assert b'"sign_in":"none"' in answer.body
    assert b'"token":"admin"' in answer.body
    assert b'"name":"Lab"' in answer.body
    assert answer.headers["cache-control"] == "no-store"
    assert send(app, "/console/sign-in", "POST").status == 404


def test_with_keystone_the_session_has_no_token() -> None:
    answer = send(SessionPage(None, needs_sign_in=True), "/console/session")
    assert b'"sign_in":"keystone"' in answer.body
    assert b"token" not in answer.body


def test_codings_with_a_weight_of_zero_are_not_accepted() -> None:
    assert accepted_codings("gzip, br;q=0, *;q=0.0, deflate; q=0.5") == {"gzip", "deflate"}
