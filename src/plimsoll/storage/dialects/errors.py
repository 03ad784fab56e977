# SPDX-License-Identifier: Apache-2.0

"""Errors of a driver as SQLAlchemy raises them, for what is run without it."""

from __future__ import annotations

from types import TracebackType

from sqlalchemy import Dialect
from sqlalchemy.exc import DBAPIError


class ErrorsAsSQLAlchemys:
    __slots__ = ("_base", "_dialect")

    def __init__(self, base: type[Exception], dialect: Dialect) -> None:
        self._base = base
        self._dialect = dialect

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, self._base):
            raise DBAPIError.instance("", (), error, self._base, dialect=self._dialect) from error
