# SPDX-License-Identifier: Apache-2.0

"""Validations with a thread per request, as in other servers; `tests/cloud` tests them in `plimsoll serve`."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from wsgiref.util import setup_testing_defaults

import pytest

from plimsoll.access import IdentityUnavailable, with_authentication
from plimsoll.access.validations import Validations, ValidationTimeout, retries_within
from plimsoll.config import loader
from plimsoll.permit import ENVIRON_KEY
from plimsoll.runtime.threads import Threads
from tests.cloud.fake_keystone import LOGIN, VALIDATION, VERSIONS, FakeKeystone
from tests.unit.access.wsgi import Recorder, call

pytestmark = pytest.mark.filterwarnings("ignore:::keystonemiddleware")


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(20) as pool:
        yield pool


class Slow:
    """A validation that ends when its event is set."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        self.calls: list[str] = []

    def __call__(self, name: str = "") -> str:
        self.calls.append(name)
        self.begun.release()
        assert self.may_end.wait(60)
        if name == "refused":
            raise ValueError(name)
        return f"result of {name}"


def test_equal_calls_get_the_result_of_the_first(pool: ThreadPoolExecutor) -> None:
    validations, slow = Validations(5, 60, Threads()), Slow()
    waiting = [pool.submit(validations.run, "key", lambda: slow("a")) for _ in range(10)]
    assert slow.begun.acquire(timeout=60)
    wait_for_waiters(validations, 10)
    slow.may_end.set()
    assert {each.result() for each in waiting} == {"result of a"}
    assert slow.calls == ["a"]
    assert validations.run("key", lambda: "anew") == "anew"


def test_equal_calls_get_the_exception_of_the_first(pool: ThreadPoolExecutor) -> None:
    validations, slow = Validations(5, 60, Threads()), Slow()
    waiting = [pool.submit(validations.run, "key", lambda: slow("refused")) for _ in range(10)]
    assert slow.begun.acquire(timeout=60)
    wait_for_waiters(validations, 10)
    slow.may_end.set()
    for each in waiting:
        with pytest.raises(ValueError, match="refused"):
            each.result()
    assert slow.calls == ["refused"]


def test_a_first_call_that_is_interrupted_fails_the_others_and_blocks_no_later_one(
    pool: ThreadPoolExecutor,
) -> None:
    validations, slow = Validations(1, 60, Threads()), Slow()

    def interrupted() -> str:
        slow()
        raise SystemExit

    first = pool.submit(validations.run, "key", interrupted)
    assert slow.begun.acquire(timeout=60)
    second = pool.submit(validations.run, "key", interrupted)
    wait_for_waiters(validations, 2)
    slow.may_end.set()
    assert isinstance(first.exception(), SystemExit)
    assert isinstance(second.exception(), ValidationTimeout)
    assert validations.run("key", lambda: "anew") == "anew"


def test_a_call_beyond_the_limit_fails_after_the_timeout(pool: ThreadPoolExecutor) -> None:
    validations, slow = Validations(1, 0.2, Threads()), Slow()
    first = pool.submit(validations.run, "a", lambda: slow("a"))
    assert slow.begun.acquire(timeout=60)
    with pytest.raises(ValidationTimeout, match="validations of other tokens"):
        validations.run("b", lambda: slow("b"))
    with pytest.raises(ValidationTimeout, match="token_validation_timeout"):
        validations.run("a", lambda: slow("a"))
    slow.may_end.set()
    assert first.result() == "result of a"
    assert slow.calls == ["a"]


def wait_for_waiters(validations: Validations, count: int) -> None:
    """Wait until this many threads are in `run`: the first one validates, the others wait for its outcome."""
    code = Validations.run.__code__
    for _ in range(6000):
        frames = list(sys._current_frames().values())
        if sum(_is_within(frame, code) for frame in frames) == count:
            return
        threading.Event().wait(0.01)
    raise AssertionError("they do not come")


