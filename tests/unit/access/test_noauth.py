# SPDX-License-Identifier: Apache-2.0

"""noauth2 behaves as in the reference: the expected values come from its own middleware."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import pytest

from plimsoll.access import Caller, RemoteCallerRefused, caller_of
from plimsoll.access.authenticate import AuthenticationMiddleware
from plimsoll.access.loopback import record_peer_address
from plimsoll.access.noauth import NoAuth
from plimsoll.identity_headers import ALL_HEADERS
from tests.unit.access.wsgi import Recorder, call

# The text is WebOb's, which clients of the reference expect.
TEXT = (
    "This server could not verify that you are authorized to access the document you requested. Either you supplied"
    " the wrong credentials (e.g., bad password), or your browser does not understand how to supply the credentials"
    " required."
)

ADVICE = (
    "This service is set up for development (auth_strategy = noauth2): send the header x-auth-token: admin, or"
    " x-auth-token: USER:PROJECT."
)
PLAIN = "401 Unauthorized\n\n{}\n\n {}  "
HTML = (
    "<html>\n <head>\n  <title>401 Unauthorized</title>\n </head>\n <body>\n  <h1>401 Unauthorized</h1>\n"
    "  {}<br /><br />\n{}\n\n\n </body>\n</html>"
)


@pytest.fixture
def inside() -> Recorder:
    return Recorder()


@pytest.fixture
def app(inside: Recorder) -> WSGIApplication:
    return AuthenticationMiddleware(inside, NoAuth())


def test_no_token_is_a_401_and_does_not_reach_the_application(app: WSGIApplication, inside: Recorder) -> None:
    response = call(app, "/resource_providers", ACCEPT="application/json")
    assert response.status == "401 Unauthorized"
    assert response.headers["content-type"] == "application/json"
    assert json.loads(response.body) == {
        "message": f"{TEXT}<br /><br />\n{ADVICE}\n\n",
        "code": "401 Unauthorized",
        "title": "Unauthorized",
    }
    assert inside.seen == []


@pytest.mark.parametrize(
    ("accept", "media", "form"),
    [
        ("text/plain", "text/plain; charset=UTF-8", PLAIN),
        ("text/html", "text/html; charset=UTF-8", HTML),
        ("image/png", "text/plain; charset=UTF-8", PLAIN),
    ],
)
def test_a_401_has_the_format_of_the_accept_header(
    app: WSGIApplication, accept: str, media: str, form: str
) -> None:
    response = call(app, "/traits", ACCEPT=accept)
    assert response.headers == {"content-type": media, "content-length": str(len(response.body))}
    assert response.body.decode() == form.format(TEXT, ADVICE)


def test_json_is_preferred_where_the_client_prefers_it(app: WSGIApplication) -> None:
    response = call(app, "/traits", ACCEPT="text/html;q=0.5,application/json;q=0.9")
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["", "/"])
def test_the_version_document_needs_no_token(app: WSGIApplication, inside: Recorder, path: str) -> None:
    assert call(app, path).status == "200 OK"
    assert caller_of(inside.seen[-1]).user_id is None


def test_the_version_document_ignores_identity_headers(app: WSGIApplication, inside: Recorder) -> None:
    call(app, "/", X_USER_ID="mallory", X_ROLES="admin", X_AUTH_TOKEN="admin")
    assert caller_of(inside.seen[-1]) == Caller()
    assert not ALL_HEADERS.intersection(inside.seen[-1]), "so that they are not logged either"


def test_a_user_header_without_a_token_is_a_401(app: WSGIApplication) -> None:
    assert call(app, "/traits", X_USER_ID="mallory").status == "401 Unauthorized"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"X_AUTH_TOKEN": "admin"}, Caller("admin", "admin", ("admin",))),
        ({"X_AUTH_TOKEN": "ada"}, Caller("ada", "ada")),
        ({"X_AUTH_TOKEN": "ada:engines"}, Caller("ada", "engines")),
        ({"X_AUTH_TOKEN": "admin:a:b"}, Caller("admin", "a:b", ("admin",))),
        ({"X_AUTH_TOKEN": ""}, Caller("", "")),
        ({"X_AUTH_TOKEN": ":engines"}, Caller("", "engines")),
        ({"X_AUTH_TOKEN": "ada", "X_ROLES": "a, b,,Admin"}, Caller("ada", "ada", ("a", "b", "", "Admin"))),
        ({"X_AUTH_TOKEN": "admin", "X_ROLES": ""}, Caller("admin", "admin")),
        (
            {"X_AUTH_TOKEN": "ada:engines", "OPENSTACK_SYSTEM_SCOPE": "all"},
            Caller("ada", None, system_scope="all"),
        ),
        (
            {
                "X_AUTH_TOKEN": "ada:engines",
                "X_USER_ID": "mallory",
                "X_PROJECT_ID": "looms",
                "X_DOMAIN_ID": "d",
                "X_SERVICE_ROLES": "s1, s2",
                "X_IS_ADMIN_PROJECT": "False",
            },
            Caller("ada", "looms", domain_id="d", service_roles=("s1", "s2"), is_admin_project=False),
        ),
    ],
)
def test_the_token_determines_the_caller(
    app: WSGIApplication, inside: Recorder, headers: dict[str, str], expected: Caller
) -> None:
    assert call(app, "/traits", **headers).status == "200 OK"
    assert caller_of(inside.seen[-1]) == expected


HERE = ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", ""]
ELSEWHERE = ["10.0.0.7", "::ffff:10.0.0.7", "2001:db8::7", "127.0.0.1, 10.0.0.7", "somewhere"]


@pytest.mark.parametrize("address", HERE)
def test_requests_from_this_machine_are_accepted(app: WSGIApplication, address: str) -> None:
    assert call(app, "/traits", address=address, X_AUTH_TOKEN="admin").status == "200 OK"


@pytest.mark.parametrize("address", ELSEWHERE)
def test_requests_from_other_machines_are_refused_behind_any_server(
    app: WSGIApplication, inside: Recorder, address: str
) -> None:
    with pytest.raises(
        RemoteCallerRefused, match=r"from .* is refused: .* \[plimsoll\]allow_insecure_noauth = true"
    ):
        call(app, "/traits", address=address, X_AUTH_TOKEN="admin")
    assert inside.seen == []
    assert call(app, "/", address=address).status == "200 OK"


def test_a_refusal_is_logged_once(app: WSGIApplication, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        with pytest.raises(RemoteCallerRefused):
            call(app, "/traits", address="10.0.0.7", X_AUTH_TOKEN="admin")
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert "10.0.0.7" in line


@pytest.mark.parametrize("address", [*HERE, *ELSEWHERE])
def test_requests_from_other_machines_are_accepted_if_the_operator_allows_them(
    inside: Recorder, address: str
) -> None:
    app = AuthenticationMiddleware(inside, NoAuth(allow_remote=True))
    assert call(app, "/traits", address=address, X_AUTH_TOKEN="admin").status == "200 OK"


@pytest.mark.parametrize(
    ("connected", "forwarded"),
    [("10.0.0.7", "127.0.0.1"), ("127.0.0.1", "10.0.0.7"), ("10.0.0.7", "10.0.0.7")],
)
def test_a_proxy_header_cannot_make_a_remote_request_local(
    app: WSGIApplication, inside: Recorder, connected: str, forwarded: str
) -> None:
    def proxied(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ["REMOTE_ADDR"] = forwarded
        return app(environ, start_response)

    with pytest.raises(RemoteCallerRefused):
        call(record_peer_address(proxied), "/traits", address=connected, X_AUTH_TOKEN="admin")
    assert inside.seen == []
