# SPDX-License-Identifier: Apache-2.0

"""Who waits, who is woken, and who gives way, so that nobody keeps others from their work.

Threads take turns by themselves. Where all requests of a process share one thread (gevent, see `serving`), others go on
only while somebody waits: whoever has much to do gives way now and then, or does it aside.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, TypeVar

T = TypeVar("T")

PACE_SECONDS = 0.0003
"""For which a long computation runs before it lets other requests run again."""
SHORT_SECONDS = 0.005
"""A computation that takes less time than this is not interrupted: a batch of common size is decided without a switch."""


class Counted:
    """How many there are of something, as the server of this process counts them: `with AT_WORK`."""

    __slots__ = ("_most", "count")

    def __init__(self) -> None:
        self.count = 0
        self._most = 0

    def __enter__(self) -> None:
        self.count += 1
        if self.count > self._most:
            self._most = self.count

    def __exit__(self, *_: object) -> None:
        self.count -= 1

    def lately(self) -> int:
        """The most at the same time, lately: one less each time that this is asked, unless there were as many again."""
        most = self._most
        if most > self.count:
            self._most -= 1
        return most


CONNECTED = Counted()
"""Clients that may ask for something."""
AT_WORK = Counted()
"""Requests that are being answered."""


class Clients:
    """Who asks: many in turn, or one again and again."""

    __slots__ = ("_in_a_row", "_last")

    def __init__(self) -> None:
        self._last: object = None
        self._in_a_row = 0

    def note(self, client: object) -> None:
        """This one asks for something."""
        if client is self._last:
            self._in_a_row += 1
        else:
            self._last, self._in_a_row = client, 0

    @property
    def are_one(self) -> bool:
        return self._in_a_row > 1 and AT_WORK.count <= 1


CLIENTS = Clients()
"""Those of this process."""


class Event:
    """One waits until another rings. Whoever is late does not wait, and then it can be rung again."""

    __slots__ = ("_silence",)

    def __init__(self) -> None:
        self._silence = threading.Lock()
        self._silence.acquire()

    def ring(self) -> None:
        self._silence.release()

    def wait(self, seconds: float = -1) -> bool:
        """False if nothing has rung in time; without a time, wait for as long as it takes."""
        return self._silence.acquire(timeout=seconds)


class _BellOfGreenlets(Event):
    """Nobody comes in between here, so that it needs no lock, which takes twice as long."""

    __slots__ = ("_gevent", "_has_rung", "_waiting")

    def __init__(self, gevent: Any) -> None:
        self._gevent = gevent
        self._has_rung = False
        self._waiting: Any = None

    def ring(self) -> None:
        self._has_rung = True
        if self._waiting is not None:
            self._gevent.get_hub().loop.run_callback(self._resume_if_rung)

    def wait(self, seconds: float = -1) -> bool:
        if not self._has_rung:
            hub = self._gevent.get_hub()
            timer = None if seconds < 0 else hub.loop.timer(seconds)
            self._waiting = self._gevent.getcurrent()
            try:
                if timer is not None:
                    timer.start(self._resume)
                hub.switch()
            finally:
                self._waiting = None
                if timer is not None:
                    timer.close()
        has_rung, self._has_rung = self._has_rung, False
        return has_rung

    def _resume_if_rung(self) -> None:
        """If it is not, the wait has ended by its timer meanwhile, and a later one goes on."""
        if self._has_rung:
            self._resume()

    def _resume(self) -> None:
        """Switch to the greenlet that waits, once: after it was resumed it may wait for something else."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.switch()


def new_event() -> Event:
    gevent = _gevent()
    return Event() if gevent is None else _BellOfGreenlets(gevent)


class BusyPoll:
    """For something that must come any moment: to look out for it takes less than to go to sleep and to be woken.

    Meanwhile nobody else goes on, so it is done only where one client asks again and again; and for what came soon the last
    time: what takes long is slept for. Nor does it take longer than what was done since: at most half of the time goes into
    looking out. `with lookout: lookout.spots(where)`, and then what waits until it is there.
    """

    __slots__ = ("_came", "_comes_soon", "_moment", "_since")

    def __init__(self, moment: float) -> None:
        self._moment = moment
        """Seconds after which it is not looked out for any more."""
        self._since = self._came = 0.0
        self._comes_soon = False

    def __enter__(self) -> None:
        self._since = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._came = time.perf_counter()
        # Whoever has slept is late by the time that it takes to be woken.
        self._comes_soon = self._came - self._since < 2 * self._moment

    def spots(self, descriptor: int | None) -> bool:
        """Whether there is something to read there, now or soon. Of a place that is not known, nothing is."""
        if descriptor is None or descriptor < 0 or not (self._comes_soon and CLIENTS.are_one):
            return False
        until = self._since + min(self._moment, self._since - self._came)
        while not has_input(descriptor):
            if time.perf_counter() > until:
                return False
            os.sched_yield()
        return True


