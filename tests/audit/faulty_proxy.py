# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.audit.faulty_proxy PORT HOST PORT`: TCP proxy that breaks database connections at commit.

It forwards from its own port to the database server and reads commands, one per line, from standard input:
`disconnect` aborts every connection now, `drop_response` aborts the connection after the next commit of a write was
forwarded, `drop_commit` aborts it without forwarding that commit. At the end of its input it prints how many commits
it has interrupted, and exits.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

CHUNK = 1 << 16
COMMIT = b"COMMIT"
"""Both protocols send it in clear text, in one packet with the statements of its batch."""
WRITES = b"FOR UPDATE"
"""A connection that has sent this once is a writer. Commits of other connections are left alone."""
COMMANDS = ("disconnect", "drop_response", "drop_commit")


class FaultyProxy:
    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._pending: str | None = None
        self.commits = 0
        """How many commits were interrupted."""
        self._open: set[asyncio.StreamWriter] = set()

    def execute(self, command: str) -> None:
        if command == "disconnect":
            for writer in list(self._open):
                writer.transport.abort()
        else:
            self._pending = command

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one client connection in both directions until either end closes it."""
        try:
            from_server, to_server = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        self._open.add(writer)
        responses = asyncio.create_task(self._forward_responses(from_server, writer))
        try:
            await self._forward_requests(reader, to_server)
        finally:
            self._open.discard(writer)
            responses.cancel()
            writer.transport.abort()
            # A graceful close: the server still receives and executes forwarded data, its response is dropped.
            to_server.close()

    async def _forward_requests(self, client: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        is_writer = False
        with contextlib.suppress(OSError):
            while data := await client.read(CHUNK):
                command = None
                is_writer = is_writer or WRITES in data
                if self._pending is not None and is_writer and COMMIT in data:
                    command, self._pending = self._pending, None
                    self.commits += 1
                if command != "drop_commit":
                    server.write(data)
                    await server.drain()
                if command is not None:
                    return

    async def _forward_responses(self, server: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await server.read(CHUNK):
                client.write(data)
                await client.drain()
        client.transport.abort()


async def main(port: int, host: str, to: int) -> None:
    proxy = FaultyProxy(host, to)
    server = await asyncio.start_server(proxy.connect, "127.0.0.1", port)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
    )
    async with server:
        while line := await commands.readline():
            proxy.execute(line.decode().strip())
    print(proxy.commits)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
