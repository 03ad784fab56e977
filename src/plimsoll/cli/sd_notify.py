# SPDX-License-Identifier: Apache-2.0

"""Tells the service manager that started us how far we are, if it has asked to be told (systemd's Type=notify)."""

from __future__ import annotations

import os
import socket

VARIABLE = "NOTIFY_SOCKET"
READY = "READY=1"


def tell(state: str) -> None:
    """A manager that cannot be told any more does not keep us from serving."""
    address = os.environ.get(VARIABLE, "")
    if not address:
        return
    if address.startswith("@"):  # a name without a file
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.sendto(state.encode(), address)
    except OSError:
        return
