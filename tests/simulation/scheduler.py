# SPDX-License-Identifier: Apache-2.0

"""A deterministic scheduler: tasks are greenlets, time is simulated, and choices decide which task goes on.

A task can be interrupted at its scheduling points: where it waits, yields, takes or releases a lock, and sends to or
receives from the database. Between two of them it runs alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from greenlet import GreenletExit, getcurrent, greenlet

from tests.simulation.choices import Choices

MAX_STEPS = 30_000
"""Scheduling points of one run, at most: a run that needs more does not end."""


class Violation(BaseException):
    """A rule that did not hold. Not an Exception: the code under test must not handle it."""


class ProcessEnded(BaseException):
    """Raised in the tasks of a process that was killed, wherever they use the database."""


@dataclass(eq=False)
class Group:
    """The tasks of one process, which end together when it is killed."""

    name: str
    is_alive: bool = True
    tasks: list[Task] = field(default_factory=list)


@dataclass(eq=False)
class Task:
    name: str
    group: Group
    greenlet: greenlet
    is_daemon: bool
    """True if the run may end before this task does."""
    is_ready: bool = True
    wake_at: float | None = None
    """The simulated time at which a wait ends."""
    waits_for: str = ""

    def __str__(self) -> str:
        return f"{self.group.name} {self.name}"


class Scheduler:
    """Runs one task at a time, until all are done or a rule did not hold."""

    def __init__(self, choices: Choices, *, switch_probability: float, step_seconds: float) -> None:
        self.choices = choices
        self._switch_probability = switch_probability
        self._step_seconds = step_seconds
        self.now = 1_000.0
        self.steps = 0
        self.tasks: list[Task] = []
        self.current: Task | None = None
        self.violation: Violation | None = None
        self.on_step: Callable[[], None] = lambda: None
        """Checks the rules after each step. Raises Violation."""
        self.next_event: Callable[[], bool] = lambda: False
        """Runs one event that is due, if there is one."""
        self.is_event_due: Callable[[], bool] = lambda: False
        self.trace: list[str] | None = None
        """One line for each thing that happened; None if it is not recorded."""
        self._hub = getcurrent()
        self._is_closed = False

    def log(self, text: str) -> None:
        if self.trace is not None:
            task = "server" if self.current is None else str(self.current)
            self.trace.append(f"{self.steps:5} {self.now - 1_000:8.3f} s  {task:28} {text}")

    def spawn(self, name: str, group: Group, run: Callable[[], object], *, is_daemon: bool = False) -> Task:
        def body() -> None:
            try:
                run()
            except (GreenletExit, ProcessEnded):
                pass
            except Violation as found:
                self.report(found)
            except BaseException as error:
                if group.is_alive:
                    ended = Violation(f"{task} ended with {type(error).__name__}: {error}")
                    ended.__cause__ = error
                    self.report(ended)

        task = Task(name, group, greenlet(body, parent=self._hub), is_daemon)
        group.tasks.append(task)
        self.tasks.append(task)
        return task

    def report(self, violation: Violation) -> None:
        """Record the first rule that did not hold. The run ends at the next scheduling point."""
        if self.violation is None:
            self.violation = violation

    def run(self) -> None:
        """Run until every task is done; raise Violation if a rule did not hold."""
        while self.violation is None and self._step():
            pass
        if self.violation is not None:
            raise self.violation

    def close(self) -> None:
        """End all tasks."""
        self._is_closed = True
        for task in self.tasks:
            task.group.is_alive = False
        for task in list(self.tasks):
            self._end(task)

    # Scheduling points, called by tasks

    def pause(self) -> None:
        """Let another task go on here, if the choices select one."""
        task = self.current
        if task is None or not task.group.is_alive:
            return
        self._count_step()
        if self.violation is not None or self.is_event_due():
            self._hub.switch()
            return
        ready = self._others(task)
        picked = self.choices.pick(len(ready) + 1, self._switch_probability)
        if picked:
            self._hub.switch(ready[picked - 1])

    def block(self, waits_for: str, seconds: float = -1) -> bool:
        """Suspend the current task until `wake` is called for it. False after this many seconds; -1 is no limit."""
        task = self.current
        if task is None or not task.group.is_alive:
            return True
        self._count_step()
        task.is_ready = False
        task.waits_for = waits_for
        task.wake_at = None if seconds < 0 else self.now + seconds
        try:
            self._hub.switch()
        finally:
            was_woken = task.wake_at is None or self.now < task.wake_at
            task.is_ready, task.wake_at, task.waits_for = True, None, ""
        return was_woken

    def sleep(self, seconds: float) -> None:
        self.block("the end of a pause", max(seconds, 0.0))

    def wake(self, task: Task) -> None:
        if not task.is_ready:
            task.is_ready = True
            task.wake_at = None

    def kill(self, task: Task) -> None:
        """Raise GreenletExit in a task where it waits. It may wait again before it ends."""
        if not task.greenlet.dead:
            task.is_ready = True
            self._resume(task, GreenletExit)

    def kill_group(self, group: Group) -> None:
        """End all tasks of a process at once: none of them waits or uses the database any more."""
        group.is_alive = False
        for task in group.tasks:
            self._end(task)
        group.tasks.clear()
        self.tasks = [task for task in self.tasks if not task.greenlet.dead]

    def _end(self, task: Task) -> None:
        if not task.greenlet.dead:
            self._resume(task, ProcessEnded if task.greenlet else GreenletExit)  # false before it was started
            assert task.greenlet.dead, f"{task} did not end"

    def _count_step(self) -> None:
        self.steps += 1
        self.now += self._step_seconds
        try:
            self.on_step()
            if self.steps > MAX_STEPS:
                raise Violation(f"the run has not ended after {MAX_STEPS} steps: {self._waiting()}")
        except Violation as found:
            self.report(found)

    def _others(self, task: Task | None) -> list[Task]:
        """The tasks that could go on besides this one."""
        now = self.now
        return [
            each
            for each in self.tasks
            if (each.is_ready or (each.wake_at is not None and each.wake_at <= now)) and each is not task
        ]

    # The loop, which runs in the greenlet that created the scheduler

    def _step(self) -> bool:
        if self.next_event():
            return True
        if not any(not task.is_daemon for task in self.tasks):
            return False
        ready = self._others(None)
        if not ready:
            waking = [task.wake_at for task in self.tasks if task.wake_at is not None]
            if not waking:
                raise Violation(f"no task can go on: {self._waiting()}")
            self.now = max(self.now, min(waking))
            return True
        task: Task | None = ready[self.choices.pick(len(ready), 0.5)]
        while task is not None:
            task = self._resume(task)
        return True

    def _resume(self, task: Task, error: type[BaseException] | None = None) -> Task | None:
        """Run a task up to its next wait. Return the task that it wants to go on instead, if any."""
        before, self.current = self.current, task
        wanted = task.greenlet.switch() if error is None else task.greenlet.throw(error)
        self.current = before
        if task.greenlet.dead:
            if task in self.tasks:
                self.tasks.remove(task)
            return None
        return wanted if isinstance(wanted, Task) and self.violation is None else None

    def _waiting(self) -> str:
        return "; ".join(f"{task} waits for {task.waits_for or 'its turn'}" for task in self.tasks)
