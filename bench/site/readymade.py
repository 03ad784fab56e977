# SPDX-License-Identifier: Apache-2.0

"""Application that sends stored responses: the minimum time of the HTTP server for these bytes.

GET /name sends the content of the file `name`; everything else gets an empty document. It runs under Plimsoll's HTTP
server with the same settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from wsgiref.types import StartResponse, WSGIEnvironment

from bench.client.http import HOST
from plimsoll.runtime.base import Runtime
from tests.support.wsgi import PlainApplication

DIRECTORY = "PLIMSOLL_BENCH_ANSWERS"


def load(_: Runtime, __: int) -> PlainApplication:
    bodies = {f"/{file.name}": file.read_bytes() for file in Path(os.environ[DIRECTORY]).iterdir()}

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body = bodies.get(environ["PATH_INFO"], b"{}")
        headers = [
            ("openstack-api-version", "placement 1.39"),
            ("vary", "openstack-api-version"),
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("cache-control", "no-cache"),
            ("last-modified", "Thu, 01 Jan 2026 12:00:00 GMT"),
            ("x-openstack-request-id", "req-00000000-0000-0000-0000-000000000000"),
        ]
        start_response("200 OK", headers)
        return (body,)

    return PlainApplication(application)


def main() -> None:
    from plimsoll.server.limits import Limits
    from plimsoll.server.sockets import Listen
    from plimsoll.server.supervisor import run

    port, directory = sys.argv[1:]
    os.environ[DIRECTORY] = directory
    run(Listen(HOST, int(port), 1), Limits(), when_ready=lambda: None, factory="bench.site.readymade:load")


if __name__ == "__main__":
    main()
