# SPDX-License-Identifier: Apache-2.0

"""Logging by oslo.log's options, with lines identical to oslo.log's.

Most lines are those of requests, which are plain (level INFO, no exception). For these, the option values, the time of
the current second and the caller's fields are cached, which oslo.log computes for each line: the fast path `request_log`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
from oslo_context import context
from oslo_log import formatters, log
from oslo_log.formatters import ContextFormatter, JSONFormatter

from plimsoll.bounded_cache import BoundedCache
from plimsoll.config import log_destination
from plimsoll.config.loader import ConfigError
from plimsoll.config.log_records import EscapedLogRecord, format_exception

FLUSH_INTERVAL = 0.02
"""Seconds after which a plain line is written."""

CALLERS = 1000
CALLER_BYTES = 4 << 20
"""Callers whose names in log lines are cached, and the bytes that the cache takes at most."""

PROJECT = "placement"
"""The reference's name of the service, which operators use in logging configurations."""


def set_up(conf: cfg.ConfigOpts) -> None:
    """Set up logging, including Python warnings, from the configuration. Raise ConfigError if that fails."""
    log_destination.prepare(conf)
    logging.setLogRecordFactory(EscapedLogRecord)
    # An operator's logging configuration for `placement` applies to our loggers too.
    logging.getLogger("plimsoll").parent = logging.getLogger(PROJECT)
    formatters._store_global_conf(conf)  # read by oslo.log formatters that such a configuration names
    root = logging.getLogger()
    before = [handler for handler in root.handlers if isinstance(handler, DeferredHandler)]
    try:
        log.setup(conf, PROJECT)
    except Exception as problem:
        raise ConfigError([_describe_problem(conf, problem)]) from problem
    finally:
        for old in before:
            if old not in root.handlers:
                old.close()
    for handler in list(root.handlers):
        formatter = _escaping_formatter(handler.formatter, conf)
        if formatter is not None:
            handler.setFormatter(formatter)
            if isinstance(handler, logging.StreamHandler):
                root.removeHandler(handler)
                root.addHandler(DeferredHandler(handler, formatter.format))
    logging.captureWarnings(True)
    if conf.log_options:
        conf.log_opt_values(logging.getLogger(__name__), logging.DEBUG)


def _describe_problem(conf: cfg.ConfigOpts, problem: Exception) -> str:
    reason = problem.err_msg if isinstance(problem, log.LogConfigError) else str(problem)
    if conf.log_config_append:
        return f"[DEFAULT] log_config_append: {conf.log_config_append} cannot be used: {reason}"
    if isinstance(problem, OSError):
        return f"[DEFAULT] log_file or log_dir: {problem.filename}: {problem.strerror}"
    return f"[DEFAULT] a log option cannot be used: {reason}"


def _escaping_formatter(original: logging.Formatter | None, conf: cfg.ConfigOpts) -> logging.Formatter | None:
    """Return a formatter like one of oslo.log's that escapes exceptions; None for any other formatter."""
    if type(original) is ContextFormatter:
        is_plain = "request_log" in conf.plimsoll.disable_fast_paths
        return (LineFormatter if is_plain else CachingFormatter)(original, conf)
    return JSONLineFormatter(datefmt=original.datefmt) if type(original) is JSONFormatter else None


class JSONLineFormatter(JSONFormatter):
    """Formats each record as a JSON object in one line."""

    def format(self, record: logging.LogRecord) -> str:
        return record.getMessage() if isinstance(record, _FormattedLines) else super().format(record)

    def formatException(self, ei: Any, *, strip_newlines: bool = True) -> str:  # noqa: N802
        return format_exception(ei)


class LineFormatter(ContextFormatter):
    """Formats like oslo.log's ContextFormatter, with escaped exceptions."""

    def __init__(self, original: ContextFormatter, conf: cfg.ConfigOpts) -> None:
        super().__init__(
            datefmt=original.datefmt, project=original.project, version=original.version, config=conf
        )

    def format(self, record: logging.LogRecord) -> str:
        return record.getMessage() if isinstance(record, _FormattedLines) else super().format(record)

    def formatException(self, ei: Any, *, record: logging.LogRecord | None = None) -> str:  # noqa: N802
        """Return the traceback with oslo.log's prefix in each line."""
        text = format_exception(ei)
        if record is None:
            return text
        prefix = self.conf.logging_exception_prefix
        record.asctime = self.formatTime(record, self.datefmt)
        self._compute_iso_time(record)
        return "\n".join(f"{prefix % record.__dict__}{line}" for line in f"{text}\n".split("\n"))


