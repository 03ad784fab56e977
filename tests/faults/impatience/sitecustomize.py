# SPDX-License-Identifier: Apache-2.0

"""Python imports this first in a service that a fault test starts, and in each of its workers.

It makes the service less patient, so that a test need not wait as long as an operator's service would.
"""

from __future__ import annotations

import os

PREFIX = "PLIMSOLL_PATIENCE_"

wanted = {
    name.removeprefix(PREFIX): float(value) for name, value in os.environ.items() if name.startswith(PREFIX)
}
if wanted:
    from plimsoll.storage.dialects import server

    # Before the dialects import them from there.
    for name in ("ABANDONED_SECONDS", "LOCK_SECONDS"):
        setattr(server, name, int(wanted.get(name, getattr(server, name))))

    from plimsoll.ledger import commit_retry

    commit_retry.PATIENCE = wanted.get("PATIENCE", commit_retry.PATIENCE)
