# SPDX-License-Identifier: Apache-2.0

"""Gives each request its id and writes the line that operators know about it.

The id goes back with the answer, into error documents and into every line that is logged on the way. A global id
that came with the request is kept beside it. A client that accepts anything gets JSON. Probes of the health are let
by: they come every few seconds.
"""

from __future__ import annotations

import logging
import math
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from oslo_context import context

from plimsoll.config.log_records import EscapedLogRecord, escaped
from plimsoll.http import timings
from plimsoll.http.problems import JSON

LOG = logging.getLogger("placement.requestlog")  # operators know the line by this name

VERSION_KEY = "placement.microversion"
_GLOBAL_ID = re.compile(r"req-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}")
REQUEST_ID_KEY = "openstack.request_id"
"""Where a WSGI environment has the id of its request."""
REQUEST_ID_HEADER = "x-openstack-request-id"
_LENGTH = "content-length"


class LoggedRequest(context.RequestContext):
    """What oslo.log puts before each line of a request. Worked out when a line is written, not before."""

    def __init__(self, environ: WSGIEnvironment, request_id: str, global_id: str | None) -> None:
        # The parent's constructor costs more than most requests, and sets what is never asked for.
        self._environ = environ
        self.request_id = request_id
        self.global_request_id = global_id
        self.update_store()

    def get_logging_values(self) -> dict[str, Any]:
        """All that the parent would tell. JSON has it all."""
        told = {name: self._first(headers) for name, headers in _HEADERS.items()}
        roles = self._environ.get("HTTP_X_ROLES", "")
        who = (told[name] or "-" for name in ("user", "project", "domain", "user_domain", "project_domain"))
        return told | {
            "request_id": self.request_id,
            "global_request_id": self.global_request_id,
            "resource_uuid": None,
            "project_id": told["project"],
            "roles": [escaped(role.strip()) for role in roles.split(",")] if roles else [],
            "auth_token": "***" if self._environ.get("HTTP_X_AUTH_TOKEN") else None,
            "is_admin": False,
            "is_admin_project": self._environ.get("HTTP_X_IS_ADMIN_PROJECT", "true").lower() == "true",
            "read_only": False,
            "show_deleted": False,
            "user_identity": " ".join(who),
        }

    def who(self) -> tuple[Any, ...]:
        """What decides about all of them but for the ids: for who keeps what they have made of it."""
        get = self._environ.get
        return (bool(get("HTTP_X_AUTH_TOKEN")), *map(get, _DECIDING))  # a token itself is nobody's to keep

    def _first(self, headers: tuple[str, ...]) -> Any:
        value = next((self._environ[header] for header in headers if header in self._environ), None)
        return None if value is None else escaped(value)


_HEADERS = {
    "user": ("HTTP_X_USER_ID", "HTTP_X_USER"),
    "user_name": ("HTTP_X_USER_NAME",),
    "user_domain": ("HTTP_X_USER_DOMAIN_ID",),
    "user_domain_name": ("HTTP_X_USER_DOMAIN_NAME",),
    "project": ("HTTP_X_PROJECT_ID", "HTTP_X_TENANT_ID", "HTTP_X_TENANT"),
    "project_name": ("HTTP_X_PROJECT_NAME", "HTTP_X_TENANT_NAME"),
    "project_domain": ("HTTP_X_PROJECT_DOMAIN_ID",),
    "project_domain_name": ("HTTP_X_PROJECT_DOMAIN_NAME",),
    "domain": ("HTTP_X_DOMAIN_ID",),
    "domain_name": ("HTTP_X_DOMAIN_NAME",),
    "system_scope": ("HTTP_OPENSTACK_SYSTEM_SCOPE",),
}
"""Where what is logged of a caller comes from: the first that is there."""

_DECIDING = (
    *(header for headers in _HEADERS.values() for header in headers),
    *("HTTP_X_ROLES", "HTTP_X_IS_ADMIN_PROJECT"),
)


@dataclass(frozen=True, slots=True)
class Durations:
    """Settings: the duration in each line, and the threshold of slow requests."""

    in_each_line: bool = False
    slow: float = math.inf
    """Seconds from which on a request gets a WARNING of its own."""


