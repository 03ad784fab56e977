# SPDX-License-Identifier: Apache-2.0

"""SIGHUP stops the service if its terminal was closed, and reloads it otherwise."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.servers.places import free_port

ROOT = str(Path(__file__).parents[3])  # the workers import a module of the tests

SERVE = """
import sys
from plimsoll.server.limits import Limits
from plimsoll.server.sockets import Listen
from plimsoll.server.supervisor import run
run(Listen("127.0.0.1", int(sys.argv[1]), 1), Limits(), lambda: print("ready", flush=True), "small:make")
"""
SMALL = """
from tests.support.wsgi import PlainApplication

def make(runtime, worker):
    return PlainApplication(lambda environ, start_response: ())
"""


def test_a_service_ends_with_the_terminal_that_it_was_started_from(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(SMALL)
    search = os.pathsep.join(filter(None, [str(tmp_path), ROOT, os.environ.get("PYTHONPATH")]))
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
    """Make it the controlling terminal of this process, as a shell does."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
