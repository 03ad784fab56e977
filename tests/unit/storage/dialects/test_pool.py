# SPDX-License-Identifier: Apache-2.0

"""Which connections the pool lends, keeps and closes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from plimsoll.storage.dialects import pool as pool_module
from plimsoll.storage.dialects.pool import ConnectionPool, PooledConnection, Role
from plimsoll.storage.errors import Busy


class Lost(Exception):
    pass


class Pool(ConnectionPool):
    """A pool on a file, with one reader and without limit for writers."""

    def __init__(self, engine: Engine, **options: Any) -> None:
        self.set_up: list[object] = []
        self.lost: list[object] = []
        super().__init__(
            engine,
            readers=Role(self.set_up.append, 1, 1),
            writers=Role(self.set_up.append, 2),
            timeout=0.01,
            is_lost=self.lost.__contains__,
            is_disconnect=lambda error: isinstance(error, Lost),
            **options,
        )

    def use(self, role: Role, *, clean: bool = True) -> Any:
        with self.connection(role) as pooled:
            pooled.is_clean = clean
            return pooled.driver


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return create_engine(f"sqlite:///{tmp_path}/file", poolclass=NullPool, pool_reset_on_return=None)


@pytest.fixture
def pool(engine: Engine) -> Pool:
    return Pool(engine)


@pytest.fixture
def checked_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "UNCHECKED_SECONDS", 0.0)


def test_a_clean_connection_is_used_again_by_its_role_alone(pool: Pool) -> None:
    reader = pool.use(pool.readers)
    assert pool.use(pool.readers) is reader
    assert pool.use(pool.writers) is not reader
    assert len(pool.set_up) == 2


def test_a_connection_with_an_open_transaction_is_closed(pool: Pool) -> None:
    first = pool.use(pool.readers, clean=False)
    assert pool.use(pool.readers) is not first


def test_a_clean_connection_survives_an_exception(pool: Pool) -> None:
    first = pool.use(pool.readers)
    with pytest.raises(ValueError), pool.connection(pool.readers) as pooled:
        pooled.is_clean = True
        raise ValueError
    assert pool.use(pool.readers) is first


def test_a_connection_of_an_interrupted_block_is_closed(pool: Pool) -> None:
    """A thread or greenlet that ends may have left a result unread."""
    first = pool.use(pool.readers)
    with pytest.raises(KeyboardInterrupt), pool.connection(pool.readers) as pooled:
        pooled.is_clean = True
        raise KeyboardInterrupt
    assert pool.use(pool.readers) is not first


def test_a_lost_connection_closes_all_idle_ones(pool: Pool) -> None:
    writer = pool.use(pool.writers)
    with pytest.raises(Lost), pool.connection(pool.readers):
        raise Lost
    assert pool.use(pool.writers) is not writer


@pytest.mark.usefixtures("checked_always")
def test_an_idle_connection_that_was_lost_is_not_lent(pool: Pool) -> None:
    first = pool.use(pool.writers)
    pool.lost.append(first)
    assert pool.use(pool.writers) is not first


def test_an_old_connection_is_not_lent(engine: Engine) -> None:
    pool = Pool(engine, recycle_seconds=0)
    assert pool.use(pool.writers) is not pool.use(pool.writers)


def test_all_connections_in_use_is_busy(pool: Pool) -> None:
    with pool.connection(pool.readers), pytest.raises(Busy), pool.connection(pool.readers):
        pass
    pool.use(pool.readers)


def test_only_so_many_idle_connections_stay_open(pool: Pool) -> None:
    def use_together(count: int) -> set[Any]:
        if not count:
            return set()
        with pool.connection(pool.writers) as pooled:
            pooled.is_clean = True
            return {pooled.driver} | use_together(count - 1)

    first = use_together(3)
    assert len(first) == 3
    assert len(first & use_together(3)) == 2


def test_closing_leaves_connections_in_use(pool: Pool) -> None:
    idle = pool.use(pool.writers)
    with pool.connection(pool.readers) as pooled:
        pool.close_idle()
        assert pooled.sqlalchemy_connection().exec_driver_sql("SELECT 1").scalar() == 1
    assert pool.use(pool.writers) is not idle


def test_a_connection_that_cannot_be_set_up_is_closed(engine: Engine) -> None:
    opened: list[Any] = []

    def fail(driver: Any) -> None:
        opened.append(driver)
        driver.execute("no such statement")

    pool = Pool(engine)
    with pytest.raises(OperationalError):
        pool.open(Role(fail, 1))
    with pytest.raises(engine.dialect.loaded_dbapi.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_sqlalchemy_sends_no_rollback_when_it_is_done(pool: Pool) -> None:
    """A rollback after a commit could fail: the committed transaction would seem to have failed."""
    with pool.connection(pool.writers) as pooled:
        sent: list[str] = []
        pooled.driver.set_trace_callback(sent.append)
        read_one(pooled)
        pooled.is_clean = True
    pool.use(pool.writers)
    assert sent == ["SELECT 1"]


def read_one(pooled: PooledConnection) -> None:
    assert pooled.sqlalchemy_connection().exec_driver_sql("SELECT 1").scalar() == 1
