# SPDX-License-Identifier: Apache-2.0

"""Clients of trusted networks, and requests that only seem to come from one."""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.access.loopback import record_peer_address
from plimsoll.access.trusted_networks import TrustedNetworks

NETWORKS = TrustedNetworks(["127.0.0.0/8", "::1/128", "10.1.0.0/16"])


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.10", "::1", "10.1.2.3", "::ffff:10.1.2.3"])
def test_an_address_of_a_network_is_trusted(address: str) -> None:
    assert NETWORKS.has_client_of({"REMOTE_ADDR": address})


@pytest.mark.parametrize(
    "address", ["10.2.0.1", "2001:db8::1", "::ffff:10.2.0.1", "unix:", "", "127.0.0.1, 10.1.0.1"]
)
def test_other_addresses_are_not(address: str) -> None:
    assert not NETWORKS.has_client_of({"REMOTE_ADDR": address})
    assert not NETWORKS.has_client_of({})


@pytest.mark.parametrize(
    "header", ["FORWARDED", "X_FORWARDED_FOR", "X_FORWARDED_PROTO", "X_FORWARDED_HOST", "X_REAL_IP", "VIA"]
)
def test_a_request_that_a_proxy_forwards_is_not_whatever_it_contains(header: str) -> None:
    assert not NETWORKS.has_client_of({"REMOTE_ADDR": "127.0.0.1", f"HTTP_{header}": "127.0.0.1"})


def test_the_peer_must_be_trusted_too_if_proxy_headers_replaced_the_address() -> None:
    seen: list[bool] = []

    def app(environ: WSGIEnvironment, _: StartResponse) -> Iterable[bytes]:
        seen.append(NETWORKS.has_client_of(environ | {"REMOTE_ADDR": "127.0.0.1"}))
        return ()

    for peer in ("10.2.0.1", "10.1.0.1"):
        record_peer_address(app)({"REMOTE_ADDR": peer}, lambda *_: lambda _: None)
    assert seen == [False, True]


def test_no_networks_trust_no_client() -> None:
    assert not TrustedNetworks([]).has_client_of({"REMOTE_ADDR": "127.0.0.1"})


def test_a_text_that_is_no_network_is_an_error() -> None:
    with pytest.raises(ValueError, match="monitoring"):
        TrustedNetworks(["monitoring"])
