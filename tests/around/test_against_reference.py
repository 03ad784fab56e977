# SPDX-License-Identifier: Apache-2.0

"""What stands around the application does what it does around the reference: headers, ids, and lines of the log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from tests.around.pair import ADMIN, THE_REFERENCE, Pair, Reply, Running, bare, side_by_side

SETTINGS = """
[plimsoll]
allow_insecure_noauth = true
[DEFAULT]
debug = true
log_file = DIRECTORY/placement.log
[cors]
allowed_origin = https://console.example,https://other.example
[oslo_middleware]
enable_proxy_headers_parsing = true
"""
# It looks for that one elsewhere than in its file, see docs/differences.md, so it is put there.
THEIRS = f"""
from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi
cfg.CONF.register_opts(http_proxy_to_wsgi.OPTS, group="oslo_middleware")
cfg.CONF.set_override("enable_proxy_headers_parsing", True, group="oslo_middleware")
{THE_REFERENCE}
"""

GLOBAL = "req-12345678-1234-1234-1234-123456789abc"
CONSOLE = {"origin": "https://console.example"}
ASKING = {**CONSOLE, "access-control-request-method": "GET"}
FORWARDED = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "placement.example",
    "x-forwarded-prefix": "/p",
}
DOMAINS = {
    "x-domain-id": "dd",
    "x-user-domain-id": "ud",
    "x-project-domain-id": "pd",
    "openstack-system-scope": "all",
}

CASES: dict[str, tuple[str, str, Mapping[str, str]]] = {
    "the version document": ("GET", "/", {}),
    "an answer": ("GET", "/resource_providers?name=x%20y", ADMIN),
    "a stranger": ("GET", "/traits", {}),
    "no such path": ("GET", "/nowhere", ADMIN),
    "no such method": ("PATCH", "/traits", ADMIN),
    "head": ("HEAD", "/traits", ADMIN),
    "a bad query": ("GET", "/resource_providers?in_tree=", ADMIN),
    "a version that is not spoken": ("GET", "/traits", {**ADMIN, "openstack-api-version": "placement 1.99"}),
    "no version": ("GET", "/traits", {**ADMIN, "openstack-api-version": "placement x"}),
    "forbidden": ("GET", "/traits", {**ADMIN, "x-auth-token": "bob"}),
    "a caller of a domain": ("GET", "/traits", {**ADMIN, **DOMAINS}),
    "nothing to say": ("DELETE", "/resource_providers/4f9e5b5c-2f9c-4c8a-8a0f-3b7f1f0f8a11", ADMIN),
    "made": ("PUT", "/traits/CUSTOM_MADE", ADMIN),
    "made before": ("PUT", "/traits/CUSTOM_MADE", ADMIN),
    "removed": ("DELETE", "/traits/CUSTOM_MADE", ADMIN),
    "a global id": ("GET", "/traits", {**ADMIN, "x-openstack-request-id": GLOBAL}),
    "a global id with more behind it": ("GET", "/", {"x-openstack-request-id": f"{GLOBAL}0"}),
    "a global id of another form": ("GET", "/", {"x-openstack-request-id": "req-1"}),
    "another origin": ("GET", "/traits", {**ADMIN, **CONSOLE}),
    "another origin, a problem": ("GET", "/nowhere", {**ADMIN, **CONSOLE}),
    "another origin, a stranger": ("GET", "/traits", CONSOLE),
    "an origin that is not allowed": ("GET", "/traits", {**ADMIN, "origin": "https://evil.example"}),
    "may I": ("OPTIONS", "/traits", {**ASKING, "access-control-request-headers": "X-Auth-Token"}),
    "may I with no such header": ("OPTIONS", "/traits", {**ASKING, "access-control-request-headers": "x-no"}),
    "may I with no such method": ("OPTIONS", "/traits", {**ASKING, "access-control-request-method": "HEAD"}),
    "may I from elsewhere": ("OPTIONS", "/traits", {**ASKING, "origin": "https://evil.example"}),
    "options of nobody": ("OPTIONS", "/", {}),
    "forwarded": (
        "GET",
        "/traits",
        {**ADMIN, "forwarded": "for=192.0.2.60;proto=https;host=a.example, for=1.2.3.4"},
    ),
    "forwarded by many": (
        "GET",
        "/traits",
        {**ADMIN, **FORWARDED, "x-forwarded-for": "192.0.2.61, 10.0.0.1"},
    ),
    "forwarded nonsense": ("GET", "/", {"forwarded": ";;==,for"}),
}

OWN_HEADERS = {"date", "server", "connection", "content-length", "x-openstack-request-id", "last-modified"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with side_by_side(tmp_path_factory.mktemp("pair"), SETTINGS, THEIRS) as pair:
        yield pair


def said(reply: Reply) -> dict[str, str]:
    told = {name: value for name, value in reply.headers.items() if name not in OWN_HEADERS}
    return {name: re.sub(r"127\.0\.0\.1:\d+", "HERE", value) for name, value in told.items()}


def logged(service: Running, reply: Reply) -> list[str]:
    """The lines about a request, with the name of the logger."""
    request_id = reply.headers["x-openstack-request-id"]
    lines = [line for line in service.lines(request_id, 2) if " placement.requestlog " in line]
    return [bare(line, request_id) for line in lines]


@pytest.mark.parametrize("case", CASES)
def test_headers_and_lines_are_the_references(pair: Pair, case: str) -> None:
    theirs, ours = pair.ask(*CASES[case])
    assert (ours.status, said(ours)) == (theirs.status, said(theirs))
    assert re.fullmatch(
        r"req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ours.headers["x-openstack-request-id"]
    )
    expected = logged(pair.reference, theirs)
    assert len(expected) == 2
    assert logged(pair.plimsoll, ours) == expected


def test_locations_are_those_that_the_proxy_is_known_by(pair: Pair) -> None:
    headers = {**ADMIN, **FORWARDED, "content-type": "application/json"}
    for reply in pair.ask("POST", "/resource_providers", headers, b'{"name": "forwarded"}'):
        assert re.match(
            "https://placement.example/p/resource_providers/[0-9a-f-]{36}$", reply.headers["location"]
        )
