# SPDX-License-Identifier: Apache-2.0

"""How a worker takes leave, and what a terminal that hangs up means."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from wsgiref.types import StartResponse, WSGIEnvironment

from plimsoll.cli.workers import Leaving
from tests.support.servers.places import free_port


def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("200 OK", [("content-length", "0")])
    return ()


def headers_of(leaving: Leaving) -> dict[str, str]:
    headers: dict[str, str] = {}
    leaving({}, lambda _, given, *__: headers.update(given))  # type: ignore[arg-type]
    return headers


def test_who_takes_leave_says_so() -> None:
    leaving = Leaving(app)
    assert headers_of(leaving) == {"content-length": "0"}
    leaving.is_leaving = True
    assert headers_of(leaving) == {"content-length": "0", "connection": "close"}


SERVE = """
import sys
from plimsoll.cli.server import Listen, run
run(Listen("127.0.0.1", int(sys.argv[1]), 1, 1), lambda: print("ready", flush=True), "small:make")
"""
SMALL = "def make():\n    return lambda environ, start_response: ()\n"


def test_a_service_ends_with_the_terminal_that_it_was_started_from(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(SMALL)
    search = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    terminal, inside = pty.openpty()
    service = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(free_port())],
        env={**os.environ, "PYTHONPATH": search},
        stdin=inside,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: _take(inside),
    )
    os.close(inside)
    try:
        assert service.stdout is not None
        assert service.stdout.readline() == "ready\n"
        service.send_signal(signal.SIGHUP)  # while the terminal is there this is a reload
        time.sleep(0.2)
        assert service.poll() is None
        os.close(terminal)
        _, errors = service.communicate(timeout=60)
        assert service.returncode == 0, errors
    finally:
        service.kill()
        service.communicate()


def _take(terminal: int) -> None:
    """Make it the terminal of this process, as a shell does."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
