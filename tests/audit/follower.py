# SPDX-License-Identifier: Apache-2.0

"""A follower as a process: it appends each change to a file, and resumes after the last complete line.

`python -m tests.audit.follower WAY FILE SEED PORT ...`. WAY is `poll`, which uses `plimsoll.client.follow`, or `events`, which reads
server-sent events. It can be killed at any time.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plimsoll.client import Target, connect, follow

PATH = "/plimsoll/v1/changes"
WAYS = ("poll", "events")
RETRY_SECONDS = 0.2


class Follower:
    """The process of a follower, which can be killed and started again, and its file."""

    def __init__(self, way: str, file: Path, ports: Sequence[int], seed: int) -> None:
        self.file = file
        self._command = [sys.executable, "-m", __spec__.name, way, str(file), str(seed), *map(str, ports)]
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def start(self) -> None:
        self.starts += 1
        self._command[5] = str(int(self._command[5]) + 1)
        self._process = subprocess.Popen(self._command)

    def kill(self) -> None:
        assert self._process is not None
        assert self._process.poll() is None, f"the follower has ended by itself: {self._command}"
        self._process.kill()
        self._process.wait()

    def changes(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_bytes().splitlines()]


def last_cursor(file: Path) -> str | None:
    """Return the cursor after the last complete line, and remove an incomplete one."""
    content = file.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    if complete != content:
        os.truncate(file, len(complete))
    cursor: str | None = json.loads(complete.splitlines()[-1])["cursor"] if complete else None
    return cursor


def polled(port: int, since: str) -> Iterator[dict[str, Any]]:
    client = connect(Target(url=f"http://127.0.0.1:{port}", token="admin"))
    return follow(client, since, wait=5)


def streamed(ports: Sequence[int], since: str, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield changes of streams. When one ends, for any reason, connect to another service with the last id."""
    last = since
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", rng.choice(ports), timeout=30)
        headers = {"x-auth-token": "admin", "accept": "text/event-stream", "last-event-id": last}
        try:
            connection.request("GET", PATH, headers=headers)
            response = connection.getresponse()
            if response.status != 503:
                assert response.status == 200, (response.status, response.read())
                for kind, event_id, data in _events(response):
                    if kind == "change":
                        yield data
                    last = event_id
        except (OSError, http.client.HTTPException):
            pass
        connection.close()
        time.sleep(RETRY_SECONDS)


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, str, Any]]:
    """Yield kind, id and data of complete events."""
    fields: dict[str, str] = {}
    for line in response:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif "event" in fields:
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}
        else:
            fields = {}


def main(way: str, file: Path, seed: int, ports: Sequence[int]) -> None:
    rng = random.Random(seed)
    since = last_cursor(file) or file.with_suffix(".start").read_text()
    changes = polled(rng.choice(ports), since) if way == "poll" else streamed(ports, since, rng)
    with file.open("ab", buffering=0) as output:
        for change in changes:
            output.write(json.dumps(change).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), [int(port) for port in sys.argv[4:]])
