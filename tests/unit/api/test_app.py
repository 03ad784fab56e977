# SPDX-License-Identifier: Apache-2.0

"""The middleware around the application, as configured."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import pytest

from plimsoll.access import Policy
from plimsoll.api.app import make_app
from plimsoll.service.placement import Placement
from tests.support.api import api, authentication, configuration
from tests.unit.api.unused_placement import UNUSED_PLACEMENT


class PolicyThatAllowsAll:
    def allows(self, *_: Any) -> bool:
        return True


def send(
    tmp_path: Path, options: dict[str, Any], **environ: Any
) -> tuple[str, dict[str, str], dict[str, Any]]:
    conf = configuration(tmp_path / "unused.sqlite", **options)
    app = make_app(
        UNUSED_PLACEMENT, cast(Policy, PolicyThatAllowsAll()), conf, authenticate=authentication(conf)
    )
    given = {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8778",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(b""),
        "wsgi.errors": io.StringIO(),
        "wsgi.version": (1, 0),
    } | environ
    started: list[Any] = []
    list(app(given, lambda *what: started.extend(what)))  # type: ignore[arg-type]
    return started[0], {name.lower(): value for name, value in started[1]}, given


def test_a_request_without_a_token_is_a_401_with_a_request_id(tmp_path: Path) -> None:
    status, headers, _ = send(tmp_path, {}, PATH_INFO="/traits")
    assert status == "401 Unauthorized"
    assert "x-openstack-request-id" in headers


def test_with_noauth_the_refusal_of_a_remote_caller_names_the_setting(tmp_path: Path) -> None:
    environ = {"PATH_INFO": "/nothing", "REMOTE_ADDR": "10.0.0.7", "HTTP_X_AUTH_TOKEN": "admin"}
    status, headers, _ = send(tmp_path, {}, **environ)
    assert (status, headers["content-type"]) == ("403 Forbidden", "application/json")
    assert "x-openstack-request-id" in headers
    assert send(tmp_path, {"plimsoll__allow_insecure_noauth": True}, **environ)[0] == "404 Not Found"


def test_the_version_document_needs_no_token(tmp_path: Path) -> None:
    for path in ("", "/"):
        assert send(tmp_path, {}, PATH_INFO=path)[0] == "200 OK"


def test_proxy_headers_are_used_if_enabled(tmp_path: Path) -> None:
    forwarded = {"HTTP_X_FORWARDED_PREFIX": "/placement", "HTTP_X_FORWARDED_PROTO": "https"}
    _, _, plain = send(tmp_path, {}, **forwarded)
    assert (plain["SCRIPT_NAME"], plain["wsgi.url_scheme"]) == ("", "http")
    option = {"oslo_middleware__enable_proxy_headers_parsing": True}
    _, _, used = send(tmp_path, option, **forwarded)
    assert (used["SCRIPT_NAME"], used["wsgi.url_scheme"]) == ("/placement", "https")


def test_cors_headers_are_sent_for_allowed_origins(tmp_path: Path) -> None:
    origin = {"HTTP_ORIGIN": "https://console.example"}
    _, without, _ = send(tmp_path, {}, **origin)
    assert "access-control-allow-origin" not in without
    _, allowed, _ = send(tmp_path, {"cors__allowed_origin": ["https://console.example"]}, **origin)
    assert allowed["access-control-allow-origin"] == "https://console.example"
    assert "openstack-api-version" in allowed["access-control-expose-headers"].lower()


@pytest.mark.parametrize(
    ("status", "method", "path"),
    [
        (200, "GET", "/traits"),
        (404, "GET", "/nowhere"),
        (405, "PUT", "/traits"),
        (406, "GET", "/"),
        (413, "POST", "/reshaper"),
    ],
)
def test_every_response_has_the_id_of_its_request(
    tmp_path: Path, status: int, method: str, path: str
) -> None:
    with api(tmp_path / "placement.sqlite", plimsoll__max_body_bytes=1024) as served:
        version = "1.99" if status == 406 else "1.39"
        response = served.call(method, path, version=version, raw=b" " * 2000 if status == 413 else None)
    assert response.status == status
    if status != 200:
        assert response.json["errors"][0]["request_id"] == response.headers["x-openstack-request-id"]
    assert response.headers["x-openstack-request-id"].startswith("req-")


def test_an_unexpected_error_has_the_id_of_its_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with api(tmp_path / "placement.sqlite") as served:
        monkeypatch.setattr(Placement, "read", lambda *_: 1 / 0)
        response = served.get("/traits")
    assert response.status == 500
    assert response.json["errors"][0]["request_id"] == response.headers["x-openstack-request-id"]


@pytest.mark.parametrize(
    ("prefix", "paths"),
    [
        ("", {"", "/", "/healthz"}),
        ("/placement", {"", "/", "/healthz", "/placement", "/placement/", "/placement/healthz"}),
    ],
)
def test_probes_and_the_version_document_need_no_permit(tmp_path: Path, prefix: str, paths: set[str]) -> None:
    conf = configuration(tmp_path / "unused.sqlite", plimsoll__prefix=prefix)
    app = make_app(
        UNUSED_PLACEMENT, cast(Policy, PolicyThatAllowsAll()), conf, authenticate=authentication(conf)
    )
    assert set(app.immediate_paths) == paths
