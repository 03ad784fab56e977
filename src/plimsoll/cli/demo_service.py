# SPDX-License-Identifier: Apache-2.0

"""The services that `plimsoll demo` can start: one in this process, or `plimsoll serve --dev` beside it."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.types import WSGIApplication

import click

from plimsoll.api.placement.features import Feature, version_text
from plimsoll.cli.development import STATE_VARIABLE, set_development_defaults
from plimsoll.cli.settings import Program, one_line_errors
from plimsoll.client.target import DEVELOPMENT_TOKEN
from plimsoll.config.database_url import VARIABLE
from plimsoll.demo.sender import Sender, http_sender

DEMO_FILE, DEMO_LOG = "demo.sqlite", "demo.log"
"""The database and the log of --serve, beside that of `plimsoll serve --dev`, which stays as it is."""
UNTYPED_VERSION = f"placement {version_text(Feature.CONSUMER_TYPES.minor - 1)}"
"""The last version in which consumers have no type."""
START_SECONDS = 60
STOP_SECONDS = 30


@contextlib.contextmanager
def service_in_process() -> Iterator[tuple[Sender, str]]:
    """Open the development database, and yield a sender to the API on it and the URL of the database."""
    # Imported here because it imports all layers, which --url does not need.
    from plimsoll.bootstrap import temporary_application

    logging.getLogger("plimsoll.access.noauth").setLevel(
        logging.ERROR
    )  # no other client can reach this process
    set_development_defaults()
    with one_line_errors(), temporary_application(Program().load()) as application:
        yield sender_to(application), os.environ[VARIABLE].rpartition("@")[2].removeprefix("sqlite:///")


def sender_to(application: WSGIApplication) -> Sender:
    """Return a sender that calls the application in this process, as an administrator."""

    def send(method: str, target: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        path, _, query = target.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/2",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_X_AUTH_TOKEN": DEVELOPMENT_TOKEN,
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        environ |= {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        status: list[str] = []
        chunks: Any = application(environ, lambda line, *_: status.append(line))  # type: ignore[arg-type]
        try:
            received = b"".join(chunks)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        return int(status[0][:3]), received

    return Sender(send, UNTYPED_VERSION)


@contextlib.contextmanager
def service_beside(port: int) -> Iterator[tuple[Sender, str]]:
    """Start `plimsoll serve --dev` on the demo's own database; yield a sender to it and its address."""
    set_development_defaults(DEMO_FILE)
    url = f"http://127.0.0.1:{port}"
    log = Path(os.environ[STATE_VARIABLE]) / DEMO_LOG
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "plimsoll.cli", "serve", "--dev", "--port", str(port)]
    # Without a handler, SIGTERM would end this process and leave the service running.
    before = signal.signal(signal.SIGTERM, _end)
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)  # noqa: S603 - our own command
    try:
        _wait_until_ready(process, url, log)
        yield http_sender(url, lambda: DEVELOPMENT_TOKEN, UNTYPED_VERSION), url
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        signal.signal(signal.SIGTERM, before)


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            last = log.read_text(errors="replace").strip().splitlines()[-1:]
            raise click.ClickException(f"The service did not start: {''.join(last)} (the log is {log})")
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{url}/healthz", timeout=5).close()  # noqa: S310 - an address of ours
            return
        time.sleep(0.05)
    raise click.ClickException(f"The service did not respond within {START_SECONDS} s.")
