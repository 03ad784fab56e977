# SPDX-License-Identifier: Apache-2.0

"""A transaction that ends in one of three ways: it is committed, it is not, or nobody knows and that is said."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from plimsoll.storage.faults import Busy, OutcomeUnknown, Refusing


@contextlib.contextmanager
def transaction(
    connection: Connection, fault_of: Callable[[BaseException], Exception | None]
) -> Iterator[None]:
    """Commits on a clean exit, else rolls back. OutcomeUnknown if the commit was tried and failed."""
    begun = connection.begin()
    try:
        yield
    except BaseException:
        with contextlib.suppress(DBAPIError):  # a lost connection: the server rolls back by itself
            begun.rollback()
        raise
    try:
        begun.commit()
    except DBAPIError as error:
        assert error.orig is not None
        # A lost race, or a database that takes no writes: then it says itself that nothing was committed.
        fault = fault_of(error.orig)
        raise (fault if isinstance(fault, Busy | Refusing) else OutcomeUnknown(error.orig)) from error


@contextlib.contextmanager
def errors_as_sqlalchemys(base: type[Exception], connection: Connection) -> Iterator[None]:
    """Raises what a driver raises as SQLAlchemy would, for what is run without it."""
    try:
        yield
    except base as error:
        raise DBAPIError.instance("", (), error, base, dialect=connection.dialect) from error
