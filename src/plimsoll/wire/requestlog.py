# SPDX-License-Identifier: Apache-2.0

"""Gives each request its id and writes the line that operators know about it.

The id goes back with the answer, into error documents and into every line that is logged on the way. A global id
that came with the request is kept beside it. A client that accepts anything gets JSON.
"""

from __future__ import annotations

import logging
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from oslo_context import context

from plimsoll.wire.call import REQUEST_ID_KEY
from plimsoll.wire.problems import JSON

LOG = logging.getLogger(__name__)

VERSION_KEY = "placement.microversion"
_GLOBAL_ID = re.compile(r"req-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}")
_HEADER = "x-openstack-request-id"


class LoggedRequest(context.RequestContext):
    """What oslo.log puts before each line of a request. Worked out when a line is written, not before."""

    def __init__(self, environ: WSGIEnvironment, request_id: str, global_id: str | None) -> None:
        # The parent's constructor costs more than most requests, and sets what is never asked for.
        self._environ = environ
        self.request_id = request_id
        self.global_request_id = global_id
        self.update_store()

    def get_logging_values(self) -> dict[str, Any]:
        get = self._environ.get
        user = get("HTTP_X_USER_ID") or "-"
        project = get("HTTP_X_PROJECT_ID") or get("HTTP_X_TENANT_ID") or "-"
        return {
            "request_id": self.request_id,
            "global_request_id": self.global_request_id,
            "resource_uuid": None,
            "user": user,
            "project": project,
            "user_identity": f"{user} {project} - - -",
        }


class RequestLog:
    __slots__ = ("_app",)

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        given = environ.get("HTTP_X_OPENSTACK_REQUEST_ID", "")
        request_id = _new_id()
        LoggedRequest(environ, request_id, given if _GLOBAL_ID.fullmatch(given) else None)
        environ[REQUEST_ID_KEY] = request_id
        if environ.get("HTTP_ACCEPT", "") in ("", "*/*"):
            environ["HTTP_ACCEPT"] = JSON
        if LOG.isEnabledFor(logging.DEBUG):
            method, address = environ["REQUEST_METHOD"], environ.get("REMOTE_ADDR")
            LOG.debug('Starting request: %s "%s %s"', address, method, _uri(environ))

        def start(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> Callable[[bytes], object]:
            named = {name.lower(): value for name, value in headers}
            if LOG.isEnabledFor(logging.INFO):
                _log(environ, status, named.get("content-length", "-"))
            if _HEADER not in named:
                headers = [*headers, (_HEADER, request_id)]
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        return self._app(environ, start)


def _new_id() -> str:
    """A uuid that nobody has to be kept from guessing, after the prefix that OpenStack's services use."""
    digits = f"{random.getrandbits(128):032x}"
    return f"req-{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _log(environ: WSGIEnvironment, status: str, length: str) -> None:
    line = (
        f'{environ.get("REMOTE_ADDR", "-")} "{environ["REQUEST_METHOD"]} {_uri(environ)}"'
        f" status: {status[:3]} len: {length} microversion: {environ.get(VERSION_KEY, '-')}"
    )
    LOG.handle(_Line(line))


class _Line(logging.LogRecord):
    """What LOG.info would make, but for what no line of a request is about: threads, and the place in the code."""

    def __init__(self, text: str) -> None:
        now = time.time()
        self.__dict__.update(
            _IN_COMMON,
            msg=text,
            created=now,
            msecs=now % 1 * 1000,
            process=os.getpid(),
            thread=threading.get_ident(),
        )


_IN_COMMON = logging.LogRecord(LOG.name, logging.INFO, __file__, 0, "", (), None).__dict__


def _uri(environ: WSGIEnvironment) -> str:
    path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    query = environ.get("QUERY_STRING")
    return f"{path}?{query}" if query else str(path)
