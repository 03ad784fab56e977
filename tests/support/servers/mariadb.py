# SPDX-License-Identifier: Apache-2.0

"""A private MariaDB server with Debian's default character set."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pymysql

from tests.support.servers import programs
from tests.support.servers.server import Server

SETTINGS = {
    "skip-name-resolve": "ON",
    "character-set-server": "utf8mb4",
    "collation-server": "utf8mb4_general_ci",
    "innodb-buffer-pool-size": "128M",
    "innodb-log-file-size": "48M",
    "max-connections": "200",
}
NOT_DURABLE = {
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-doublewrite": "OFF",
    "innodb-flush-method": "nosync",
    "innodb-log-file-size": "16M",
}


class MariaDB(Server):
    engine: ClassVar[str] = "mariadb"
    user: ClassVar[str] = "mysql"
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM

    def __init__(self, *, durable: bool = True, settings: dict[str, str] | None = None) -> None:
        super().__init__(durable=durable, settings=settings)
        self._copies: dict[str, list[str]] = {}

    @classmethod
    def missing(cls) -> str | None:
        try:
            programs.find("mariadb-install-db")
            programs.find("mariadbd")
            programs.account(cls.user)
        except programs.Missing as missing:
            return str(missing)
        return None

    def url(self, database: str) -> str:
        return f"mysql+pymysql://root@{self.host}:{self.port}/{database}"

    def connect(self, database: str | None = None) -> Any:
        return pymysql.connect(
            host=self.host,
            port=self.port,
            user="root",
            database=database,
            autocommit=True,
            connect_timeout=10,
            # Reading the machine's certificates takes 30 ms, 40 times as long as the rest of the connection.
            ssl_disabled=True,
        )

    def create_database(self, name: str, like: str | None = None) -> None:
        copy = self._copy(like) if like else []
        self.run_sql(f"CREATE DATABASE `{name}`", f"USE `{name}`", *copy)

    def _copy(self, original: str) -> list[str]:
        """Return statements that copy all tables and rows: MariaDB cannot copy a database in one statement.

        They are made once, so that the tables of an original must not change after its first copy. Its rows may.
        """
        if original not in self._copies:
            self._copies[original] = self._copy_statements(original)
        return self._copies[original]

    def _copy_statements(self, original: str) -> list[str]:
        # Id 0 is the class VCPU and must not be replaced by an auto-increment value.
        statements = ["SET foreign_key_checks = 0, sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"]
        for (table,) in self.run_sql(f"SHOW TABLES FROM `{original}`"):
            statements.append(self.run_sql(f"SHOW CREATE TABLE `{original}`.`{table}`")[0][1])
            statements.append(f"INSERT INTO `{table}` SELECT * FROM `{original}`.`{table}`")
        return statements

    def drop_database(self, name: str) -> None:
        self._copies.pop(name, None)
        # An open transaction would block DROP DATABASE for up to a day (lock_wait_timeout).
        connections = self.run_sql(f"SELECT id FROM information_schema.processlist WHERE db = '{name}'")
        for (connection,) in connections:
            with suppress(pymysql.err.OperationalError):  # it has ended already
                self.run_sql(f"KILL {connection}")
        self.run_sql(f"DROP DATABASE IF EXISTS `{name}`")

    @property
    def _tmp_directory(self) -> Path:
        # Not /tmp: a starting server deletes files there that look like its own and belong to other servers.
        directory = self.directory / "tmp"
        if not directory.exists():
            directory.mkdir()
            self._chown(directory)
        return directory

    def _initialise(self) -> None:
        self._run(
            programs.find("mariadb-install-db"),
            "--no-defaults",
            f"--datadir={self.data}",
            f"--tmpdir={self._tmp_directory}",
            "--auth-root-authentication-method=normal",
            "--skip-name-resolve",
            "--skip-test-db",
            f"--innodb-log-file-size={self._settings()['innodb-log-file-size']}",
        )

    def _settings(self) -> dict[str, str]:
        return SETTINGS | ({} if self._durable else NOT_DURABLE) | self._extra_settings

    def _command(self) -> list[str]:
        own = {
            "datadir": str(self.data),
            "tmpdir": str(self._tmp_directory),
            "socket": str(self.directory / "s"),
            "pid-file": str(self.directory / "pid"),
            "bind-address": self.host,
            "port": str(self.port),
        }
        settings = own | self._settings()
        return [
            str(programs.find("mariadbd")),
            "--no-defaults",
            *(f"--{name}={value}" for name, value in settings.items()),
        ]
