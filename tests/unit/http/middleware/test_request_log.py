# SPDX-License-Identifier: Apache-2.0

"""Ids of requests, and the line of a request in the log."""

import logging
import re
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from oslo_context import context

from plimsoll import permit
from plimsoll.http import timings
from plimsoll.http.middleware.request_log import ROUTE_KEY, VERSION_KEY, Durations, LoggedRequest, RequestLog
from plimsoll.metrics import Metrics

ID = re.compile(r"req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def inner(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    environ[VERSION_KEY] = "1.7"
    start_response("204 No Content", [("Content-Length", "0")])
    return ()


def call(**more: Any) -> tuple[WSGIEnvironment, dict[str, str]]:
    fast = more.pop("fast", True)
    environ = {"REQUEST_METHOD": "PUT", "SCRIPT_NAME": "/placement", "PATH_INFO": "/traits/A", **more}
    headers: dict[str, str] = {}
    respond(RequestLog(inner, fast=fast), environ, lambda _, given, *__: headers.update(given))
    return environ, headers


def respond(app: RequestLog, environ: WSGIEnvironment, start_response: Any = lambda *_: None) -> bytes:
    """Call the application as a server does: read the body, then close it."""
    body: Any = app(environ, start_response)
    content = b"".join(body)
    body.close()
    return content


def logged_request() -> context.RequestContext:
    """Return the request context that oslo.log reads."""
    current = context.get_current()
    assert current is not None
    return current


def test_every_response_has_the_id_of_its_request() -> None:
    (_, one), (environ, other) = call(), call()
    assert ID.fullmatch(one["x-openstack-request-id"])
    assert one["x-openstack-request-id"] != other["x-openstack-request-id"]
    assert environ["openstack.request_id"] == other["x-openstack-request-id"]


@pytest.mark.parametrize("fast", [True, False])
def test_the_line_has_address_request_status_length_and_version(
    caplog: pytest.LogCaptureFixture, fast: bool
) -> None:
    with caplog.at_level(logging.INFO, "placement.requestlog"):
        call(fast=fast, REMOTE_ADDR="192.0.2.7", QUERY_STRING="a=%20")
    assert bool(caplog.records[0].lineno) is not fast, "the fast path does not search for the call site"
    assert [record.getMessage() for record in caplog.records] == [
        '192.0.2.7 "PUT /placement/traits/A?a=%20" status: 204 len: 0 microversion: 1.7'
    ]


def test_a_line_end_in_a_path_does_not_forge_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "placement.requestlog"):
        call(PATH_INFO="/traits/A\nforged \xc3\xa9\x1b[2J")
    (record,) = caplog.records
    assert '"PUT /placement/traits/A%0Aforged%20%C3%A9%1B%5B2J"' in record.getMessage()


def test_the_line_is_logged_when_the_response_was_sent(caplog: pytest.LogCaptureFixture) -> None:
    closed: list[bool] = []

    class Inside(list[bytes]):
        def close(self) -> None:
            closed.append(True)

    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return Inside([b"a", b"b"])

    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/"}
    with caplog.at_level(logging.INFO, "placement.requestlog"):
        body: Any = RequestLog(app)(environ, lambda *_: None)  # type: ignore[arg-type]
        assert list(body) == [b"a", b"b"]
        assert not caplog.records
        body.close()
    assert closed == [True]
    assert len(caplog.records) == 1


def test_the_start_of_a_request_is_logged_at_debug(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "placement.requestlog"):
        call(REMOTE_ADDR="192.0.2.7")
    assert caplog.records[0].getMessage() == 'Starting request: 192.0.2.7 "PUT /placement/traits/A"'


def test_every_log_line_of_a_request_has_the_ids_and_the_user() -> None:
    wide = "req-12345678-1234-1234-1234-123456789abc"
    environ, headers = call(HTTP_X_OPENSTACK_REQUEST_ID=wide, HTTP_X_USER_ID="ann", HTTP_X_TENANT_ID="team")
    values = logged_request().get_logging_values()
    assert values["request_id"] == headers["x-openstack-request-id"] == environ["openstack.request_id"]
    assert values["global_request_id"] == wide
    assert values["user_identity"] == "ann team - - -"


WHOLE = {
    "HTTP_X_USER_ID": "u",
    "HTTP_X_USER_NAME": "Ada",
    "HTTP_X_USER_DOMAIN_ID": "ud",
    "HTTP_X_USER_DOMAIN_NAME": "Users",
    "HTTP_X_PROJECT_ID": "p",
    "HTTP_X_PROJECT_NAME": "Engines",
    "HTTP_X_PROJECT_DOMAIN_ID": "pd",
    "HTTP_X_PROJECT_DOMAIN_NAME": "Projects",
    "HTTP_X_DOMAIN_ID": "d",
    "HTTP_X_DOMAIN_NAME": "Domain",
    "HTTP_OPENSTACK_SYSTEM_SCOPE": "all",
    "HTTP_X_ROLES": "admin, reader",
    "HTTP_X_AUTH_TOKEN": "secret",
    "HTTP_X_IS_ADMIN_PROJECT": "False",
}
OLD = {"HTTP_X_USER": "u", "HTTP_X_TENANT": "t", "HTTP_X_TENANT_NAME": "Tenants"}


