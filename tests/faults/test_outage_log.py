# SPDX-License-Identifier: Apache-2.0

"""The log lines of a database outage: its begin, its end, and one line per request."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.faults.private_server import PrivateServer
from tests.faults.services import DatabaseService, assert_unavailable
from tests.support.waiting import eventually

RETRY_SECONDS = 2.0
LINE = re.compile(r"^\S+ \S+ \d+ (DEBUG|INFO|WARNING|ERROR|CRITICAL) (\S+) \[.*?\] (.*)$", re.MULTILINE)


class Service(DatabaseService):
    """A service whose background thread compares memory with the database every second, not every few minutes."""

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"OS_PLIMSOLL__VERIFY_INTERVAL": "1"}

    def lines(self, begin: int) -> list[tuple[str, str, str]]:
        """Level, logger and text of the lines after this position. Anything else, such as a traceback, fails."""
        log = self.log()[begin:]
        parsed = [match.groups() for match in LINE.finditer(log)]
        assert len(parsed) == len(log.splitlines()), log
        return [(level, name, text) for level, name, text in parsed]


@pytest.fixture
def service(private_server: PrivateServer, url: str, tmp_path: Path) -> Service:
    return Service(tmp_path / "service", url, RETRY_SECONDS=RETRY_SECONDS)


def test_an_outage_is_logged_once_at_its_begin_and_once_at_its_end(
    private_server: PrivateServer, service: Service
) -> None:
    with service, service.http_client() as client:
        host = client.host(100)
        assert client.claim(host).status == 204
        assert eventually(lambda: f"PUT /resource_providers/{host}" in service.log())
        time.sleep(0.5)  # the log lines of requests are written in groups
        begin = len(service.log())
        private_server.server.kill()
        try:
            # Not a claim: if its connection breaks during the commit, another line is logged.
            assert_unavailable(client.get(f"/resource_providers/{host}"))
            time.sleep(0.5)
            for _ in range(2):
                assert_unavailable(client.claim(host))
                assert_unavailable(client.get(f"/resource_providers/{host}"))
                assert client.get("/healthz?ready").status == 503
            time.sleep(2)  # the background thread fails, too
        finally:
            private_server.server.start()
        assert client.claim(host).status == 204
        assert client.get(f"/resource_providers/{host}").status == 200
        assert eventually(lambda: "Database outage over" in service.log())
        time.sleep(0.5)
        lines = service.lines(begin)
    outage = [(level, text) for level, name, text in lines if name != "placement.requestlog"]
    assert len(outage) == 2, outage
    (began_level, began), (over_level, over) = outage
    assert (began_level, over_level) == ("ERROR", "WARNING")
    assert began.startswith("Database outage: ")
    assert began.count("The database cannot be reached.") == 1
    assert "status 503 until it is over" in began
    assert re.fullmatch(
        r"Database outage over: \S+ works again after \d+\.\d s, in which \d+ operations failed\.", over
    )
    statuses = re.findall(r"status: (\d+)", "\n".join(text for _, _, text in lines))
    assert statuses == ["503"] * 5 + ["204", "200"]
