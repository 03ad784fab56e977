# SPDX-License-Identifier: Apache-2.0

"""Our part of the authentication by Keystone: set up keystonemiddleware, skip it for the root, determine the caller.

The tests with a real Keystone are in tests/cloud.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from wsgiref.types import WSGIApplication

import pytest
from keystonemiddleware import auth_token
from oslo_config import cfg

from plimsoll.access import IdentityError, IdentityUnavailable, caller_of, keystone, with_authentication
from plimsoll.access.keystone import check
from plimsoll.config import loader
from plimsoll.identity_headers import ALL_HEADERS
from plimsoll.runtime.threads import Threads
from tests.unit.access.wsgi import Recorder, call

TOKEN = uuid.uuid4().hex
TIME = "%Y-%m-%dT%H:%M:%S.%fZ"

pytestmark = pytest.mark.filterwarnings("ignore:::keystonemiddleware")


@pytest.fixture
def inside() -> Recorder:
    return Recorder()


@pytest.fixture
def app(inside: Recorder, monkeypatch: pytest.MonkeyPatch) -> WSGIApplication:
    def fetch(_self: object, token: str, **_: object) -> object:
        if token != TOKEN:
            raise auth_token.ksm_exceptions.InvalidToken("unknown")
        now = datetime.now(UTC)
        return {
            "token": {
                "methods": ["password"],
                "issued_at": now.strftime(TIME),
                "expires_at": (now + timedelta(hours=1)).strftime(TIME),
                "user": {"id": "ada", "name": "Ada", "domain": {"id": "default", "name": "Default"}},
                "project": {"id": "engines", "name": "E", "domain": {"id": "default", "name": "Default"}},
                "roles": [{"id": "1", "name": "reader"}, {"id": "2", "name": "member"}],
            }
        }

    monkeypatch.setattr(auth_token.AuthProtocol, "fetch_token", fetch)
    return with_authentication(inside, settings(www_authenticate_uri="http://keystone.example"), Threads())


def settings(**options: object) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    loader.register(conf)
    conf([], default_config_files=[])
    for name, value in options.items():
        conf.set_override(name, value, group="keystone_authtoken")
    return conf


def test_a_good_token_names_the_caller(app: WSGIApplication, inside: Recorder) -> None:
    assert call(app, "/traits", X_AUTH_TOKEN=TOKEN).status == "200 OK"
    caller = caller_of(inside.seen[-1])
    assert (caller.user_id, caller.project_id, caller.roles) == ("ada", "engines", ("reader", "member"))
    assert caller.user_id is not None


def test_identity_headers_of_clients_are_ignored(app: WSGIApplication, inside: Recorder) -> None:
    call(app, "/traits", X_AUTH_TOKEN=TOKEN, X_USER_ID="mallory", X_ROLES="admin")
    assert caller_of(inside.seen[-1]).roles == ("reader", "member")
    assert caller_of(inside.seen[-1]).user_id == "ada"


@pytest.mark.parametrize("headers", [{}, {"X_AUTH_TOKEN": "wrong"}, {"X_USER_ID": "mallory"}])
def test_other_tokens_get_a_401_with_the_address_of_keystone(
    app: WSGIApplication, inside: Recorder, headers: dict[str, str]
) -> None:
    response = call(app, "/traits", **headers)
    assert response.status.startswith("401")
    assert response.headers["www-authenticate"] == 'Keystone uri="http://keystone.example"'
    assert inside.seen == []


@pytest.mark.parametrize("path", ["", "/"])
def test_the_version_document_needs_no_token(app: WSGIApplication, inside: Recorder, path: str) -> None:
    assert call(app, path).status == "200 OK"
    assert caller_of(inside.seen[-1]).user_id is None


def test_the_catalog_is_not_passed_on(app: WSGIApplication, inside: Recorder) -> None:
    call(app, "/traits", X_AUTH_TOKEN=TOKEN, X_SERVICE_CATALOG="[]")
    assert "HTTP_X_SERVICE_CATALOG" not in inside.seen[-1]


def test_every_header_that_keystonemiddleware_sets_or_removes_is_an_identity_header() -> None:
    request = auth_token.AuthProtocol.__call__.RequestClass
    templates = [*request._HEADER_TEMPLATE, request._ROLES_TEMPLATE]
    names = {template % prefix for template in templates for prefix in ("", "-Service")}
    names |= {*request._DEPRECATED_HEADER_MAP, request._USER_STATUS_HEADER, request._SERVICE_STATUS_HEADER}
    names |= {request._ADMIN_PROJECT_HEADER, request._SYSTEM_SCOPE_HEADER, request._SERVICE_CATALOG_HEADER}
    assert {keystone._environ_key(name) for name in names} <= ALL_HEADERS


def test_without_a_plugin_no_token_is_valid_and_the_reason_is_logged(
    inside: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    app = with_authentication(inside, settings(www_authenticate_uri="http://keystone.example"), Threads())
    assert "[keystone_authtoken] has no auth_type" in caplog.text
    with pytest.raises(IdentityUnavailable):
        call(app, "/traits", X_AUTH_TOKEN="any")
    assert inside.seen == []


def test_an_error_of_the_application_is_not_reported_as_a_failure_of_keystone(
    app: WSGIApplication, inside: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Recorder, "__call__", fail)
    with pytest.raises(ZeroDivisionError):
        call(app, "/traits", X_AUTH_TOKEN=TOKEN)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auth_type": "passwrod"}, "passwrod"),
        ({"auth_type": "password"}, "auth_url"),
        ({"memcache_security_strategy": "MAC"}, "memcache_secret_key"),
    ],
)
def test_the_error_names_the_wrong_setting(options: dict[str, object], message: str) -> None:
    with pytest.raises(IdentityError, match=rf"\[keystone_authtoken\].*{message}"):
        check(settings(**options))


@pytest.mark.parametrize(
    ("options", "module"),
    [
        ({"memcache_sasl_enabled": True}, "bmemcached"),
        ({"memcache_tls_enabled": True}, "bmemcached"),
        ({"memcache_security_strategy": "ENCRYPT", "memcache_secret_key": "k"}, "cryptography"),
    ],
)
def test_modules_that_memcached_needs_are_checked_at_the_start(
    options: dict[str, object], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keystone, "find_spec", lambda name: None if name == module else name)
    check(settings(**options))
    check(settings(memcached_servers=["m:11211"]))
    with pytest.raises(
        IdentityError, match=rf"needs the Python module {module}, .*plimsoll-placement\[memcached\]"
    ):
        check(settings(memcached_servers=["m:11211"], **options))


def test_the_plugin_may_have_a_section_of_its_own() -> None:
    conf = settings(auth_section="elsewhere")
    assert check(conf) is False
    conf.set_override("auth_type", "none", group="elsewhere")
    assert check(conf) is True
