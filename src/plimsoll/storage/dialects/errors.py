# SPDX-License-Identifier: Apache-2.0

"""Translate errors: a driver's into SQLAlchemy's, and SQLAlchemy's into the faults of `storage.errors`."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Dialect
from sqlalchemy.exc import DataError, DBAPIError

from plimsoll.storage.errors import ValueNotStorable

FaultOf = Callable[[BaseException], Exception | None]
"""Returns the fault for an error of the driver; None if a statement or a row of ours caused it."""


def as_sqlalchemy_error(error: Exception, dialect: Dialect) -> BaseException:
    """Wrap an error of the driver as SQLAlchemy does, for statements that run without it. Others stay as they are."""
    base = dialect.loaded_dbapi.Error
    return DBAPIError.instance("", (), error, base, dialect=dialect) if isinstance(error, base) else error


def translate_error(error: Exception, fault_of: FaultOf) -> Exception:
    """Return the fault for an error of SQLAlchemy or the driver; the error itself if a row or a statement caused it."""
    if isinstance(error, DataError):
        return ValueNotStorable(error.orig)
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return fault_of(cause) or error
