# SPDX-License-Identifier: Apache-2.0

"""A process and all that it started, taken as one: stopped, continued, killed. And a guard over it.

Workers of PostgreSQL lead sessions of their own, so a signal to a process group would miss them.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path


def family(pid: int) -> list[int]:
    """This process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                # The name, in parentheses, may hold spaces: what follows the last one is plain.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for each in found:
        found.extend(children.get(each, ()))
    return found


def signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def stop_family(pid: int) -> list[int]:
    """Stop them all, the first one first, so that it starts no more while the others are counted."""
    os.kill(pid, signal.SIGSTOP)
    members = family(pid)
    signal_all(members, signal.SIGSTOP)
    return members


def kill_family(pid: int) -> None:
    """SIGKILL for them all, at one moment as far as they can tell: none acts on the death of another."""
    with suppress(ProcessLookupError):
        signal_all(stop_family(pid)[::-1], signal.SIGKILL)


class Guard:
    """Kills a server and removes its directory if this process dies without having stopped it."""

    def __init__(self, pid: int, directory: Path) -> None:
        # It ends of itself when it reads a line; the end of the pipe without one means that we are dead.
        # SIGQUIT lets PostgreSQL and MariaDB put away what they share with the machine.
        script = 'read -r line || { kill -QUIT "$1"; sleep 1; kill -KILL -- "-$1"; rm -rf -- "$2"; }'
        self._process = subprocess.Popen(
            ["sh", "-c", script, "sh", str(pid), str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        self._process.communicate(b"done\n", timeout=10)