def give_way() -> None:
    """Let other requests run, including those that have arrived but were not read yet."""
    if _gevent() is None:
        time.sleep(0)
    else:
        from plimsoll.runtime.yields import yield_now

        yield_now()


def run_ready() -> None:
    """Let the greenlets run that are ready. Sockets are not polled: cheaper than `give_way`."""
    time.sleep(0)


class Pace:
    """Lets other requests run about every 0.3 milliseconds of a long computation: to be called at each step of it.

    Only where requests share one thread: the interpreter switches between threads by itself.
    """

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next = float("inf") if _gevent() is None else time.perf_counter() + SHORT_SECONDS

    def __call__(self) -> None:
        if time.perf_counter() >= self._next:
            give_way()
            self._next = time.perf_counter() + PACE_SECONDS


def paced(items: Iterable[T]) -> Iterator[T]:
    """Iterate over items that take a few microseconds each, and let other requests run now and then."""
    pause = Pace()
    for number, item in enumerate(items, 1):
        yield item
        if not number % _ITEMS_PER_PAUSE:
            pause()


_ITEMS_PER_PAUSE = 32


def yield_to_pending() -> None:
    """For who is about to do something for all: those who have asked by now are heard. Nobody is, if there is one client."""
    if CONNECTED.count > 1:
        run_ready()


def offload(work: Callable[[], T]) -> T:
    """What this work gives. It may neither take a lock nor use a connection to a server: those are of this thread."""
    gevent = _gevent()
    if gevent is None:
        return work()
    done: T = gevent.get_hub().threadpool.apply(work)
    return done


class TimeLimitExceeded(Exception):
    """The block of a `time_limit` took too long."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the block with TimeLimitExceeded after so many seconds, whatever it waits for.

    Threads cannot be interrupted: where there is no gevent, the block itself has to keep the limit.
    """
    gevent = _gevent()
    if gevent is None:
        yield
        return
    timer = gevent.Timeout.start_new(seconds)
    try:
        yield
    except gevent.Timeout as expired:
        if expired is not timer:
            raise
        raise TimeLimitExceeded from None
    finally:
        timer.close()


class InlineOrOffload:
    """Work that is mostly soon done, and is done here then: to hand it to a thread takes as long.

    If it took long, it is done aside for a while, so that others can go on meanwhile; then it is tried here again.
    """

    __slots__ = ("_moment", "_times_aside")

    def __init__(self, moment: float) -> None:
        self._moment = moment
        """Seconds that others can wait for it."""
        self._times_aside = 0

    @property
    def is_aside(self) -> bool:
        """Whether others go on while it is done."""
        return self._times_aside > 0

    def do(self, work: Callable[[], T]) -> T:
        if self._times_aside:
            self._times_aside -= 1
            return offload(work) if AT_WORK.count > 1 else work()
        begun = time.perf_counter()
        try:
            return work()
        finally:
            if time.perf_counter() - begun > self._moment:
                self._times_aside = _TIMES_ASIDE


_TIMES_ASIDE = 16
"""So seldom others wait for what takes long."""


def wait_for_input(descriptor: int, seconds: float) -> None:
    """Until there is something to read there. gevent has a `poll` as well, but it takes twice as long as this.

    Raises TimeoutError if nothing comes in time.
    """
    gevent = _gevent()
    if gevent is not None:
        gevent.socket.wait_read(descriptor, seconds, TimeoutError())
    else:
        _poll(descriptor, select.POLLIN, seconds)


def wait_for_input_or_room(descriptor: int, seconds: float) -> None:
    """Wait until the descriptor can be read from or written to. Raises TimeoutError if it cannot in time."""
    gevent = _gevent()
    if gevent is not None:
        gevent.socket.wait_readwrite(descriptor, seconds, TimeoutError())
    else:
        _poll(descriptor, select.POLLIN | select.POLLOUT, seconds)


def _poll(descriptor: int, events: int, seconds: float) -> None:
    waiting = select.poll()
    waiting.register(descriptor, events)
    if not waiting.poll(seconds * 1000):
        raise TimeoutError


def has_input(descriptor: int) -> bool:
    """Whether there is something to read there already, if only that the other side has hung up."""
    return bool(_looking(descriptor)(0))


@lru_cache(maxsize=64)
def _looking(descriptor: int) -> Callable[[int], list[tuple[int, int]]]:
    """At whatever has this number at the time: the system is told the number alone."""
    gevent = _gevent()
    # gevent's own lets others go on meanwhile, which takes longer than to look.
    looking = (select.poll if gevent is None else gevent.monkey.get_original("select", "poll"))()
    looking.register(descriptor, select.POLLIN)
    look: Callable[[int], list[tuple[int, int]]] = looking.poll
    return look


@cache
def _gevent() -> Any:
    """gevent, where all requests of this process share one thread; else None."""
    patches = sys.modules.get("gevent.monkey")
    if patches is None or not patches.is_module_patched("threading"):
        return None
    import gevent.monkey
    import gevent.socket

    return gevent
