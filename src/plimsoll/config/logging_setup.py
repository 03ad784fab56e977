# SPDX-License-Identifier: Apache-2.0

"""Logging as oslo.log's options say, made faster: a line is written for every request.

The lines are oslo.log's to the letter. Those of requests are plain (level INFO, no exception), and what oslo.log
works out anew for each of them, the options and the second that it is, is kept here. They are written to files and
streams by a thread of its own, many at once, within a moment: else requests would queue up for the disk, and for each
other. Whatever is worse than INFO is written at once, after all that came before it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
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

MOMENT = 0.02
"""Seconds after which a plain line is written at the latest."""

CALLERS = 1000
CALLER_BYTES = 4 << 20
"""Callers whose names in log lines are cached, and the bytes that the cache takes at most."""

PROJECT = "placement"
"""The name that operators know the service by, also in their logs."""


def set_up(conf: cfg.ConfigOpts) -> None:
    """Log as the configuration says, warnings of libraries included. Raises ConfigError if that cannot be done."""
    log_destination.settle(conf)
    logging.setLogRecordFactory(EscapedLogRecord)
    # What an operator's own set-up says of the loggers of `placement` is about ours.
    logging.getLogger("plimsoll").parent = logging.getLogger(PROJECT)
    formatters._store_global_conf(conf)  # what a formatter that such a set-up names goes by
    root = logging.getLogger()
    before = [handler for handler in root.handlers if isinstance(handler, DeferredHandler)]
    try:
        log.setup(conf, PROJECT)
    except Exception as problem:
        raise ConfigError([_what_is_wrong(conf, problem)]) from problem
    finally:
        for old in before:
            if old not in root.handlers:
                old.close()
    for handler in list(root.handlers):
        quick = _quick(handler.formatter, conf)
        if quick is not None:
            handler.setFormatter(quick)
            if isinstance(handler, logging.StreamHandler):
                root.removeHandler(handler)
                root.addHandler(DeferredHandler(handler, quick.format))
    logging.captureWarnings(True)
    if conf.log_options:
        conf.log_opt_values(logging.getLogger(__name__), logging.DEBUG)


def _what_is_wrong(conf: cfg.ConfigOpts, problem: Exception) -> str:
    reason = problem.err_msg if isinstance(problem, log.LogConfigError) else str(problem)
    if conf.log_config_append:
        return f"[DEFAULT] log_config_append: {conf.log_config_append} cannot be used: {reason}"
    if isinstance(problem, OSError):
        return f"[DEFAULT] log_file or log_dir: {problem.filename}: {problem.strerror}"
    return f"[DEFAULT] an option of the log cannot be followed: {reason}"


def _quick(slow: logging.Formatter | None, conf: cfg.ConfigOpts) -> QuickFormatter | JSONLines | None:
    """The like of one of oslo.log's formatters that lets lines be written together; None of any other."""
    if type(slow) is ContextFormatter:
        return QuickFormatter(slow, conf)
    return JSONLines(datefmt=slow.datefmt) if type(slow) is JSONFormatter else None


