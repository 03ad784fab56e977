# SPDX-License-Identifier: Apache-2.0

"""Signals to a process and all its descendants, and a watchdog for private servers.

PostgreSQL's workers lead their own sessions, so a signal to a process group would miss them.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path


def process_tree(pid: int) -> list[int]:
    """Return this pid and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # the process has ended
                # The name in parentheses may contain spaces, so split after the last parenthesis.
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


def stop_process_tree(pid: int) -> list[int]:
    """Send SIGSTOP to all, the parent first, so that it starts no more children meanwhile. Return the pids."""
    os.kill(pid, signal.SIGSTOP)
    members = process_tree(pid)
    signal_all(members, signal.SIGSTOP)
    return members


def kill_process_tree(pid: int) -> None:
    """Stop all processes, then SIGKILL them, so that none reacts to the death of another."""
    with suppress(ProcessLookupError):
        signal_all(stop_process_tree(pid)[::-1], signal.SIGKILL)


class Guard:
    """Watchdog process: kills a server and removes its directory if this process dies first."""

    def __init__(self, pid: int, directory: Path) -> None:
        # A line ends the script; end of file without a line means that this process has died.
        # SIGQUIT lets PostgreSQL and MariaDB release their shared memory.
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