class RequestLog:
    __slots__ = ("_app", "_durations", "_in_common", "_unlogged")

    def __init__(
        self,
        app: WSGIApplication,
        unlogged: Mapping[str, WSGIApplication] | None = None,
        durations: Durations = Durations(),  # noqa: B008  # it is frozen
    ) -> None:
        self._app = app
        self._unlogged = unlogged or {}
        self._durations = durations
        form = f"{_FORM} duration: %(duration)s" if durations.in_each_line else _FORM
        # Whoever is forked off after this loads the application anew.
        self._in_common = {**_IN_COMMON, "msg": form, "process": os.getpid()}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        unlogged = self._unlogged.get(environ.get("PATH_INFO", ""))
        if unlogged is not None:
            return unlogged(environ, start_response)
        given = environ.get("HTTP_X_OPENSTACK_REQUEST_ID", "")
        request_id = new_request_id()
        LoggedRequest(environ, request_id, given if given and _GLOBAL_ID.fullmatch(given) else None)
        environ[REQUEST_ID_KEY] = request_id
        if environ.get("HTTP_ACCEPT", "") in ("", "*/*"):
            environ["HTTP_ACCEPT"] = JSON
        if LOG.isEnabledFor(logging.DEBUG):
            method, address = environ["REQUEST_METHOD"], environ.get("REMOTE_ADDR")
            LOG.debug('Starting request: %s "%s %s"', address, method, _uri(environ))

        laps = timings.start(environ)
        logged = _ThenLogged(self._in_common, environ, request_id, start_response, self._durations, laps)
        logged.answer = self._app(environ, logged.start)
        return logged


class _ThenLogged:
    """An answer. When it is sent the server closes it, and its line is logged: its client does not wait for that."""

    __slots__ = (
        *("_environ", "_headers", "_in_common", "_request_id", "_durations", "_start_response", "_status"),
        *("_laps", "answer"),
    )

    def __init__(
        self,
        in_common: dict[str, Any],
        environ: WSGIEnvironment,
        request_id: str,
        start_response: StartResponse,
        durations: Durations,
        laps: timings.Laps,
    ) -> None:
        self._durations = durations
        self._laps = laps
        self._in_common = in_common
        self._environ = environ
        self._request_id = request_id
        self._start_response = start_response
        self._status: str | None = None
        self.answer: Iterable[bytes] = ()

    def start(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], object]:
        self._status = status
        self._headers = headers
        self._laps.append((timings.OTHER, time.perf_counter()))
        headers.append((REQUEST_ID_HEADER, self._request_id))
        if exc_info:
            return self._start_response(status, headers, exc_info)
        return self._start_response(status, headers)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.answer)

    def close(self) -> None:
        try:
            if hasattr(self.answer, "close"):
                self.answer.close()
        finally:
            if self._status is not None:
                self._log(self._status)

    def _log(self, status: str) -> None:
        seconds = self._laps[-1][1] - self._laps[0][1]
        if seconds >= self._durations.slow:
            method = self._environ["REQUEST_METHOD"]
            parts = timings.describe(self._laps)
            LOG.warning('Slow request: "%s %s" took %.3f s: %s', method, _uri(self._environ), seconds, parts)
        if LOG.isEnabledFor(logging.INFO):
            facts = _facts(self._environ, status, self._headers)
            if self._durations.in_each_line:
                facts["duration"] = f"{seconds:.6f}"
            LOG.handle(_Line(self._in_common, facts))


def new_request_id() -> str:
    """A uuid that nobody has to be kept from guessing, after the prefix that OpenStack's services use."""
    digits = f"{random.getrandbits(128):032x}"
    return f"req-{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _facts(environ: WSGIEnvironment, status: str, headers: list[tuple[str, str]]) -> dict[str, str]:
    return {
        "REMOTE_ADDR": environ.get("REMOTE_ADDR", "-"),
        "REQUEST_METHOD": environ["REQUEST_METHOD"],
        "REQUEST_URI": _uri(environ),
        "status": status[:3],
        "bytes": _length(status, headers),
        "microversion": environ.get(VERSION_KEY, "-"),
    }


def _length(status: str, headers: list[tuple[str, str]]) -> str:
    length = dict(headers).get(_LENGTH)  # as we write it ourselves
    if length:
        return length
    if status.startswith("204"):
        return "0"
    return next((value for name, value in headers if name.lower() == _LENGTH), "-")


_FORM = (
    '%(REMOTE_ADDR)s "%(REQUEST_METHOD)s %(REQUEST_URI)s" status: %(status)s len: %(bytes)s'
    " microversion: %(microversion)s"
)


class _Line(EscapedLogRecord):
    """What LOG.info would make, but for what no line of a request is about: threads, and the place in the code."""

    def __init__(self, in_common: dict[str, Any], facts: dict[str, str]) -> None:
        now = time.time()
        self.__dict__ = {
            **in_common,
            "args": facts,
            "created": now,
            "msecs": now % 1 * 1000,
            "thread": threading.get_ident(),
        }


_IN_COMMON = EscapedLogRecord(LOG.name, logging.INFO, __file__, 0, _FORM, (), None).__dict__


def _uri(environ: WSGIEnvironment) -> str:
    path = f"{environ.get('SCRIPT_NAME', '')}{environ.get('PATH_INFO', '')}"
    if not path.isprintable():  # a line end in it would begin a line that nobody has logged
        path = quote(path, encoding="latin-1")
    query = environ.get("QUERY_STRING")
    return f"{path}?{query}" if query else path
