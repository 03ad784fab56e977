# SPDX-License-Identifier: Apache-2.0

"""Give each request an id, write its line in the request log, in the format of the reference, and count it.

The id is in the headers of the response, in error documents and in every log line of the request, beside the global
id that the client may send. Without an `accept` header, or with `*/*`, errors are JSON. The line is written when the
response was sent: a body may be sent piece by piece.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from oslo_context import context

from plimsoll.config.log_records import EscapedLogRecord, escaped
from plimsoll.http import timings
from plimsoll.http.problems import JSON
from plimsoll.http.request_id import REQUEST_ID_HEADER, REQUEST_ID_KEY, global_request_id, new_request_id
from plimsoll.http.response import Headers
from plimsoll.identity_headers import AUTH_TOKEN, HEADERS_BY_ATTRIBUTE, IS_ADMIN_PROJECT, ROLES
from plimsoll.metrics import NO_METRICS, Metrics

LOG = logging.getLogger("placement.requestlog")  # the reference's name, which operators filter by

VERSION_KEY = "placement.microversion"
ROUTE_KEY = "plimsoll.route"
"""Key of the WSGI environment: an API sets it to the path of the route, with the names of its values."""
NO_ROUTE = "other"
"""The route of unknown paths, and of requests that are refused before their route is found (401, 406)."""
_LENGTH = "content-length"


class LoggedRequest(context.RequestContext):
    """The request context that oslo.log reads for each log line. Its values are computed when a line is written."""

    def __init__(self, environ: WSGIEnvironment, request_id: str, global_id: str | None) -> None:
        # The parent's constructor takes longer than most requests, and sets attributes that are never read.
        self._environ = environ
        self.request_id = request_id
        self.global_request_id = global_id
        self.update_store()

    def get_logging_values(self) -> dict[str, Any]:
        """Return the same keys as the parent class: the JSON formatter writes all of them."""
        values = {name: self._first(headers) for name, headers in _HEADERS.items()}
        roles = self._environ.get(ROLES, "")
        identity = (
            values[name] or "-" for name in ("user", "project", "domain", "user_domain", "project_domain")
        )
        return values | {
            "request_id": self.request_id,
            "global_request_id": self.global_request_id,
            "resource_uuid": None,
            "project_id": values["project"],
            "roles": [escaped(role.strip()) for role in roles.split(",")] if roles else [],
            "auth_token": "***" if self._environ.get(AUTH_TOKEN) else None,
            "is_admin": False,
            "is_admin_project": self._environ.get(IS_ADMIN_PROJECT, "true").lower() == "true",
            "read_only": False,
            "show_deleted": False,
            "user_identity": " ".join(identity),
        }

    def identity_key(self) -> tuple[Any, ...]:
        """Return a cache key for everything made from `get_logging_values`, except for the ids."""
        get = self._environ.get
        # Only whether there is a token: the token itself must not be cached.
        return (bool(get(AUTH_TOKEN)), *map(get, _IDENTITY_HEADERS))

    def _first(self, headers: tuple[str, ...]) -> Any:
        value = next((self._environ[header] for header in headers if header in self._environ), None)
        return None if value is None else escaped(value)


_HEADERS = {
    attribute.removesuffix("_id"): HEADERS_BY_ATTRIBUTE[attribute]
    for attribute in (
        *("user_id", "user_name", "user_domain_id", "user_domain_name"),
        *("project_id", "project_name", "project_domain_id", "project_domain_name"),
        *("domain_id", "domain_name", "system_scope"),
    )
}
"""Logging values of the caller, each with the headers that can have it."""

_IDENTITY_HEADERS = (
    *(header for headers in _HEADERS.values() for header in headers),
    *(ROLES, IS_ADMIN_PROJECT),
)


@dataclass(frozen=True, slots=True)
class Durations:
    """Settings: whether each line has the duration, and the threshold of slow requests."""

    in_each_line: bool = False
    slow: float = math.inf
    """Seconds from which on a request is logged with a WARNING."""


class RequestLog:
    def __init__(
        self,
        app: WSGIApplication,
        durations: Durations = Durations(),  # noqa: B008  # it is frozen
        *,
        fast: bool = True,
        metrics: Metrics = NO_METRICS,
    ) -> None:
        """Wrap an application. `fast` makes log records without their call site: the fast path `request_log`."""
        self._app = app
        self._durations = durations
        self._fast = fast
        self._metrics = metrics
        form = f"{_FORMAT} duration: %(duration)s" if durations.in_each_line else _FORMAT
        # The process id may be stored: a worker that is forked later loads the application again.
        self._shared_attributes = {**_SHARED_ATTRIBUTES, "msg": form, "process": os.getpid()}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request_id = new_request_id()
        LoggedRequest(environ, request_id, global_request_id(environ))
        environ[REQUEST_ID_KEY] = request_id
        if environ.get("HTTP_ACCEPT", "") in ("", "*/*"):
            environ["HTTP_ACCEPT"] = JSON
        if LOG.isEnabledFor(logging.DEBUG):
            method, address = environ["REQUEST_METHOD"], environ.get("REMOTE_ADDR")
            LOG.debug('Starting request: %s "%s %s"', address, method, _uri(environ))
        started: list[tuple[str, Headers]] = []

        def start(status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], object]:
            headers.append((REQUEST_ID_HEADER, request_id))
            started.append((status, headers))
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        laps = timings.start(environ)
        body = self._app(environ, start)
        timings.lap(environ, timings.OTHER)
        if started:
            route, seconds = environ.get(ROUTE_KEY, NO_ROUTE), laps[-1][1] - laps[0][1]
            self._metrics.request_done(route, environ["REQUEST_METHOD"], started[-1][0][:3], seconds)

        def log() -> None:
            self._log(environ, started, laps)

        return _LoggedTuple(body, log) if isinstance(body, tuple) else _LoggedBody(body, log)

    def _log(self, environ: WSGIEnvironment, started: list[tuple[str, Headers]], laps: timings.Laps) -> None:
        if not started:
            return
        status, headers = started[-1]
        seconds = laps[-1][1] - laps[0][1]
        if seconds >= self._durations.slow:
            method, parts = environ["REQUEST_METHOD"], timings.describe(laps)
            LOG.warning('Slow request: "%s %s" took %.3f s: %s', method, _uri(environ), seconds, parts)
        if LOG.isEnabledFor(logging.INFO):
            facts = _facts(environ, status, headers)
            if self._durations.in_each_line:
                facts["duration"] = f"{seconds:.6f}"
            if self._fast:
                LOG.handle(_RequestRecord(self._shared_attributes, facts))
            else:
                LOG.info(self._shared_attributes["msg"], facts)


class _LoggedTuple(tuple[bytes, ...]):
    """A body that is complete; its `close`, which the server calls when the response was sent, logs the request."""

    close: Callable[[], None]

    def __new__(cls, body: tuple[bytes, ...], log: Callable[[], None]) -> Self:
        logged = super().__new__(cls, body)
        logged.close = log
        return logged


class _LoggedBody:
    """The same for a body that is sent piece by piece."""

    __slots__ = ("_body", "_log")

    def __init__(self, body: Iterable[bytes], log: Callable[[], None]) -> None:
        self._body = body
        self._log = log

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        try:
            close = getattr(self._body, "close", None)
            if close is not None:
                close()
        finally:
            self._log()


def _facts(environ: WSGIEnvironment, status: str, headers: Headers) -> dict[str, str]:
    return {
        "REMOTE_ADDR": environ.get("REMOTE_ADDR", "-"),
        "REQUEST_METHOD": environ["REQUEST_METHOD"],
        "REQUEST_URI": _uri(environ),
        "status": status[:3],
        "bytes": _length(status, headers),
        "microversion": environ.get(VERSION_KEY, "-"),
    }


def _length(status: str, headers: Headers) -> str:
    length = dict(headers).get(_LENGTH)  # the spelling of our own responses
    if length:
        return length
    if status.startswith("204"):
        return "0"
    return next((value for name, value in headers if name.lower() == _LENGTH), "-")


_FORMAT = (
    '%(REMOTE_ADDR)s "%(REQUEST_METHOD)s %(REQUEST_URI)s" status: %(status)s len: %(bytes)s'
    " microversion: %(microversion)s"
)


class _RequestRecord(EscapedLogRecord):
    """A log record as LOG.info makes it, without the name of the thread and the position in the code: cheaper."""

    def __init__(self, shared_attributes: dict[str, Any], facts: dict[str, str]) -> None:
        now = time.time()
        self.__dict__ = {
            **shared_attributes,
            "args": facts,
            "created": now,
            "msecs": now % 1 * 1000,
            "thread": threading.get_ident(),
        }


_SHARED_ATTRIBUTES = EscapedLogRecord(LOG.name, logging.INFO, __file__, 0, _FORMAT, (), None).__dict__


def _uri(environ: WSGIEnvironment) -> str:
    path = f"{environ.get('SCRIPT_NAME', '')}{environ.get('PATH_INFO', '')}"
    if not path.isprintable():  # a line end in it would forge a log line
        path = quote(path, encoding="latin-1")
    query = environ.get("QUERY_STRING")
    return f"{path}?{query}" if query else path
