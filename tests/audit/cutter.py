# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.audit.cutter PORT HOST PORT`: a wire to a database server that can be cut at the worst moment.

It forwards from its own port to the server, and does what it is told by lines on its standard input: `cut` every
connection now, lose the `answer` to the next commit of a write, or lose the next such `commit` itself. It ends with its
input, and says how many commits it has cut.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

CHUNK = 1 << 16
COMMIT = b"COMMIT"
"""Both protocols send it in clear text, in the same packet as what belongs to it."""
WRITES = b"FOR UPDATE"
"""A connection that has sent this once is one that writes. Others commit too, and nobody misses that."""
ORDERS = ("cut", "answer", "commit")


class Cutter:
    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._order: str | None = None
        self.commits = 0
        """How many were cut."""
        self._open: set[asyncio.StreamWriter] = set()

    def take(self, order: str) -> None:
        if order == "cut":
            for writer in list(self._open):
                writer.transport.abort()
        else:
            self._order = order

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's connection, for as long as both ends want it."""
        try:
            there, back = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        self._open.add(writer)
        answers = asyncio.create_task(self._answer(there, writer))
        try:
            await self._ask(reader, back)
        finally:
            self._open.discard(writer)
            answers.cancel()
            writer.transport.abort()
            # What was forwarded still arrives: the server does it, and nobody hears of it.
            back.close()

    async def _ask(self, client: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        is_writer = False
        with contextlib.suppress(OSError):
            while asked := await client.read(CHUNK):
                order = None
                is_writer = is_writer or WRITES in asked
                if self._order is not None and is_writer and COMMIT in asked:
                    order, self._order = self._order, None
                    self.commits += 1
                if order != "commit":
                    server.write(asked)
                    await server.drain()
                if order is not None:
                    return

    async def _answer(self, server: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while answered := await server.read(CHUNK):
                client.write(answered)
                await client.drain()
        client.transport.abort()


async def main(port: int, host: str, to: int) -> None:
    cutter = Cutter(host, to)
    server = await asyncio.start_server(cutter.connect, "127.0.0.1", port)
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    async with server:
        while line := await orders.readline():
            cutter.take(line.decode().strip())
    print(cutter.commits)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
