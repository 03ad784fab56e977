# SPDX-License-Identifier: Apache-2.0

"""Base class of private database servers: start, stop, kill, pause, create databases.

Data survive `stop` and `kill`, so that the server can be restarted; `remove` or the end of `with` deletes them. The
port never changes.
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
from tests.support.servers.processes import Guard, kill_process_tree, signal_all, stop_process_tree

__all__ = ["Server", "ServerFailed"]

START_SECONDS = 60
STOP_SECONDS = 60
POLL_SECONDS = 0.02


class ServerFailed(Exception):
    """The server did not start, or did not stop; the text has the end of its log."""


class Server(abc.ABC):
    """A database server on a port of 127.0.0.1, with an administrator account without a password.

    `durable` uses production settings on disk. Without it there is no fsync and the data are in memory: fast, and
    sufficient for tests that do not kill the server. `settings` override our own.
    """

    engine: ClassVar[str]
    user: ClassVar[str]
    stop_signal: ClassVar[signal.Signals]

    def __init__(self, *, durable: bool = True, settings: dict[str, str] | None = None) -> None:
        self._account = programs.account(self.user)
        self._durable = durable
        self._extra_settings = settings or {}
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        self._paused: list[int] = []
        self.host = "127.0.0.1"
        self.port = free_port(self.host)
        self.directory = places.make_directory(in_memory=not durable)
        self._chown(self.directory)
        self.data = self.directory / "data"

    # Implemented by each engine.

    @classmethod
    @abc.abstractmethod
    def missing(cls) -> str | None:
        """Return why this server cannot be started here, or None."""

    @abc.abstractmethod
    def url(self, database: str) -> str:
        """Return the database's URL for SQLAlchemy."""

    @abc.abstractmethod
    def connect(self, database: str | None = None) -> Any:
        """Return a driver connection in autocommit mode."""

    @abc.abstractmethod
    def create_database(self, name: str, like: str | None = None) -> None:
        """Create an empty database, or a copy of one without open connections."""

    @abc.abstractmethod
    def drop_database(self, name: str) -> None:
        """Drop a database, even while connections to it are open."""

    @abc.abstractmethod
    def _initialise(self) -> None:
        """Initialise the empty data directory."""

    @abc.abstractmethod
    def _command(self) -> list[str]:
        """Return the command that runs the server in the foreground."""

    # Common to all engines.

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server is not running"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start the server on its existing data, if any, and wait until it accepts connections."""
        self.launch()
        self.wait()
        return self

    def launch(self) -> None:
        """Start the server without waiting for it."""
        assert not self.is_running, "the server is already running"
        self._clear_process()  # it may have exited
        if not self.data.exists():
            self.data.mkdir(mode=0o700)
            self._chown(self.data)
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
        """Wait until the server accepts connections."""
        assert self._process is not None, "the server was not started"
        deadline = time.monotonic() + seconds
        while not self.accepts_connections():
            if self._process.poll() is not None:
                self._clear_process()
                raise ServerFailed(f"{self.engine} ended while it started:\n{self.log()[-4000:]}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServerFailed(
                    f"{self.engine} does not accept connections after {seconds} s:\n{self.log()[-4000:]}"
                )
            time.sleep(POLL_SECONDS)

    def accepts_connections(self) -> bool:
        try:
            self.connect().close()
        except Exception:  # each driver has its own exception
            return False
        return True

    def stop(self) -> None:
        """Shut down cleanly without waiting for clients. No effect if the server is not running."""
        if self._process is None:
            return
        self.resume()
        self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"{self.engine} did not stop:\n{self.log()[-4000:]}") from None
        self._clear_process()

    def kill(self) -> None:
        """SIGKILL the server and all its workers, as in a power failure. The data stay."""
        if self._process is None:
            return
        kill_process_tree(self._process.pid)
        self._process.wait(STOP_SECONDS)
        self._clear_process()

    def restart(self) -> Self:
        self.stop()
        return self.start()

    def pause(self) -> None:
        """Stop the processes: connections stay open, but get no response until `resume`."""
        assert not self._paused, "the server is paused already"
        self._paused = stop_process_tree(self.pid)

    def resume(self) -> None:
        signal_all(self._paused[::-1], signal.SIGCONT)
        self._paused = []

    def run_sql(self, *statements: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """Run statements as the administrator in autocommit mode and return the rows of the last one."""
        connection = self.connect(database)
        try:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []
        finally:
            connection.close()

    def log(self) -> str:
        """Return the server's log."""
        return self._log_file.read_text(errors="replace") if self._log_file.exists() else ""

    def remove(self) -> None:
        """Kill the server and remove its data."""
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
        """Copy for another process, which can connect to the server but not stop it."""
        return self.__dict__ | {"_process": None, "_guard": None, "_paused": []}

    @property
    def _log_file(self) -> Path:
        return self.directory / "log"

    def _run(self, *command: str | Path) -> None:
        """Run a program of the server as the server's account and wait for it."""
        done = subprocess.run(
            [str(argument) for argument in command],
            capture_output=True,
            text=True,
            cwd=self.directory,
            timeout=START_SECONDS,
            **programs.run_as(self._account),
        )
        if done.returncode:
            raise ServerFailed(f"{command[0]} failed:\n{done.stdout}{done.stderr}")

    def _chown(self, path: Path) -> None:
        if self._account is not None:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def _clear_process(self) -> None:
        self._process = None
        self._paused = []
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
