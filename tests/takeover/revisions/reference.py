# SPDX-License-Identifier: Apache-2.0

"""Client of the process that runs the reference's migrations and requests."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import pytest
from sqlalchemy import make_url

from tests.storage.reference import BIN, DRIVERS
from tests.support.databases import engine_of

WORKER = Path(__file__).with_name("reference_worker.py")


class ReferenceFailed(Exception):
    """A command of the reference raised; the text is its traceback."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    target: str
    version: str = "1.39"
    method: str = "GET"
    body: str | None = None


class ReferenceProcess:
    """One process of .venv-reference for all databases of the tests."""

    def __enter__(self) -> Self:
        if not (BIN / "python").exists():
            pytest.skip("needs the reference: run `make test`, which installs it")
        self._process = subprocess.Popen(
            [str(BIN / "python"), "-W", "ignore", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def upgrade(self, url: str, revision: str = "head") -> None:
        self._run(url, "upgrade", revision=revision)

    def stamp(self, url: str, revision: str) -> None:
        self._run(url, "stamp", revision=revision)

    def migrate_data(self, url: str) -> None:
        self._run(url, "migrate data")

    def send(self, url: str, requests: Sequence[ApiRequest]) -> list[tuple[int, str]]:
        sent = self._run(url, "send", requests=[asdict(request) for request in requests])
        return [(response["status"], response["body"]) for response in sent]

    def _run(self, url: str, task: str, **arguments: Any) -> Any:
        connection = make_url(url).set(drivername=DRIVERS[engine_of(url)])
        document = {"task": task, "url": connection.render_as_string(hide_password=False), **arguments}
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(document) + "\n")
        stdin.flush()
        answer = json.loads(stdout.readline())
        if "error" in answer:
            raise ReferenceFailed(answer["error"])
        return answer["result"]