class CachingFormatter(LineFormatter):
    """The same with cached values for the plain lines of requests: the fast path `request_log`."""

    def __init__(self, original: ContextFormatter, conf: cfg.ConfigOpts) -> None:
        super().__init__(original, conf)
        self._in_request: str = conf.logging_context_format_string
        self._identity: str = conf.logging_user_identity_format
        self._empty_fields = dict.fromkeys(_names(self._in_request), "")
        """Fields of the format that a record or its request may lack."""
        self._wants_iso_time = "isotime" in self._empty_fields
        self._identity_differs = bool({"request_id", "global_request_id"} & {*_names(self._identity)})
        self._callers: BoundedCache[tuple[Any, ...], dict[str, Any]] = BoundedCache(CALLERS, CALLER_BYTES)
        self._second = (0, "")

    def format(self, record: logging.LogRecord) -> str:
        request_context = context.get_current()
        is_plain = record.levelno == logging.INFO and not record.exc_info and not record.stack_info
        if (
            not is_plain
            or isinstance(record, _FormattedLines)
            or request_context is None
            or not request_context.request_id
            or self._wants_iso_time
        ):
            return super().format(record)
        return self._in_request % {
            **self._empty_fields,
            **record.__dict__,
            **self._cached_caller_fields(request_context),
            "request_id": request_context.request_id,
            "global_request_id": request_context.global_request_id,
            "asctime": self._time(record),
            "message": record.getMessage(),
        }

    def _cached_caller_fields(self, request_context: context.RequestContext) -> dict[str, Any]:
        """Return the fields of the request's caller, cached, because many requests have the same caller."""
        identity_key = getattr(request_context, "identity_key", None)
        if identity_key is None or self._identity_differs:
            return self._caller_fields(request_context)
        key = identity_key()
        fields = self._callers.get(key)
        if fields is None:
            fields = self._caller_fields(request_context)
            self._callers.put(key, fields)
        return fields

    def _caller_fields(self, request_context: context.RequestContext) -> dict[str, Any]:
        fields = request_context.get_logging_values()
        fields["user_identity"] = self._identity % formatters._ReplaceFalseValue(fields)
        fields = {"project": self.project, "version": self.version, **fields}
        return {name: fields[name] for name in self._empty_fields if name in fields}

    def _time(self, record: logging.LogRecord) -> str:
        if not self.datefmt:  # the default format has milliseconds, so it cannot be cached for a second
            return self.formatTime(record)
        second, text = self._second
        if second != int(record.created):
            text = self.formatTime(record, self.datefmt)
            self._second = int(record.created), text
        return text


class DeferredHandler(logging.Handler):
    """Queues plain lines for a handler of a file or stream; a thread writes them in batches, every 20 ms.

    It is no fast path and has no switch: a slow disk, or a pipe that is read slowly, must not delay requests. A line
    above INFO is written immediately, after all lines before it.
    """

    def __init__(
        self, target: logging.StreamHandler[Any], format_line: Callable[[logging.LogRecord], str]
    ) -> None:
        super().__init__(target.level)
        self._target = target
        self._format_line = format_line
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        """Start with an empty queue, also in a forked child: its parent writes the lines queued before."""
        self._lines: deque[str] = deque()
        self._has_lines = threading.Event()
        self._writer: threading.Thread | None = None
        self._starting = threading.Lock()

    def handle(self, record: logging.LogRecord) -> bool:
        """Queue a plain line, or write a more severe one. Takes no lock: appending to a deque is atomic."""
        if self.filters and not self.filter(record):
            return False
        if record.levelno > logging.INFO:
            self.flush()
            self._write(record, self._target.handle)
            return True
        try:
            self._lines.append(self._format_line(record))
        except Exception:
            self.handleError(record)
            return True
        if not self._has_lines.is_set():
            self._has_lines.set()
            self._ensure_writer()
        return True

    def flush(self) -> None:
        """Write all queued lines."""
        with self._target.lock or contextlib.nullcontext():
            lines = [self._lines.popleft() for _ in range(len(self._lines))]
            if lines:
                self._write(_FormattedLines("\n".join(lines)), self._target.emit)

    def _write(self, record: logging.LogRecord, write: Callable[[logging.LogRecord], object]) -> None:
        """Write to the target, or to the standard error output if its file cannot be opened: no request fails because of it.

        logging handles errors of writing itself, but not those of opening a file again that was moved away.
        """
        try:
            write(record)
        except OSError as error:
            with contextlib.suppress(Exception):
                sys.stderr.write(f"The log cannot be written: {error}\n{self._target.format(record)}\n")

    def close(self) -> None:
        self.flush()
        self._target.close()
        super().close()

    def _ensure_writer(self) -> None:
        if self._writer is not None and self._writer.is_alive():
            return
        with self._starting:
            if self._writer is None or not self._writer.is_alive():  # not started yet, or not in this process
                self._writer = threading.Thread(target=self._write_queued, name="log", daemon=True)
                try:
                    self._writer.start()
                except RuntimeError:  # no thread can be started: write in this one
                    self._has_lines.clear()
                    self.flush()

    def _write_queued(self) -> None:
        while self._has_lines.wait():
            time.sleep(FLUSH_INTERVAL)
            self._has_lines.clear()
            self.flush()


def _names(form: str) -> tuple[str, ...]:
    """Return the names of the fields of a format."""
    return tuple(re.findall(r"%\((\w+)\)", form))


class _FormattedLines(logging.LogRecord):
    """A record of lines that are already formatted."""

    def __init__(self, text: str) -> None:
        super().__init__(__name__, logging.INFO, __file__, 0, text, (), None)
