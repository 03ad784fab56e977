# SPDX-License-Identifier: Apache-2.0

"""The service of a process is loaded once, by whoever asks first, and by each process for itself."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll import wsgi
from tests.support.wsgi import environ


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that have loaded."""
    loads: list[int] = []

    def load() -> object:
        time.sleep(0.01)
        loads.append(os.getpid())
        return answer

    monkeypatch.setattr(wsgi, "_load", load)
    monkeypatch.setattr(wsgi, "application", wsgi._Application())
    return loads


def answer(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("200 OK", [])
    return [b"here"]


def ask() -> list[bytes]:
    return list(wsgi.application(environ("GET", "/", b"", ()), lambda *_: None))  # type: ignore[arg-type]


def test_many_threads_at_once_load_it_once(loads: list[int]) -> None:
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [os.getpid()]
    assert wsgi.load_application() is wsgi.load_application() is wsgi.application
    assert len(loads) == 1


def test_a_process_that_was_forked_off_loads_for_itself(loads: list[int]) -> None:
    wsgi.load_application()
    child = os.fork()
    if not child:
        right = ask() == ask() == [b"here"] and loads == [os.getppid(), os.getpid()]
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert loads == [os.getpid()]


def test_a_load_that_failed_is_tried_again(loads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as once:
        once.setattr(wsgi, "_load", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ask()
    assert ask() == [b"here"]
