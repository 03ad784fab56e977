# SPDX-License-Identifier: Apache-2.0

"""The first connection to a server, with `max_retries` retries every `retry_interval` seconds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError

from plimsoll.storage.dialects.base import DatabaseOptions
from plimsoll.storage.errors import Unreachable

LOG = logging.getLogger(__name__)


class StartupCheck:
    """Runs once, in the first thread that needs the database; other threads wait for it."""

    def __init__(
        self,
        where: str,
        options: DatabaseOptions,
        inspect_server: Callable[[], None],
        fault_of: Callable[[BaseException], Exception | None],
    ) -> None:
        self._where = where
        self._options = options
        self._inspect_server = inspect_server
        self._fault_of = fault_of
        self._lock = threading.Lock()
        self.is_done = False

    def run(self) -> None:
        with self._lock:
            attempts = 0
            while not self.is_done:
                attempts += 1
                try:
                    self._inspect_server()
                    self.is_done = True
                except DBAPIError as error:
                    fault = None if error.orig is None else self._fault_of(error.orig)
                    if not isinstance(fault, Unreachable) or attempts == self._options.max_retries + 1:
                        raise
                    self._wait(fault, attempts)

    def _wait(self, fault: Unreachable, attempts: int) -> None:
        options = self._options
        LOG.warning(
            "%s: %s Retrying in %s s (retry %s of %s)",
            self._where,
            fault,
            options.retry_interval,
            attempts,
            "unlimited" if options.max_retries < 0 else options.max_retries,
        )
        time.sleep(options.retry_interval)
