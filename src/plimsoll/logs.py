# SPDX-License-Identifier: Apache-2.0

"""Logging as oslo.log's options say, with its lines made faster: one is written for every request.

The lines are oslo.log's to the letter. Those of requests are plain (level INFO, no exception), and what oslo.log
works out anew for each of them, the options and the second that it is, is kept here.
"""

from __future__ import annotations

import logging
from typing import Any

from oslo_config import cfg
from oslo_context import context
from oslo_log import log
from oslo_log.formatters import ContextFormatter

PROJECT = "placement"
"""The name that operators know the service by, also in their logs."""


def set_up(conf: cfg.ConfigOpts) -> None:
    """Log as the configuration says, warnings of libraries included."""
    log.setup(conf, PROJECT)
    for handler in logging.getLogger().handlers:
        if type(handler.formatter) is ContextFormatter:
            handler.setFormatter(QuickFormatter(handler.formatter, conf))
    logging.captureWarnings(True)
    if conf.log_options:
        conf.log_opt_values(logging.getLogger(__name__), logging.DEBUG)


class QuickFormatter(ContextFormatter):
    def __init__(self, slow: ContextFormatter, conf: cfg.ConfigOpts) -> None:
        super().__init__(datefmt=slow.datefmt, project=slow.project, version=slow.version, config=conf)
        self._in_request: str = conf.logging_context_format_string
        self._identity: str = conf.logging_user_identity_format
        self._wants_iso_time = "isotime" in self._in_request
        self._second = (0, "")

    def format(self, record: logging.LogRecord) -> str:
        asking = context.get_current()
        plain = record.levelno == logging.INFO and not record.exc_info and not record.stack_info
        about = asking.get_logging_values() if asking is not None else {}
        if not plain or not about.get("request_id") or self._wants_iso_time:
            return super().format(record)
        identity = self._identity % _OrDash(about)
        values = _Values(record.__dict__)
        values.update(about)
        values.update(
            project=self.project,
            version=self.version,
            user_identity=identity,
            asctime=self._time(record),
            message=record.getMessage(),
        )
        return self._in_request % values

    def _time(self, record: logging.LogRecord) -> str:
        second, text = self._second
        if second != int(record.created):
            text = self.formatTime(record, self.datefmt)
            self._second = int(record.created), text
        return text


class _Values(dict[str, Any]):
    """Of one line. What nobody has said is empty."""

    def __missing__(self, key: str) -> str:
        return ""


class _OrDash:
    """Of who asks. What is not known is a dash."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values.get(key) or "-"