def _is_within(frame: object, code: object) -> bool:
    while frame is not None:
        if frame.f_code is code:  # type: ignore[attr-defined]
            return True
        frame = frame.f_back  # type: ignore[attr-defined]
    return False


@pytest.mark.parametrize(("timeout", "retries"), [(0.1, 0), (1, 1), (2, 2), (5, 3), (60, 6)])
def test_retries_fit_into_the_timeout(timeout: float, retries: int) -> None:
    assert retries_within(timeout) == retries
    assert sum(0.5 * 2**each for each in range(retries)) <= timeout


@pytest.mark.parametrize(
    ("step", "how"), [(VERSIONS, "hang"), (LOGIN, "hang"), (VALIDATION, "hang"), (VALIDATION, "half")]
)
def test_threads_are_not_blocked_longer_than_the_timeout(
    tmp_path: Path, pool: ThreadPoolExecutor, step: str, how: str
) -> None:
    with FakeKeystone() as keystone:
        file = tmp_path / "placement.conf"
        section = keystone.authtoken(http_connect_timeout=600, http_request_max_retries=50)
        file.write_text(f"{section}[plimsoll]\ntoken_validation_timeout = 1\n")
        app = with_authentication(Recorder(), loader.load([str(file)]), Threads())
        keystone.failing[step] = how
        waiting = [pool.submit(call, app, "/traits", X_AUTH_TOKEN=f"good {number}") for number in range(5)]
        for each in waiting:
            assert isinstance(each.exception(60), IdentityUnavailable)
        keystone.release()
        assert call(app, "/traits", X_AUTH_TOKEN="good 0").status == "200 OK"


class RecordedPermit:
    """A permit that records its calls."""

    def __init__(self) -> None:
        self.record: list[str] = []

    @contextmanager
    def released(self) -> Iterator[None]:
        self.record.append("released")
        yield
        self.record.append("taken again")

    def pause(self) -> None:
        raise AssertionError("authentication computes nothing")

    def is_client_gone(self) -> bool:
        return False


@pytest.mark.parametrize("public_address", [True, False])
def test_a_request_holds_its_permit_except_while_it_waits_for_keystone(
    tmp_path: Path, public_address: bool
) -> None:
    with FakeKeystone() as keystone:
        file = tmp_path / "placement.conf"
        file.write_text(keystone.authtoken(**{} if public_address else {"www_authenticate_uri": ""}))
        app = with_authentication(Recorder(), loader.load([str(file)]), Threads())

        def record_of(**headers: str) -> list[str]:
            permit = RecordedPermit()
            environ = {ENVIRON_KEY: permit, "PATH_INFO": "/traits", "REQUEST_METHOD": "GET"}
            environ |= {f"HTTP_{name}": value for name, value in headers.items()}
            setup_testing_defaults(environ)
            app(environ, lambda *_: lambda _: None)
            return permit.record

        assert record_of(X_AUTH_TOKEN="good") == ["released", "taken again"]
        assert record_of(X_AUTH_TOKEN="good") == []
        assert record_of() == ([] if public_address else ["released", "taken again"])
        assert record_of() == []


UNDER_GEVENT = """
from gevent import monkey
monkey.patch_all()
import gevent
from plimsoll.access.validations import Validations, ValidationTimeout
from plimsoll.runtime.greenlets import Greenlets

validations = Validations(1, 0.3, Greenlets())
order = []

def run(key, seconds):
    try:
        order.append(validations.run(key, lambda: gevent.sleep(seconds) or f"{key} done"))
    except ValidationTimeout:
        order.append(f"{key} timed out")

gevent.joinall([gevent.spawn(run, "a", 3600), gevent.spawn(run, "a", 3600)])
gevent.joinall([gevent.spawn(run, "b", 0), gevent.spawn(run, "b", 0)])
print(*order, sep="\\n")
"""


def test_greenlets_are_interrupted_whatever_they_wait_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNDER_GEVENT], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == ["a timed out"] * 2 + ["b done"] * 2
