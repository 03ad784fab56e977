# SPDX-License-Identifier: Apache-2.0

"""Keystone's part is keystonemiddleware's; ours is to set it up, let the root pass and name the caller."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from wsgiref.types import WSGIApplication

import pytest
from keystonemiddleware import auth_token
from oslo_config import cfg

from plimsoll import config
from plimsoll.access import caller_of, guarded
from tests.unit.access.wsgi import Recorder, call

TOKEN = uuid.uuid4().hex
TIME = "%Y-%m-%dT%H:%M:%S.%fZ"

pytestmark = [
    pytest.mark.filterwarnings("ignore:Using the in-process token cache is deprecated"),
    pytest.mark.filterwarnings("ignore:::keystonemiddleware"),
]


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
    conf = cfg.ConfigOpts()
    config.register(conf)
    conf([], default_config_files=[])
    conf.set_override("www_authenticate_uri", "http://keystone.example", group="keystone_authtoken")
    return guarded(inside, conf)


def test_a_good_token_names_the_caller(app: WSGIApplication, inside: Recorder) -> None:
    assert call(app, "/traits", X_AUTH_TOKEN=TOKEN).status == "200 OK"
    caller = caller_of(inside.seen[-1])
    assert (caller.user_id, caller.project_id, caller.roles) == ("ada", "engines", ("reader", "member"))
    assert caller.is_authenticated


def test_a_callers_own_headers_do_not_count(app: WSGIApplication, inside: Recorder) -> None:
    call(app, "/traits", X_AUTH_TOKEN=TOKEN, X_USER_ID="mallory", X_ROLES="admin")
    assert caller_of(inside.seen[-1]).roles == ("reader", "member")
    assert caller_of(inside.seen[-1]).user_id == "ada"


@pytest.mark.parametrize("headers", [{}, {"X_AUTH_TOKEN": "wrong"}, {"X_USER_ID": "mallory"}])
def test_anything_else_is_a_401_that_says_where_to_go(
    app: WSGIApplication, inside: Recorder, headers: dict[str, str]
) -> None:
    answer = call(app, "/traits", **headers)
    assert answer.status.startswith("401")
    assert answer.headers["www-authenticate"] == 'Keystone uri="http://keystone.example"'
    assert inside.seen == []


@pytest.mark.parametrize("path", ["", "/"])
def test_the_version_document_needs_no_token(app: WSGIApplication, inside: Recorder, path: str) -> None:
    assert call(app, path).status == "200 OK"
    assert not caller_of(inside.seen[-1]).is_authenticated
