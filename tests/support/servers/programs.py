# SPDX-License-Identifier: Apache-2.0

"""Where the database programs are, and as whom they run: servers of databases refuse to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path
from typing import Any


class Missing(Exception):
    """Something that a server needs is not on this machine; the text says what, as in "not run: ..."."""


def find(program: str, *places: str) -> Path:
    """A program on PATH, or in one of these places, of which a `*` may stand for a version: the newest wins."""
    on_path = shutil.which(program)
    if on_path:
        return Path(on_path)
    for place in (*places, "/usr/sbin", "/usr/local/sbin"):
        found = [
            path for path in Path("/").glob(f"{place.lstrip('/')}/{program}") if os.access(path, os.X_OK)
        ]
        if found:
            return max(found, key=_version)
    raise Missing(f"{program} is not installed")


def _version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in path.parts if part.isdigit())


def account(name: str) -> pwd.struct_passwd | None:
    """The account to run a server as: this one when we are root, ourselves (None) when we are not."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise Missing(f"the server does not run as root, and there is no user {name}") from None


def run_as(user: pwd.struct_passwd | None) -> dict[str, Any]:
    """The arguments with which `subprocess` starts something as this account."""
    if user is None:
        return {}
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
