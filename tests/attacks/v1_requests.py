# SPDX-License-Identifier: Apache-2.0

"""Hostile parameters and headers of the Plimsoll API, of `/metrics` and of `/console/`: each request is cheap to send."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Iterator, Sequence

from tests.attacks.attack import Outcome, Stop, attack, in_threads, receive
from tests.attacks.sockets import request
from tests.attacks.target import Target


class _Locked(Iterator[bytes]):
    """A generator that several threads may read."""

    def __init__(self, contents: Iterator[bytes]) -> None:
        self._contents = contents
        self._lock = threading.Lock()

    def __next__(self) -> bytes:
        with self._lock:
            return next(self._contents)


V1 = "/plimsoll/v1"
CLIENTS = 4
PAUSE = 0.02
"""Seconds. These attacks aim at single requests that take long; without a pause they would measure a busy client."""


def send_in_rotation(
    target: Target,
    stop: Stop,
    outcome: Outcome,
    contents: Sequence[bytes] | Iterator[bytes],
    *,
    clients: int = CLIENTS,
    pause: float = PAUSE,
) -> None:
    """Send these requests again and again on several persistent connections, with a pause after each response."""
    upcoming = itertools.cycle(contents) if isinstance(contents, Sequence) else contents

    def work(_: int) -> None:
        while not stop.is_set():
            try:
                with target.connect(60) as connection:
                    while not stop.is_set():
                        connection.send(next(upcoming))
                        if not receive(connection, outcome) or stop.wait(pause):
                            break
            except OSError:
                stop.wait(0.05)

    with in_threads(clients, work, stop):
        while not stop.wait(0.2):
            pass


ACCEPTS = [
    "a/a," * 15_000,
    "text/a;q=0.1," * 4_500,
    "text/a" + ";a=b" * 14_000,
    "," * 60_000,
    "a/b;" + " " * 60_000,
]


@attack("new")
def long_accept_headers(target: Target, stop: Stop, outcome: Outcome) -> None:
    """No token: the media type of the response, or of the error, is negotiated before it is known to be needed."""
    numbers = itertools.count()
    paths = [
        f"{V1}/openapi.json",
        f"{V1}/providers",
        "/resource_providers",
        f"{V1}/nothing",
        "/console/sign-in",
    ]

    def contents() -> Iterator[bytes]:
        while True:
            for accept, path in itertools.product(ACCEPTS, paths):
                line = f"accept: {accept}b/{next(numbers)}"
                yield request("GET", path, None, line, token=None)

    send_in_rotation(target, stop, outcome, _Locked(contents()))


@attack("new")
def long_accept_headers_with_a_token(target: Target, stop: Stop, outcome: Outcome) -> None:
    numbers = itertools.count()
    paths = [f"{V1}/providers", "/resource_providers", f"{V1}/explain?resources=VCPU:1", "/metrics"]

    def contents() -> Iterator[bytes]:
        while True:
            for accept, path in itertools.product(ACCEPTS, paths):
                yield request("GET", path, None, f"accept: {accept}b/{next(numbers)}")

    send_in_rotation(target, stop, outcome, _Locked(contents()))


@attack("new")
def long_lists_in_headers_of_files(target: Target, stop: Stop, outcome: Outcome) -> None:
    """No token and no permit: codings and entity tags of static files."""
    contents = [
        request("GET", "/console/", None, "accept-encoding: " + "," * 60_000, token=None),
        request("GET", "/console/", None, "accept-encoding: " + "br;q=0," * 8_000, token=None),
        request("GET", "/console/", None, "if-none-match: " + '"a",' * 14_000, token=None),
        request("HEAD", "/console/", None, "if-none-match: " + "," * 60_000, token=None),
        request("GET", f"{V1}/openapi.json", None, "if-none-match: " + "," * 60_000, token=None),
        request("GET", "/console/", None, "range: bytes=" + "0-1," * 14_000, token=None),
    ]
    send_in_rotation(target, stop, outcome, [each for each in contents if not each.startswith(b"HEAD")])


@attack("new")
def long_queries_of_probes(target: Target, stop: Stop, outcome: Outcome) -> None:
    """No token and no permit."""
    contents = [
        request("GET", "/healthz?" + "a&" * 30_000, token=None),
        request("GET", "/healthz?" + "a=1&" * 15_000, token=None),
        request("GET", "/metrics?" + "a=1&" * 15_000, token=None),
        request("GET", "/metrics?" + "providers=0&" * 5_000, token=None),
        request("GET", "/console/?" + "a&" * 30_000, token=None),
        request("GET", f"{V1}/docs?" + "a&" * 30_000, token=None),
    ]
    send_in_rotation(target, stop, outcome, contents)


@attack("new")
def long_queries_of_v1(target: Target, stop: Stop, outcome: Outcome) -> None:
    aggregate = "00000000-0000-0000-0000-00000000000"
    queries = [
        "changes?" + "operation=a&" * 4_900 + "limit=1000",
        "changes?" + "&".join(f"operation={number}" for number in range(4_000)),
        "providers?" + "&".join(f"member_of={aggregate}{number % 10}" for number in range(1_200)),
        "providers?"
        + "&".join("member_of=in:" + ",".join([f"{aggregate}{n}" for n in range(9)]) for _ in range(160)),
        "providers?" + "&".join(f"required=CUSTOM_{number}" for number in range(2_800)),
        "providers?required=" + ",".join(f"!CUSTOM_{number}" for number in range(350)),
        "providers?resources=" + ",".join(f"CUSTOM_{number}:1" for number in range(260)),
        "providers?" + "&".join(f"a{number}=1" for number in range(7_000)),
        "explain?resources=VCPU:1&required=" + ",".join(f"CUSTOM_{number}" for number in range(4_500)),
        "explain?resources=" + ",".join(f"CUSTOM_{number}:1" for number in range(3_800)),
        "explain?" + "&".join(f"resources{number}=VCPU:1" for number in range(2_400)) + "&group_policy=none",
        "explain?"
        + "&".join(f"resources{number}=VCPU:1" for number in range(2_400))
        + "&group_policy=isolate",
        "explain?resources=VCPU:1&" + "&".join(f"member_of={aggregate}{n % 10}" for n in range(1_000)),
        "fit?" + "&".join(f"resources{number}=VCPU:1" for number in range(2_400)) + "&group_policy=none",
        "fit?resources=" + ",".join(f"CUSTOM_{number}:1" for number in range(3_800)),
        "consumers?" + "&".join(f"a{number}=1" for number in range(7_000)),
        "unplaced?request_id=" + "%2B" * 19_000,
    ]
    send_in_rotation(target, stop, outcome, [request("GET", f"{V1}/{query}"[:60_000]) for query in queries])


@attack("new", cloud="large")
def patterns_with_many_wildcards(target: Target, stop: Stop, outcome: Outcome) -> None:
    names = [
        "*a" * 99,
        "*?" * 99,
        "*[a-z]" * 33,
        "?*" * 99,
        "*" * 200,
        "[" * 200,
        "[!a]*" * 39,
        "*host-*0*1*2*3*4*5*6*7*8*9*",
    ]
    paths = [
        f"{V1}/providers?name={name.replace('[', '%5B').replace(']', '%5D').replace('?', '%3F')}"
        for name in names
    ]
    send_in_rotation(target, stop, outcome, [request("GET", path) for path in paths])


@attack("new", cloud="large")
def chosen_members_of_providers(target: Target, stop: Stop, outcome: Outcome) -> None:
    """Each combination of members is encoded anew, and cached."""
    members = [
        "uuid",
        "name",
        "generation",
        "root",
        "parent",
        "inventories",
        "traits",
        "aggregates",
        "updated_at",
    ]
    contents = [
        request("GET", f"{V1}/providers?fields={','.join(some)}", None, "accept: application/x-ndjson")
        for count in range(1, len(members) + 1)
        for some in itertools.combinations(members, count)
    ]
    send_in_rotation(target, stop, outcome, contents)


def _storm(target: Target, stop: Stop, outcome: Outcome, *paths: str, lines: Sequence[str] = ()) -> None:
    """50 clients that send the same requests at a time."""
    contents = [request("GET", path, None, *lines) for path in paths]
    send_in_rotation(target, stop, outcome, contents, clients=STORM, pause=0.0)


STORM = 50
"""Clients, three times as many as a worker has permits."""
GROUPS = "&".join(f"resources{number}=VCPU:1" for number in range(490))
DEVICES = "&".join(f"resources{number}=FPGA:1" for number in range(20))


@attack("new", cloud="large")
def storm_of_scrapes(target: Target, stop: Stop, outcome: Outcome) -> None:
    _storm(target, stop, outcome, "/metrics")


@attack("new", cloud="large")
def storm_of_scrapes_with_providers(target: Target, stop: Stop, outcome: Outcome) -> None:
    """As a caller with a token: a proxy header makes the client one of no trusted network."""
    _storm(target, stop, outcome, "/metrics?providers=1", lines=["x-forwarded-for: 127.0.0.1"])


@attack("new", cloud="large")
def storm_of_usage_by_host(target: Target, stop: Stop, outcome: Outcome) -> None:
    _storm(target, stop, outcome, f"{V1}/usage?group_by=root")


@attack("new", cloud="large")
def storm_of_explanations(target: Target, stop: Stop, outcome: Outcome) -> None:
    queries = [
        f"{GROUPS}&group_policy=none",
        f"{DEVICES}&group_policy=isolate",
        "resources=VCPU:6&since_when=true",
    ]
    _storm(target, stop, outcome, *(f"{V1}/explain?{query}" for query in queries))


@attack("new", cloud="large")
def storm_of_fits(target: Target, stop: Stop, outcome: Outcome) -> None:
    queries = [
        "resources=VCPU:1",
        "resources1=VGPU:1&resources2=VGPU:1&group_policy=none",
        "resources=MEMORY_MB:1,FPGA:1",
    ]
    _storm(target, stop, outcome, *(f"{V1}/fit?{query}" for query in queries))


CHANGES = 1_000


@attack("new", cloud="large")
def storm_of_past_states(target: Target, stop: Stop, outcome: Outcome) -> None:
    """Reads as of changes in random order: each undoes other changes, and fills the cache of earlier states."""
    newest = _change_repeatedly(target, stop)
    paths = [f"{V1}/usage?group_by=root&", f"{V1}/fit?resources=VCPU:1&", f"{V1}/explain?resources=VCPU:6&"]
    chosen = random.Random(1)
    contents = (
        request("GET", f"{chosen.choice(paths)}at={chosen.randrange(max(1, newest - CHANGES), newest)}")
        for _ in itertools.count()
    )
    send_in_rotation(target, stop, outcome, _Locked(contents), clients=STORM, pause=0.0)


def _change_repeatedly(target: Target, stop: Stop) -> int:
    """Change the inventory of a host; return the number of the last change."""
    path = f"/resource_providers/{target.host}/inventories"
    inventories = target.send("GET", path).json
    with target.connect() as connection:
        for _ in range(CHANGES):
            if stop.is_set():
                break
            connection.send(request("PUT", path, json.dumps(inventories).encode()))
            inventories["resource_provider_generation"] = connection.response("PUT").json[
                "resource_provider_generation"
            ]
    return int(target.send("GET", f"{V1}/usage?group_by=root").json["revision"].rpartition(":")[2])


@attack("new", cloud="large")
def storm_of_documents(target: Target, stop: Stop, outcome: Outcome) -> None:
    """No token: all OpenAPI documents and reference pages."""
    paths = [f"{V1}/openapi/placement-1.{minor}.json" for minor in range(40)]
    paths += [f"{V1}/docs?version=1.{minor}" for minor in range(40)]
    _storm(target, stop, outcome, *paths)
