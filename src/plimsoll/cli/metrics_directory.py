# SPDX-License-Identifier: Apache-2.0

"""The directory in which the workers of `plimsoll serve` share their counters.

It is in memory where the system has /dev/shm, and is removed at the end. A directory that a killed service has left is
removed by the next service of the same user: a service holds a lock on its directory.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from plimsoll.metrics import DIRECTORY_VARIABLE

LOG = logging.getLogger(__name__)

METRICS_VARIABLE = "OS_PLIMSOLL__METRICS"
PREFIX = "plimsoll-metrics-"
_MEMORY = Path("/dev/shm")  # noqa: S108  # a directory of our own is made in it


@contextlib.contextmanager
def metrics_directory(parent: str | None) -> Iterator[None]:
    """Make the directory below `parent`, and name it in the environment of the workers.

    If the operator has named one there, that one is used, and is not removed. If none can be made, metrics are
    switched off: the service must start on a read-only file system.
    """
    if DIRECTORY_VARIABLE in os.environ:
        yield
        return
    try:
        directory, lock = _make(_parent(parent))
    except OSError as error:
        LOG.warning(
            "No metrics: a directory for the counters of the workers cannot be made (%s). Set"
            " [plimsoll]metrics_directory to a writable directory, or [plimsoll]metrics to false.",
            error,
        )
        with _environment(METRICS_VARIABLE, "false"):
            yield
        return
    try:
        with _environment(DIRECTORY_VARIABLE, str(directory)):
            yield
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)


def _parent(given: str | None) -> Path:
    if given is not None:
        return Path(given)
    return _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def _make(parent: Path) -> tuple[Path, int]:
    """Return a new directory, and the open descriptor that holds its lock."""
    for left in parent.glob(f"{PREFIX}*"):
        _remove_if_unused(left)
    directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return directory, lock


def _remove_if_unused(directory: Path) -> None:
    with contextlib.suppress(OSError):  # another user's, or in use
        if directory.lstat().st_uid != os.geteuid():
            return
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory)
        finally:
            os.close(lock)


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for the processes that are started in the block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
