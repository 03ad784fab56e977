# SPDX-License-Identifier: Apache-2.0

"""What every private database server can do, whichever it is: start, stop, die, pause, make databases.

Its data survive `stop` and `kill`, so that it can be started again, and go with `remove` or at the end of
`with`. The port stays the same for its whole life.
"""

from __future__ import annotations

import abc
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, ClassVar, Self

from tests.support.servers import places, programs
from tests.support.servers.places import free_port
from tests.support.servers.processes import Guard, kill_family, signal_all, stop_family

__all__ = ["Server", "ServerFailed"]

START_SECONDS = 60
STOP_SECONDS = 60
POLL_SECONDS = 0.02


class ServerFailed(Exception):
    """The server did not start, or did not stop; the text has the end of its log."""


class Server(abc.ABC):
    """One server of databases on a port of 127.0.0.1, with an administrator who needs no password.

    `durable` keeps the settings that an operator has, on disk. Without it a commit is not waited for and all
    is in memory: quick, and right for tests that do not kill the server. `settings` go to the server as they
    are, over our own.
    """

    engine: ClassVar[str]
    user: ClassVar[str]
    stop_signal: ClassVar[signal.Signals]

    def __init__(self, *, durable: bool = True, settings: dict[str, str] | None = None) -> None:
        self._account = programs.account(self.user)
        self._durable = durable
        self._given = settings or {}
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        self._paused: list[int] = []
        self.host = "127.0.0.1"
        self.port = free_port(self.host)
        self.directory = places.make_directory(in_memory=not durable)
        self._own(self.directory)
        self.data = self.directory / "data"

    # What differs between servers.

    @classmethod
    @abc.abstractmethod
    def missing(cls) -> str | None:
        """Why this server cannot be started here, if it cannot."""

    @abc.abstractmethod
    def url(self, database: str) -> str:
        """The database's URL, as SQLAlchemy takes it."""

    @abc.abstractmethod
    def connect(self, database: str | None = None) -> Any:
        """A connection of the plain driver that commits each statement."""

    @abc.abstractmethod
    def create_database(self, name: str, like: str | None = None) -> None:
        """An empty database, or one with the tables and rows of another that nobody is connected to."""

    @abc.abstractmethod
    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is connected to it."""

    @abc.abstractmethod
    def _initialise(self) -> None:
        """Fill the empty data directory."""

    @abc.abstractmethod
    def _command(self) -> list[str]:
        """The command that runs the server in the foreground."""

    # What is the same for all.

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server does not run"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start the server, on the data of last time if there are any, and wait until it answers."""
        self.launch()
        self.wait()
        return self

    def launch(self) -> None:
        """Start the server and do not wait for it."""
        assert not self.is_running, "the server runs already"
        self._forget_process()  # it may have ended by itself
        if not self.data.exists():
            self.data.mkdir(mode=0o700)
            self._own(self.data)
            self._initialise()
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,
                **programs.run_as(self._account),
            )
        self._guard = Guard(self._process.pid, self.directory)

    def wait(self, seconds: float = START_SECONDS) -> None:
        """Wait until the server takes connections."""
        assert self._process is not None, "the server was not started"
        deadline = time.monotonic() + seconds
        while not self.answers():
            if self._process.poll() is not None:
                self._forget_process()
                raise ServerFailed(f"{self.engine} ended while it started:\n{self.log()[-4000:]}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServerFailed(f"{self.engine} does not answer after {seconds} s:\n{self.log()[-4000:]}")
            time.sleep(POLL_SECONDS)

    def answers(self) -> bool:
        try:
            self.connect().close()
        except Exception:  # each driver has its own for "not yet"
            return False
        return True

    def stop(self) -> None:
        """Shut down as an operator does, without waiting for clients to go. Nothing happens if it does not run."""
        if self._process is None:
            return
        self.resume()
        self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"{self.engine} did not stop:\n{self.log()[-4000:]}") from None
        self._forget_process()

    def kill(self) -> None:
        """SIGKILL for the server and all its workers, as when the machine goes. Its data stay."""
        if self._process is None:
            return
        kill_family(self._process.pid)
        self._process.wait(STOP_SECONDS)
        self._forget_process()

    def restart(self) -> Self:
        self.stop()
        return self.start()

    def pause(self) -> None:
        """Let it hang: connections stay open, and nothing is answered until `resume`."""
        assert not self._paused, "the server is paused already"
        self._paused = stop_family(self.pid)

    def resume(self) -> None:
        signal_all(self._paused[::-1], signal.SIGCONT)
        self._paused = []

    def run_sql(self, *statements: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """Run statements as the administrator, each committed by itself; the rows of the last one."""
        connection = self.connect(database)
        try:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []
        finally:
            connection.close()

    def log(self) -> str:
        """All that the server wrote about itself."""
        return self._log_file.read_text(errors="replace") if self._log_file.exists() else ""

    def remove(self) -> None:
        """Stop the server, if need be by force, and remove its data."""
        try:
            if self._process is not None:
                self.kill()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self if self.is_running else self.start()
        except BaseException:
            self.remove()
            raise

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __getstate__(self) -> dict[str, Any]:
        """A copy, as another process may have one: it knows the server, and cannot stop it."""
        return self.__dict__ | {"_process": None, "_guard": None, "_paused": []}

    @property
    def _log_file(self) -> Path:
        return self.directory / "log"

    def _run(self, *command: str | Path) -> None:
        """A program of the server's, run to its end as the server's account."""
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            cwd=self.directory,
            timeout=START_SECONDS,
            **programs.run_as(self._account),
        )
        if done.returncode:
            raise ServerFailed(f"{command[0]} failed:\n{done.stdout}{done.stderr}")

    def _own(self, path: Path) -> None:
        if self._account is not None:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def _forget_process(self) -> None:
        self._process = None
        self._paused = []
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
