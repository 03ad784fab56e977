# SPDX-License-Identifier: Apache-2.0

"""The WSGI application below `/console/`: static files, the page for all other paths, session and sign-in.

Nothing here needs a token: the files are public, and the page sends the viewer's token to the APIs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.api.console.files import ASSETS, INDEX, StaticFile
from plimsoll.http.entity_tags import is_matched
from plimsoll.http.problems import STATUS_LINES
from plimsoll.http.response import Headers, length_header

PATH = "/console"
SESSION, SIGN_IN = "session", "sign-in"

SECURITY_HEADERS: Headers = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self';"
        " manifest-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("x-frame-options", "DENY"),
]
TEXT, HTML = "text/plain; charset=utf-8", "text/html; charset=utf-8"
NOT_BUILT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Plimsoll: the console is not built</title>
<h1>The console is not built</h1>
<p>Plimsoll runs, and its APIs work. The files of the web console are missing from this installation.
<p>In a checkout, <code>make console</code> builds them (it installs Node.js from PyPI if there is none);
with Node.js 20 or later, so does <code>cd console &amp;&amp; npm ci &amp;&amp; npm run build</code>. Then start Plimsoll again.
<p>Wheels of releases contain the console.
"""
_METHODS = ("GET", "HEAD")


class ConsoleApp:
    """Serves a table of files. `session` and `sign_in` are the applications of those two paths."""

    def __init__(
        self, files: Mapping[str, StaticFile], session: WSGIApplication, sign_in: WSGIApplication
    ) -> None:
        self._files = files
        self._others = {SESSION: session, SIGN_IN: sign_in}

    @property
    def immediate_paths(self) -> Collection[str]:
        """Paths whose requests never wait."""
        return [PATH, f"{PATH}/", *(f"{PATH}/{name}" for name in self._files)]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], object]:
            return start_response(status, [*headers, *SECURITY_HEADERS], exc_info)

        path = environ.get("PATH_INFO", "").removeprefix(PATH)
        if not path:
            return _redirect(environ, start)
        name = path.removeprefix("/")
        other = self._others.get(name)
        if other is not None:
            return other(environ, start)
        if environ["REQUEST_METHOD"] not in _METHODS:
            return _send(environ, start, 405, TEXT, b"Use GET.\n", [("allow", ", ".join(_METHODS))])
        if not self._files:
            return _send(environ, start, 503, HTML, NOT_BUILT.encode(), [("cache-control", "no-store")])
        if name not in self._files and name.startswith(ASSETS):
            return _send(
                environ, start, 404, TEXT, b"There is no such file.\n", [("cache-control", "no-store")]
            )
        return self._send_file(environ, start, name if name in self._files else INDEX)

    def _send_file(
        self, environ: WSGIEnvironment, start_response: StartResponse, name: str
    ) -> Iterable[bytes]:
        file = self._files[name]
        if name == INDEX:
            file = file.mounted_at(environ.get("SCRIPT_NAME", "").rstrip("/"))
        coding = file.best_coding(environ.get("HTTP_ACCEPT_ENCODING", ""))
        content, tag = file.form(coding)
        headers = [("cache-control", file.cache_control), ("etag", tag), ("vary", "accept-encoding")]
        if is_matched(tag, environ.get("HTTP_IF_NONE_MATCH")):
            start_response("304 Not Modified", headers)
            return ()
        if coding is not None:
            headers.append(("content-encoding", coding))
        return _send(environ, start_response, 200, file.content_type, content, headers)


def _redirect(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Redirect to the same address with a slash."""
    query = environ.get("QUERY_STRING", "")
    location = f"{environ.get('SCRIPT_NAME', '')}{PATH}/{'?' + query if query else ''}"
    return _send(environ, start_response, 308, TEXT, b"", [("location", location)])


def _send(
    environ: WSGIEnvironment,
    start_response: StartResponse,
    status: int,
    content_type: str,
    content: bytes,
    headers: Headers,
) -> Iterable[bytes]:
    start_response(STATUS_LINES[status], [("content-type", content_type), length_header(content), *headers])
    return () if environ["REQUEST_METHOD"] == "HEAD" else (content,)
