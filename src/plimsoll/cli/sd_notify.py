# SPDX-License-Identifier: Apache-2.0

"""Notify the service manager of the state of the service, if it passes a socket for it (systemd's Type=notify)."""

from __future__ import annotations

import contextlib
import os
import socket

VARIABLE = "NOTIFY_SOCKET"
READY = "READY=1"


def notify(state: str) -> None:
    """Send the state to the service manager. Errors are ignored: the service runs without it."""
    address = os.environ.get(VARIABLE, "")
    if not address:
        return
    if address.startswith("@"):  # an abstract socket, without a file
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(state.encode(), address)
