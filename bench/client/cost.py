# SPDX-License-Identifier: Apache-2.0

"""What the client itself costs: driven against a server that does nothing but send the same bytes again.

That server looks for the end of a request and answers from memory. What a unit takes there is the client, the
kernel and that little; no service can be measured as faster.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from typing import Any

from bench.client.driving import Extent, drive
from bench.client.http import HOST
from bench.client.units import reads
from bench.measuring.rounds import summary

SIZES = {"no body": 0, "5 KB": 5_000, "650 KB": 650_000}


def client_cost(seconds: float, rounds: int) -> dict[str, dict[str, Any]]:
    """By the length of the answer, and with eight clients."""
    return {
        f"{name}, {_clients(count)}": _against(length, count, seconds, rounds)
        for name, length in SIZES.items()
        for count in ((1, 8) if length == 0 else (1,))
    }


def _clients(count: int) -> str:
    return "1 client" if count == 1 else f"{count} clients"


def _against(length: int, count: int, seconds: float, rounds: int) -> dict[str, Any]:
    listening = socket.create_server((HOST, 0))
    child = os.fork()
    if child == 0:
        try:
            _serve(listening, b"x" * length)
        finally:
            os._exit(0)
    port = listening.getsockname()[1]
    listening.close()
    try:
        extent = Extent(seconds, least=20, warm=20)
        return summary([drive(port, reads(["/"]), count, extent) for _ in range(rounds)])
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _serve(listening: socket.socket, body: bytes) -> None:
    answer = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    while True:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_answer, args=(connection, answer), daemon=True).start()


def _answer(connection: socket.socket, answer: bytes) -> None:
    buffer = bytearray(4096)
    while connection.recv_into(buffer):
        connection.sendall(answer)