@pytest.mark.parametrize("environ", [WHOLE, OLD, {"HTTP_X_TENANT_ID": "t"}, {}])
def test_logging_values_are_those_of_oslo_context(environ: dict[str, str]) -> None:
    expected = context.RequestContext.from_environ(environ, request_id="req-1").get_logging_values()
    logged = LoggedRequest(environ, "req-1", None)
    assert logged.get_logging_values() == expected
    key = set(logged.identity_key())
    assert set(environ.values()) - key == set(environ.values()) & {"secret"}, (
        "the cache key has all headers but the token"
    )
    context._request_store.context = None


@pytest.mark.parametrize("given", ["req-1", "x" * 40, "req-12345678-1234-1234-1234-123456789abc; rm"])
def test_a_malformed_global_id_is_ignored(given: str) -> None:
    call(HTTP_X_OPENSTACK_REQUEST_ID=given)
    assert logged_request().global_request_id is None


@pytest.mark.parametrize(
    ("given", "accepted"), [(None, "application/json"), ("*/*", "application/json"), ("a/b", "a/b")]
)
def test_a_client_that_accepts_anything_gets_json(given: str | None, accepted: str) -> None:
    environ, _ = call(**({} if given is None else {"HTTP_ACCEPT": given}))
    assert environ["HTTP_ACCEPT"] == accepted


class Waiting:
    """A permit for which the request has waited."""

    waited = 2.5

    def released(self) -> AbstractContextManager[None]:
        return nullcontext()

    def pause(self) -> None:
        pass

    def is_client_gone(self) -> bool:
        return False


def timed(durations: Durations, caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    """Return levels and lines of a request that has waited 2.5 s for its permit."""
    environ = {"REQUEST_METHOD": "PUT", "PATH_INFO": "/traits/A", permit.ENVIRON_KEY: Waiting()}
    with caplog.at_level(logging.INFO, "placement.requestlog"):
        respond(RequestLog(inner, durations), environ)
    return [(record.levelno, record.getMessage()) for record in caplog.records]


def test_the_duration_is_at_the_end_of_the_line_if_enabled(caplog: pytest.LogCaptureFixture) -> None:
    ((_, line),) = timed(Durations(in_each_line=True), caplog)
    assert re.search(r"microversion: 1\.7 duration: 2\.5\d{5}$", line)
    caplog.clear()
    ((_, line),) = timed(Durations(), caplog)
    assert line.endswith("microversion: 1.7")


def test_a_slow_request_is_a_warning_with_the_time_of_its_parts(caplog: pytest.LogCaptureFixture) -> None:
    (level, line), _ = timed(Durations(slow=2), caplog)
    assert level == logging.WARNING
    assert re.match(r'Slow request: "PUT /traits/A" took 2\.5\d\d s: waiting for a permit 2\.500 s', line)
    caplog.clear()
    assert [level for level, _ in timed(Durations(slow=60), caplog)] == [logging.INFO]


def test_the_time_since_the_last_lap_is_added_to_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 3.0, 3.0001, 7.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    environ: dict[str, Any] = {}
    laps = timings.start(environ)
    for part in (timings.OTHER, timings.SEARCH, timings.ENCODING, timings.OTHER):
        timings.lap(environ, part)
    assert timings.describe(laps) == "decision and database 5.000 s, search 2.000 s"


class RecordedRequests(Metrics):
    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []

    def request_done(self, route: str, method: str, status: str, seconds: float) -> None:
        assert seconds >= 0
        self.requests.append((route, method, status))


def test_each_response_is_counted_with_the_route_that_the_application_found() -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/unknown":
            environ[ROUTE_KEY] = "/hosts/{name}"
        start_response("204 No Content" if environ["REQUEST_METHOD"] == "PUT" else "404 Not Found", [])
        return ()

    metrics = RecordedRequests()
    for method, path in (("PUT", "/hosts/1"), ("GET", "/hosts/2"), ("GET", "/unknown")):
        respond(RequestLog(app, metrics=metrics), {"REQUEST_METHOD": method, "PATH_INFO": path})
    assert metrics.requests == [
        ("/hosts/{name}", "PUT", "204"),
        ("/hosts/{name}", "GET", "404"),
        ("other", "GET", "404"),
    ]
