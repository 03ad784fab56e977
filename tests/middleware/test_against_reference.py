# SPDX-License-Identifier: Apache-2.0

"""The middleware has the same effects as the reference's: headers, request ids, log lines, CORS and proxy headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from tests.middleware.pair import (
    ADMIN,
    REFERENCE_APPLICATION,
    Pair,
    Reply,
    Running,
    side_by_side,
    without_own_values,
)

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
# The reference does not read this option from its file, see docs/differences.md, so it is set in the process.
THEIRS = f"""
from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi
cfg.CONF.register_opts(http_proxy_to_wsgi.OPTS, group="oslo_middleware")
cfg.CONF.set_override("enable_proxy_headers_parsing", True, group="oslo_middleware")
{REFERENCE_APPLICATION}
"""

GLOBAL = "req-12345678-1234-1234-1234-123456789abc"
CONSOLE = {"origin": "https://console.example"}
PREFLIGHT = {**CONSOLE, "access-control-request-method": "GET"}
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
    "success": ("GET", "/resource_providers?name=x%20y", ADMIN),
    "no token": ("GET", "/traits", {}),
    "no such path": ("GET", "/nowhere", ADMIN),
    "no such method": ("PATCH", "/traits", ADMIN),
    "head": ("HEAD", "/traits", ADMIN),
    "a bad query": ("GET", "/resource_providers?in_tree=", ADMIN),
    "an unsupported version": ("GET", "/traits", {**ADMIN, "openstack-api-version": "placement 1.99"}),
    "a malformed version": ("GET", "/traits", {**ADMIN, "openstack-api-version": "placement x"}),
    "forbidden": ("GET", "/traits", {**ADMIN, "x-auth-token": "bob"}),
    "a caller of a domain": ("GET", "/traits", {**ADMIN, **DOMAINS}),
    "no such provider": ("DELETE", "/resource_providers/4f9e5b5c-2f9c-4c8a-8a0f-3b7f1f0f8a11", ADMIN),
    "created": ("PUT", "/traits/CUSTOM_MADE", ADMIN),
    "created before": ("PUT", "/traits/CUSTOM_MADE", ADMIN),
    "removed": ("DELETE", "/traits/CUSTOM_MADE", ADMIN),
    "a global id": ("GET", "/traits", {**ADMIN, "x-openstack-request-id": GLOBAL}),
    "a global id with more behind it": ("GET", "/", {"x-openstack-request-id": f"{GLOBAL}0"}),
    "a global id of another form": ("GET", "/", {"x-openstack-request-id": "req-1"}),
    "another origin": ("GET", "/traits", {**ADMIN, **CONSOLE}),
    "another origin, a problem": ("GET", "/nowhere", {**ADMIN, **CONSOLE}),
    "another origin, no token": ("GET", "/traits", CONSOLE),
    "an origin that is not allowed": ("GET", "/traits", {**ADMIN, "origin": "https://evil.example"}),
    "preflight": ("OPTIONS", "/traits", {**PREFLIGHT, "access-control-request-headers": "X-Auth-Token"}),
    "preflight for another header": (
        "OPTIONS",
        "/traits",
        {**PREFLIGHT, "access-control-request-headers": "x-no"},
    ),
    "preflight for another method": (
        "OPTIONS",
        "/traits",
        {**PREFLIGHT, "access-control-request-method": "HEAD"},
    ),
    "preflight from another origin": ("OPTIONS", "/traits", {**PREFLIGHT, "origin": "https://evil.example"}),
    "options without an origin": ("OPTIONS", "/", {}),
    "forwarded": (
        "GET",
        "/traits",
        {**ADMIN, "forwarded": "for=192.0.2.60;proto=https;host=a.example, for=1.2.3.4"},
    ),
    "forwarded by several proxies": (
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


def compared_headers(reply: Reply) -> dict[str, str]:
    headers = {name: value for name, value in reply.headers.items() if name not in OWN_HEADERS}
    return {name: re.sub(r"127\.0\.0\.1:\d+", "HERE", value) for name, value in headers.items()}


def logged(service: Running, reply: Reply) -> list[str]:
    """Return the log lines of a request."""
    request_id = reply.headers["x-openstack-request-id"]
    lines = [line for line in service.lines(request_id, 2) if " placement.requestlog " in line]
    return [without_own_values(line, request_id) for line in lines]


@pytest.mark.parametrize("case", CASES)
def test_headers_and_log_lines_equal_the_references(pair: Pair, case: str) -> None:
    theirs, ours = pair.send(*CASES[case])
    assert (ours.status, compared_headers(ours)) == (theirs.status, compared_headers(theirs))
    assert re.fullmatch(
        r"req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ours.headers["x-openstack-request-id"]
    )
    expected = logged(pair.reference, theirs)
    assert len(expected) == 2
    assert logged(pair.plimsoll, ours) == expected


def test_locations_have_the_address_of_the_proxy(pair: Pair) -> None:
    headers = {**ADMIN, **FORWARDED, "content-type": "application/json"}
    for reply in pair.send("POST", "/resource_providers", headers, b'{"name": "forwarded"}'):
        assert re.match(
            "https://placement.example/p/resource_providers/[0-9a-f-]{36}$", reply.headers["location"]
        )
