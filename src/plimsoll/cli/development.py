# SPDX-License-Identifier: Apache-2.0

"""Settings for development: noauth2, and a SQLite database under ./var."""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.config.database_url import VARIABLE

STATE_VARIABLE = "OS_DEFAULT__STATE_PATH"


def set_development_defaults(file: str = "plimsoll.sqlite") -> None:
    """Set the environment variables of --dev. A database or state_path in the environment stays; files are ignored."""
    os.environ["OS_API__AUTH_STRATEGY"] = "noauth2"
    state = os.environ.setdefault(STATE_VARIABLE, str(Path("var").absolute()))
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = f"sqlite:///{state}/{file}"
        os.environ["OS_PLACEMENT_DATABASE__SYNC_ON_STARTUP"] = "true"
