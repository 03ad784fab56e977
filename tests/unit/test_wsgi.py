# SPDX-License-Identifier: Apache-2.0

"""The service is loaded once per process, by the first thread that needs it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll import wsgi
from plimsoll.runtime.base import Runtime
from tests.support.wsgi import environ


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the processes that have loaded the service."""
    loads: list[int] = []

    def load(_: Runtime) -> object:
        time.sleep(0.01)
        loads.append(os.getpid())
        return application

    monkeypatch.setattr(wsgi, "_load", load)
    monkeypatch.setattr(wsgi, "application", wsgi._Application())
    return loads


def application(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("200 OK", [])
    return [b"here"]


def send_request() -> list[bytes]:
    return list(wsgi.application(environ("GET", "/", b"", ()), lambda *_: None))  # type: ignore[arg-type]


def test_many_threads_at_once_load_it_once(loads: list[int]) -> None:
    threads = [threading.Thread(target=send_request) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [os.getpid()]
    assert wsgi.load_application() is wsgi.load_application() is wsgi.application
    assert len(loads) == 1


def test_a_forked_process_loads_its_own_service(loads: list[int]) -> None:
    wsgi.load_application()
    child = os.fork()
    if not child:
        right = send_request() == send_request() == [b"here"] and loads == [os.getppid(), os.getpid()]
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert loads == [os.getpid()]


def test_a_failed_load_is_retried(loads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as once:
        once.setattr(wsgi, "_load", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            send_request()
    assert send_request() == [b"here"]
