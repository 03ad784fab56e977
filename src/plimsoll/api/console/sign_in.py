# SPDX-License-Identifier: Apache-2.0

"""`/console/session` and `/console/sign-in`: how the viewer of the console authenticates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import orjson

import plimsoll
from plimsoll.access.sign_in import (
    Credentials,
    KeystoneSignIn,
    SignedIn,
    SignInRefused,
    SignInUnavailable,
    TooManyAttempts,
)
from plimsoll.http.body import receive_body
from plimsoll.http.middleware.request_log import ROUTE_KEY
from plimsoll.http.problems import JSON, STATUS_LINES, Problem
from plimsoll.http.request_id import REQUEST_ID_KEY
from plimsoll.http.response import Headers, encode_json, length_header
from plimsoll.permit import permit_of

MAX_BODY_BYTES = 8192
LONGEST_VALUE = 1024
DEVELOPMENT_TOKEN = "admin"  # noqa: S105 - the user's name, which noauth2 does not verify
DEFAULT_DOMAIN = "Default"
_MEMBERS = ("user", "password", "user_domain", "project", "project_domain")


class SessionPage:
    """How to sign in, for anybody."""

    def __init__(self, name: str | None, *, needs_sign_in: bool) -> None:
        document: dict[str, Any] = {"version": plimsoll.__version__, "name": name}
        if needs_sign_in:
            document |= {"sign_in": "keystone", "default_domain": DEFAULT_DOMAIN}
        else:
            document |= {"sign_in": "none", "token": DEVELOPMENT_TOKEN}
        self._body = encode_json(document)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[ROUTE_KEY] = "/console/session"
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _send_error(environ, start_response, 405, "Use GET.", [("allow", "GET, HEAD")])
        start_response(STATUS_LINES[200], _headers(self._body))
        return () if environ["REQUEST_METHOD"] == "HEAD" else (self._body,)


class SignInPage:
    """Exchanges a user's password for a token of Keystone."""

    def __init__(self, keystone: KeystoneSignIn | None) -> None:
        self._keystone = keystone

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[ROUTE_KEY] = "/console/sign-in"
        try:
            body = encode_json(_document(self._signed_in(environ)))
        except Problem as problem:
            return _send_error(environ, start_response, problem.status, problem.detail, _further(problem))
        start_response(STATUS_LINES[200], _headers(body))
        return (body,)

    def _signed_in(self, environ: WSGIEnvironment) -> SignedIn:
        if self._keystone is None:
            raise Problem(404, "This service is set up for development: there is nothing to sign in to.")
        if environ["REQUEST_METHOD"] != "POST":
            raise Problem(405, "Use POST.", allow="POST")
        credentials = _credentials(environ)
        try:
            with permit_of(environ).released():
                return self._keystone.sign_in(credentials)
        except SignInRefused as refusal:
            raise Problem(401, str(refusal)) from None
        except SignInUnavailable as failure:
            raise Problem(503, str(failure), retry_after=5) from None
        except TooManyAttempts as refusal:
            raise Problem(429, str(refusal), retry_after=int(refusal.seconds) + 1) from None


def _credentials(environ: WSGIEnvironment) -> Credentials:
    content_type = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    if content_type != JSON:
        # Forms of other sites can send no JSON without a preflight request.
        raise Problem(415, f"The body must be {JSON}.")
    try:
        given = orjson.loads(receive_body(environ, MAX_BODY_BYTES))
    except ValueError:
        raise Problem(400, "The body is no JSON document.") from None
    if not isinstance(given, dict):
        raise Problem(400, "The body must be an object.")
    values = {name: _text(given, name) for name in _MEMBERS}
    for name in ("user", "password"):
        if not values[name]:
            raise Problem(400, f"The member {name} is missing.")
    return Credentials(
        values["user"],
        values["password"],
        values["user_domain"] or DEFAULT_DOMAIN,
        values["project"] or None,
        values["project_domain"] or values["user_domain"] or DEFAULT_DOMAIN,
    )


def _text(given: dict[str, Any], name: str) -> str:
    """Return a member, without quoting it in an error: it may be the password."""
    value = given.get(name) or ""
    if not isinstance(value, str) or len(value) > LONGEST_VALUE:
        raise Problem(400, f"The member {name} must be a text of at most {LONGEST_VALUE} characters.")
    return value


def _document(signed_in: SignedIn) -> dict[str, Any]:
    project = signed_in.project
    return {
        "token": signed_in.token,
        "expires_at": signed_in.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "user": {"id": signed_in.user[0], "name": signed_in.user[1]},
        "project": None if project is None else {"id": project[0], "name": project[1]},
        "roles": list(signed_in.roles),
    }


def _further(problem: Problem) -> Headers:
    headers = [] if problem.allow is None else [("allow", problem.allow)]
    return headers if problem.retry_after is None else [*headers, ("retry-after", str(problem.retry_after))]


def _send_error(
    environ: WSGIEnvironment, start_response: StartResponse, status: int, detail: str, headers: Headers
) -> Iterable[bytes]:
    """Send an error document whose detail is one sentence: it is shown beside the form."""
    line = STATUS_LINES[status]
    error = {"status": status, "title": line[4:], "detail": detail, "request_id": environ.get(REQUEST_ID_KEY)}
    body = encode_json({"errors": [error]})
    start_response(line, [*_headers(body), *headers])
    return () if environ["REQUEST_METHOD"] == "HEAD" else (body,)


def _headers(body: bytes) -> Headers:
    return [("content-type", JSON), length_header(body), ("cache-control", "no-store")]
