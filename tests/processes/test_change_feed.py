# SPDX-License-Identifier: Apache-2.0

"""Waiting for changes under `plimsoll serve`: long polls and streams, their limits, and their end."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pytest

from plimsoll.client import FeedLost, Target, connect, follow, load
from tests.support.running import Service
from tests.support.waiting import eventually

PATH = "/plimsoll/v1/changes"
TOKEN = {"x-auth-token": "admin"}
EVENTS = {**TOKEN, "accept": "text/event-stream"}


class FewPlaces(Service):
    """A service that processes two requests at a time and has places for four subscribers."""

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"OS_PLIMSOLL__THREADS": "2", "OS_PLIMSOLL__MAX_SUBSCRIBERS": "4"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with FewPlaces(tmp_path_factory.mktemp("feed")) as service:
        yield service


class Stream:
    """A stream of events, closed at the end of the test."""

    opened: ClassVar[list[Stream]] = []

    def __init__(self, service: Service, query: str = "", **headers: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        self._connection.request("GET", f"{PATH}{query}", headers=EVENTS | headers)
        self.response = self._connection.getresponse()
        self.opened.append(self)

    def next(self) -> tuple[str, str, Any]:
        """Return kind, id and data of the next event."""
        while True:
            fields = dict(line.split(": ", 1) for line in iter(self._line, ""))
            if "event" in fields:
                return fields["event"], fields["id"], json.loads(fields["data"])
            assert fields, "the stream has ended"

    def _line(self) -> str:
        return self.response.readline().decode().removesuffix("\n")

    def close(self) -> None:
        self.response.close()
        self._connection.close()


@pytest.fixture(autouse=True)
def closed_streams() -> Iterator[None]:
    yield
    while Stream.opened:
        Stream.opened.pop().close()


def create(service: Service, name: str | None = None) -> str:
    name = name or str(uuid4())
    assert service.client().call("POST", "/resource_providers", {"name": name})[0] == 200
    return name


def names(change: Any) -> list[str]:
    return [each["name"] for each in change["providers"]]


def position(service: Service) -> str:
    found: str = service.client().call("GET", f"{PATH}?limit=1")[1]["revision"]
    return found


def test_a_long_poll_returns_with_the_next_change(service: Service) -> None:
    start, found = position(service), []
    client = service.client()
    poll = threading.Thread(target=lambda: found.append(client.call("GET", f"{PATH}?since={start}&wait=50")))
    poll.start()
    name = create(service)
    poll.join()
    ((status, document),) = found
    assert (status, document["more"]) == (200, False)
    assert [names(each) for each in document["changes"]] == [[name]]


def test_a_long_poll_without_a_change_returns_an_empty_page(service: Service) -> None:
    start = position(service)
    status, document = service.client().call("GET", f"{PATH}?since={start}&wait=1")
    assert (status, document["changes"]) == (200, [])
    assert document["next"].startswith(start)


def test_waits_and_streams_occupy_no_place_for_requests(service: Service) -> None:
    start = position(service)
    polls = [
        threading.Thread(target=service.client().call, args=("GET", f"{PATH}?since={start}&wait=50"))
        for _ in range(2)
    ]
    for poll in polls:
        poll.start()
    streams = [Stream(service) for _ in range(2)]
    assert [stream.next()[0] for stream in streams] == ["position"] * 2
    name = create(service)  # there are two places for requests: without this, all would be taken
    assert [names(stream.next()[2]) for stream in streams] == [[name]] * 2
    for poll in polls:
        poll.join()


def test_more_subscribers_than_allowed_get_a_503(tmp_path: Path) -> None:
    with FewPlaces(tmp_path) as service:
        streams = [Stream(service) for _ in range(4)]
        assert [stream.next()[0] for stream in streams] == ["position"] * 4
        refused = Stream(service)
        assert (refused.response.status, refused.response.headers["retry-after"]) == (503, "5")
        status, _ = service.client().call("GET", f"{PATH}?since={position(service)}&wait=1")
        assert status == 503
        streams.pop().close()
        assert eventually(lambda: Stream(service).response.status == 200)


def test_a_stream_resumes_exactly_after_the_last_event(service: Service) -> None:
    stream = Stream(service)
    kind, _, data = stream.next()
    assert (kind, data["highest"]) == ("position", position(service))
    first, second, third = (create(service) for _ in range(3))
    kind, last, change = stream.next()
    assert (kind, names(change), change["cursor"]) == ("change", [first], last)
    resumed = Stream(service, **{"last-event-id": last})
    assert [names(resumed.next()[2]) for _ in range(2)] == [[second], [third]]
    assert [names(Stream(service, f"?since={last}").next()[2])] == [[second]]


def test_a_stream_has_the_changes_that_meet_the_conditions(service: Service) -> None:
    create(service, "wanted")
    stream = Stream(service, "?provider=wanted")
    assert stream.next()[0] == "position"
    create(service)
    client = service.client()
    uuid = client.call("GET", "/resource_providers?name=wanted")[1]["resource_providers"][0]["uuid"]
    assert client.call("PUT", f"/resource_providers/{uuid}", {"name": "renamed"})[0] == 200
    kind, _, change = stream.next()
    assert (kind, change["operation"]) == ("change", "provider.update")
    assert change["providers"][0]["before"] == {"name": "wanted"}


@pytest.mark.parametrize(
    ("query", "last", "status"),
    [
        ("?since=00000000:1", "", 410),
        ("", "00000000:1", 410),
        ("", "x", 400),
        ("?limit=0", "", 400),
        ("?before=00000000:1&since=00000000:1", "", 400),
    ],
)
def test_a_stream_that_cannot_begin_is_an_error_document(
    service: Service, query: str, last: str, status: int
) -> None:
    stream = Stream(service, query, **({"last-event-id": last} if last else {}))
    assert stream.response.status == status
    assert json.loads(stream.response.read())["errors"][0]["status"] == status


def test_a_stream_ends_when_the_service_stops(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        stream = Stream(service)
        _, cursor, _ = stream.next()
        service.stop()
        kind, last, data = stream.next()
        assert (kind, last, data["reason"], data["next"]) == ("end", cursor, "stopping", cursor)
        assert stream.response.read() == b""
        service.start()
        name = create(service)
        assert names(Stream(service, **{"last-event-id": last}).next()[2]) == [name]


def test_the_follower_library_yields_each_change_once(service: Service) -> None:
    client = connect(Target(url=f"http://127.0.0.1:{service.port}", token="admin"))
    loaded = load(client)
    created = [create(service) for _ in range(5)]
    followed = follow(client, loaded.revision, {"operation": ["provider.create"]})
    first = next(followed)
    rest = follow(client, first["cursor"])
    assert [name for each in (first, *(next(rest) for _ in range(4))) for name in names(each)] == created
    with pytest.raises(FeedLost) as lost:
        next(follow(client, "00000000:1"))
    assert lost.value.code == "plimsoll.changes.other_history"
