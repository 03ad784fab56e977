# SPDX-License-Identifier: Apache-2.0

"""Errors of a driver as SQLAlchemy raises them, for what is run without it; and what SQLAlchemy's mean to us."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Dialect
from sqlalchemy.exc import DataError, DBAPIError

from plimsoll.storage.errors import ValueNotKept

FaultOf = Callable[[BaseException], Exception | None]
"""What an error of the driver means, if it is neither our mistake nor a row's."""


def as_sqlalchemys(error: Exception, dialect: Dialect) -> BaseException:
    """Whatever is not the driver's stays what it is."""
    base = dialect.loaded_dbapi.Error
    return DBAPIError.instance("", (), error, base, dialect=dialect) if isinstance(error, base) else error


def translated(error: Exception, fault_of: FaultOf) -> Exception:
    """SQLAlchemy's or the driver's as ours, if it is the database's; what rows or statements are to blame for stays."""
    if isinstance(error, DataError):
        return ValueNotKept(error.orig)
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return fault_of(cause) or error
