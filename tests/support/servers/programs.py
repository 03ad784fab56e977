# SPDX-License-Identifier: Apache-2.0

"""Find the database programs and the account to run them: database servers refuse to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path
from typing import Any


class Missing(Exception):
    """A requirement of a server is missing; the text names it, as in "not run: ..."."""


def find(program: str, *directories: str) -> Path:
    """Find a program on PATH or in these directories, where `*` matches a version and the newest is used."""
    on_path = shutil.which(program)
    if on_path:
        return Path(on_path)
    for directory in (*directories, "/usr/sbin", "/usr/local/sbin"):
        found = [
            path for path in Path("/").glob(f"{directory.lstrip('/')}/{program}") if os.access(path, os.X_OK)
        ]
        if found:
            return max(found, key=_version)
    raise Missing(f"{program} is not installed")


def _version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in path.parts if part.isdigit())


def account(name: str) -> pwd.struct_passwd | None:
    """Return the account to run a server as if this process is root, otherwise None (the current account)."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise Missing(f"the server does not run as root, and there is no user {name}") from None


def run_as(user: pwd.struct_passwd | None) -> dict[str, Any]:
    """Return the arguments for `subprocess` to run a program as this account."""
    if user is None:
        return {}
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
