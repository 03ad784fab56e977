# SPDX-License-Identifier: Apache-2.0

"""The first contact with a server: waits for one that is not there yet, as patiently as the operator has said."""

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
    """Made once, by whichever thread comes first; the others wait for it."""

    def __init__(
        self,
        where: str,
        options: DatabaseOptions,
        get_acquainted: Callable[[], None],
        fault_of: Callable[[BaseException], Exception | None],
    ) -> None:
        self._where = where
        self._options = options
        self._get_acquainted = get_acquainted
        self._fault_of = fault_of
        self._making = threading.Lock()
        self.is_done = False

    def make(self) -> None:
        with self._making:
            tried = 0
            while not self.is_done:
                tried += 1
                try:
                    self._get_acquainted()
                    self.is_done = True
                except DBAPIError as error:
                    fault = None if error.orig is None else self._fault_of(error.orig)
                    if not isinstance(fault, Unreachable) or tried == self._options.max_retries + 1:
                        raise
                    self._wait(fault, tried)

    def _wait(self, fault: Unreachable, tried: int) -> None:
        options = self._options
        LOG.warning(
            "%s: %s Trying again in %s s (%s of %s)",
            self._where,
            fault,
            options.retry_interval,
            tried,
            "endless" if options.max_retries < 0 else options.max_retries,
        )
        time.sleep(options.retry_interval)