class JSONLines(JSONFormatter):
    """Each line is a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        return record.getMessage() if isinstance(record, _Lines) else super().format(record)

    def formatException(self, ei: Any, *, strip_newlines: bool = True) -> str:  # noqa: N802
        return format_exception(ei)


class QuickFormatter(ContextFormatter):
    def __init__(self, slow: ContextFormatter, conf: cfg.ConfigOpts) -> None:
        super().__init__(datefmt=slow.datefmt, project=slow.project, version=slow.version, config=conf)
        self._in_request: str = conf.logging_context_format_string
        self._identity: str = conf.logging_user_identity_format
        self._untold = dict.fromkeys(_names(self._in_request), "")
        """What a line has of that which nobody tells: nothing."""
        self._wants_iso_time = "isotime" in self._untold
        self._identity_differs = bool({"request_id", "global_request_id"} & {*_names(self._identity)})
        self._callers: BoundedCache[tuple[Any, ...], dict[str, Any]] = BoundedCache(CALLERS, CALLER_BYTES)
        self._second = (0, "")

    def format(self, record: logging.LogRecord) -> str:
        if isinstance(record, _Lines):
            return record.getMessage()
        asking = context.get_current()
        plain = record.levelno == logging.INFO and not record.exc_info and not record.stack_info
        if not plain or asking is None or not asking.request_id or self._wants_iso_time:
            return super().format(record)
        return self._in_request % {
            **self._untold,
            **record.__dict__,
            **self._about(asking),
            "request_id": asking.request_id,
            "global_request_id": asking.global_request_id,
            "asctime": self._time(record),
            "message": record.getMessage(),
        }

    def formatException(self, ei: Any, *, record: logging.LogRecord | None = None) -> str:  # noqa: N802
        """The traceback with oslo.log's prefix in each line."""
        text = format_exception(ei)
        if record is None:
            return text
        prefix = self.conf.logging_exception_prefix
        record.asctime = self.formatTime(record, self.datefmt)
        self._compute_iso_time(record)
        return "\n".join(f"{prefix % record.__dict__}{line}" for line in f"{text}\n".split("\n"))

    def _about(self, asking: context.RequestContext) -> dict[str, Any]:
        """What the request tells about itself. What it tells of its caller is the same for many of them."""
        who = getattr(asking, "who", None)
        if who is None or self._identity_differs:
            return self._told(asking)
        key = who()
        known = self._callers.get(key)
        if known is None:
            known = self._told(asking)
            self._callers.put(key, known)
        return known

    def _told(self, asking: context.RequestContext) -> dict[str, Any]:
        about = asking.get_logging_values()
        about["user_identity"] = self._identity % _OrDash(about)
        about = {"project": self.project, "version": self.version, **about}
        return {name: about[name] for name in self._untold if name in about}

    def _time(self, record: logging.LogRecord) -> str:
        if not self.datefmt:  # then it has milliseconds, and else none can be had
            return self.formatTime(record)
        second, text = self._second
        if second != int(record.created):
            text = self.formatTime(record, self.datefmt)
            self._second = int(record.created), text
        return text


class DeferredHandler(logging.Handler):
    """In front of a handler that writes lines to a file or stream: gathers plain ones, and has them written together."""

    def __init__(self, target: logging.StreamHandler[Any], made: Callable[[logging.LogRecord], str]) -> None:
        super().__init__(target.level)
        self._target = target
        self._made = made
        self._start_afresh()
        os.register_at_fork(after_in_child=self._start_afresh)

    def _start_afresh(self) -> None:
        """Also in a child process: what its parent has gathered is the parent's to write."""
        self._lines: deque[str] = deque()
        self._some = threading.Event()
        self._writer: threading.Thread | None = None
        self._starting = threading.Lock()

    def handle(self, record: logging.LogRecord) -> bool:
        """Without a lock: whoever adds a line does just that."""
        if self.filters and not self.filter(record):
            return False
        if record.levelno > logging.INFO:
            self.flush()
            return bool(self._target.handle(record))
        try:
            self._lines.append(self._made(record))
        except Exception:
            self.handleError(record)
            return True
        if not self._some.is_set():
            self._some.set()
            self._see_to_a_writer()
        return True

    def flush(self) -> None:
        """Writes what has been gathered."""
        with self._target.lock or contextlib.nullcontext():
            lines = [self._lines.popleft() for _ in range(len(self._lines))]
            if lines:
                self._target.emit(_Lines("\n".join(lines)))

    def close(self) -> None:
        self.flush()
        self._target.close()
        super().close()

    def _see_to_a_writer(self) -> None:
        if self._writer is not None and self._writer.is_alive():
            return
        with self._starting:
            if (
                self._writer is None or not self._writer.is_alive()
            ):  # none yet, or left behind in a parent process
                self._writer = threading.Thread(target=self._write, name="log", daemon=True)
                try:
                    self._writer.start()
                except RuntimeError:  # no thread to be had: then it is written here
                    self._some.clear()
                    self.flush()

    def _write(self) -> None:
        while self._some.wait():
            time.sleep(MOMENT)
            self._some.clear()
            self.flush()


def _names(form: str) -> tuple[str, ...]:
    """What a format asks for."""
    return tuple(re.findall(r"%\((\w+)\)", form))


class _Lines(logging.LogRecord):
    """Lines that are made already."""

    def __init__(self, text: str) -> None:
        super().__init__(__name__, logging.INFO, __file__, 0, text, (), None)


class _OrDash:
    """Of who asks. What is not known is a dash."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values.get(key) or "-"
