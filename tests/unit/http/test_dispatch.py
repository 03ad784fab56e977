# SPDX-License-Identifier: Apache-2.0

"""Applications by path: exact paths, paths below a prefix, and the default."""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import pytest

from plimsoll.http.dispatch import Dispatch, Mounted


def named(name: str) -> WSGIApplication:
    def app(environ: WSGIEnvironment, _: StartResponse) -> Iterable[bytes]:
        return [f"{name} {environ.get('SCRIPT_NAME', '')}|{environ.get('PATH_INFO', '')}".encode()]

    return app


DISPATCH = Dispatch(
    Mounted("/", named("default"), immediate_paths=("", "/")),
    Mounted("/healthz", named("health"), immediate_paths=("/healthz",)),
    Mounted("/console/", named("console")),
    Mounted("/console/api/", named("console api")),
)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("", "default"), ("/", "default"), ("/traits", "default"), ("no slash", "default")),
        *(
            ("/healthz", "health"),
            ("/healthz/", "default"),
            ("/healthz/x", "default"),
            ("/healthzx", "default"),
        ),
        *(("/console/", "console"), ("/console/a/b", "console"), ("/console", "default")),
        *(("/console/api/x", "console api"), ("/console/api", "console")),
    ],
)
def test_the_longest_path_that_matches_gets_the_request_with_the_whole_path(path: str, name: str) -> None:
    environ = {"PATH_INFO": path, "SCRIPT_NAME": "/placement"}
    assert list(DISPATCH(environ, lambda *_: lambda _: None)) == [f"{name} /placement|{path}".encode()]


def test_a_request_without_a_path_gets_the_default() -> None:
    assert list(DISPATCH({}, lambda *_: lambda _: None)) == [b"default |"]


def test_the_immediate_paths_are_those_of_all_applications() -> None:
    assert DISPATCH.immediate_paths == {"", "/", "/healthz"}
