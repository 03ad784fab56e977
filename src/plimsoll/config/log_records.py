# SPDX-License-Identifier: Apache-2.0

"""Log records that escape control characters in their values, so that clients cannot forge log lines.

The format string of a message is ours and stays unchanged. Its values may come from clients: a path, a header, the text
of an exception.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def escaped(text: str) -> str:
    """Escape all characters that are not printable: line ends, terminal controls, lone surrogates."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


class EscapedLogRecord(logging.LogRecord):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.exc_info:
            self.exc_text = format_exception(self.exc_info)  # formatters use this text if it is set

    def getMessage(self) -> str:  # noqa: N802
        if isinstance(self.msg, str) and self.args:
            message = self.msg % self.args
            if message.isprintable():  # nearly all are, and need no check of each value
                return message
        message = self.msg if isinstance(self.msg, str) else escaped(str(self.msg))
        if isinstance(self.args, Mapping):
            return message % {name: _escaped_value(value) for name, value in self.args.items()}
        return message % tuple(map(_escaped_value, self.args)) if self.args else message

    # oslo.log sets it to the text of the exception and appends it to the line.
    @property
    def error_summary(self) -> str:
        return str(self.__dict__.get("error_summary", ""))

    @error_summary.setter
    def error_summary(self, text: str) -> None:
        self.__dict__["error_summary"] = escaped(text)


def format_exception(exc_info: _ExcInfo) -> str:
    """Return the traceback, with the text of each exception in one line."""
    if exc_info[0] is None:
        return "NoneType: None"
    parts = traceback.format_exception(*exc_info)
    own = (" ", "\n", "Traceback ")  # frames, and the lines between chained exceptions
    texts = (part if part.startswith(own) else escaped(part.removesuffix("\n")) + "\n" for part in parts)
    return "".join(texts).removesuffix("\n")


def _escaped_value(value: Any) -> Any:
    if isinstance(value, str):
        return escaped(value)
    return value if isinstance(value, int | float) or value is None else _Escaped(value)


class _Escaped:
    """A value that is escaped when the message is formatted."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __str__(self) -> str:
        return escaped(str(self._value))

    def __repr__(self) -> str:
        return escaped(repr(self._value))
