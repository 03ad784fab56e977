# SPDX-License-Identifier: Apache-2.0

"""Shortens the timeouts of a service that a fault test starts. Python imports this first in all of its processes.

The tests would take too long with the timeouts of production.
"""

from __future__ import annotations

import os

PREFIX = "PLIMSOLL_TIMEOUT_"

timeouts = {
    name.removeprefix(PREFIX): float(value) for name, value in os.environ.items() if name.startswith(PREFIX)
}
if timeouts:
    from plimsoll.storage.dialects import server

    # Before the dialects import them from there.
    for name in ("IDLE_TRANSACTION_SECONDS", "LOCK_SECONDS"):
        setattr(server, name, int(timeouts.get(name, getattr(server, name))))

    from plimsoll.ledger import commit_retry

    commit_retry.RETRY_SECONDS = timeouts.get("RETRY_SECONDS", commit_retry.RETRY_SECONDS)
