# SPDX-License-Identifier: Apache-2.0

"""The log lines of a database outage: when it began, when it was over, and one line per request."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.faults.ground import Ground
from tests.faults.services import ServiceOn, assert_unavailable
from tests.support.waiting import eventually

PATIENCE = 2.0
LINE = re.compile(r"^\S+ \S+ \d+ (DEBUG|INFO|WARNING|ERROR|CRITICAL) (\S+) \[.*?\] (.*)$", re.MULTILINE)


class Service(ServiceOn):
    """It compares memory with the database every second, as the thread in the background does every few minutes."""

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"OS_PLIMSOLL__VERIFY_INTERVAL": "1"}

    def lines(self, begin: int) -> list[tuple[str, str, str]]:
        """Level, logger and text of what was logged after this place. What is part of no line would be a traceback."""
        log = self.log()[begin:]
        found = [match.groups() for match in LINE.finditer(log)]
        assert len(found) == len(log.splitlines()), log
        return [(level, name, text) for level, name, text in found]


@pytest.fixture
def service(ground: Ground, url: str, tmp_path: Path) -> Service:
    return Service(tmp_path / "service", url, PATIENCE=PATIENCE)


def test_an_outage_is_one_line_when_it_begins_and_one_when_it_is_over(
    ground: Ground, service: Service
) -> None:
    with service, service.line() as line:
        host = line.host(100)
        assert line.claim(host).status == 204
        assert eventually(lambda: f"PUT /resource_providers/{host}" in service.log())
        time.sleep(0.5)  # lines of requests are written together
        begin = len(service.log())
        ground.server.kill()
        try:
            # A commit on a connection that breaks just now would be in doubt, which is another line.
            assert_unavailable(line.get(f"/resource_providers/{host}"))
            time.sleep(0.5)
            for _ in range(2):
                assert_unavailable(line.claim(host))
                assert_unavailable(line.get(f"/resource_providers/{host}"))
                assert line.get("/healthz?ready").status == 503
            time.sleep(2)  # the thread in the background fails, too
        finally:
            ground.server.start()
        assert line.claim(host).status == 204
        assert line.get(f"/resource_providers/{host}").status == 200
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
