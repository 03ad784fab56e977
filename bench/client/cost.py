# SPDX-License-Identifier: Apache-2.0

"""Cost of the client itself, measured against a server that only sends constant bytes.

That server detects the end of a request and responds from memory. The time of a unit is the client, the kernel and this
server; no service can be measured as faster.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from typing import Any

from bench.client.driving import RoundLength, drive
from bench.client.http import HOST
from bench.client.units import reads
from bench.measuring.rounds import summary

SIZES = {"no body": 0, "5 KB": 5_000, "650 KB": 650_000}


def client_cost(seconds: float, rounds: int) -> dict[str, dict[str, Any]]:
    """Return the cost by the length of the response, and with eight clients."""
    return {
        f"{name}, {_clients(count)}": _measure_client(length, count, seconds, rounds)
        for name, length in SIZES.items()
        for count in ((1, 8) if length == 0 else (1,))
    }


def _clients(count: int) -> str:
    return "1 client" if count == 1 else f"{count} clients"


def _measure_client(length: int, count: int, seconds: float, rounds: int) -> dict[str, Any]:
    listener = socket.create_server((HOST, 0))
    child = os.fork()
    if child == 0:
        try:
            _serve(listener, b"x" * length)
        finally:
            os._exit(0)
    port = listener.getsockname()[1]
    listener.close()
    try:
        round_length = RoundLength(seconds, min_units=20, warmup_units=20)
        return summary([drive([port], reads(["/"]), count, round_length) for _ in range(rounds)])
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _serve(listener: socket.socket, body: bytes) -> None:
    response = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_respond, args=(connection, response), daemon=True).start()


def _respond(connection: socket.socket, response: bytes) -> None:
    buffer = bytearray(4096)
    while connection.recv_into(buffer):
        connection.sendall(response)
