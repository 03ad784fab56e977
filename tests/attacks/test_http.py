# SPDX-License-Identifier: Apache-2.0

"""The HTTP conformance table, run against the socket of a real service."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.attacks.http_details import CASES
from tests.attacks.rfc.case import Case, Then
from tests.attacks.sockets import Closed, RawConnection, Response, request
from tests.support.running import Service

SECONDS = 8.0
SETTLE_SECONDS = 8.0
"""How long a connection that has to be closed may stay open: a server lingers for the rest of what is sent."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("http")) as service:
        yield service


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_the_server_responds_as_the_rfc_requires(case: Case, service: Service) -> None:
    with RawConnection(service.port, SECONDS) as connection:
        _send(connection, case)
        responses = _responses(connection, case)
        for response in responses:
            # A 401 of the authentication layer is plain text, as in the reference.
            if (
                response.status >= 400
                and response.status != 401
                and not case.unshaped
                and case.method != "HEAD"
            ):
                assert response.has_error_shape, (response.status, response.body[:300])
        last = responses[-1] if responses else None
        if (last is not None and last.is_closing) or case.then is Then.CLOSED:
            assert connection.has_ended(SETTLE_SECONDS), "the connection stays open"
        elif last is not None and case.then is Then.EITHER and last.status in case.closes_if:
            assert connection.has_ended(SETTLE_SECONDS), f"the connection stays open after {last.status}"
        elif case.then is Then.OPEN:
            connection.send(request("GET", "/"))
            assert connection.response().status == 200, "the next request gets no response"
    if case.leaves is not None:
        name = case.leaves.removeprefix("!")
        assert _exists(service, name) is not case.leaves.startswith("!"), f"provider {name}"


def test_a_client_that_waits_for_100_continue_gets_it_before_it_sends(service: Service) -> None:
    body = b'{"name": "continued"}'
    whole = request("POST", "/resource_providers", body, "Expect: 100-continue")
    with RawConnection(service.port) as connection:
        connection.send(whole[: -len(body)])
        assert connection.interim_status() == 100
        connection.send(body)
        assert connection.response().status == 200


def test_the_table_has_each_name_once() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert names


def test_nothing_in_the_table_makes_the_service_log_an_exception(service: Service) -> None:
    for case in CASES:
        with RawConnection(service.port) as connection:
            _send(connection, case)
            connection.end_sending()
            time.sleep(0.002)
    assert _exists(service, "nothing of this name") is False
    assert "Traceback" not in service.log()


def _send(connection: RawConnection, case: Case) -> None:
    size = case.piece or len(case.sent)
    for begin in range(0, len(case.sent), size):
        if not connection.try_send(case.sent[begin : begin + size]):
            break
        if case.piece and case.piece < 100:
            time.sleep(0.0005)
    if case.ends:
        connection.end_sending()


def _responses(connection: RawConnection, case: Case) -> list[Response]:
    responses: list[Response] = []
    for allowed in case.expected:
        try:
            response = connection.response(case.method)
        except Closed:
            assert case.may_be_silent, f"closed after {[each.status for each in responses]}"
            break
        responses.append(response)
        assert response.status in allowed, (
            f"{response.status} instead of {sorted(allowed)}: {response.body[:300]!r}"
        )
    return responses


def _exists(service: Service, name: str) -> bool:
    with RawConnection(service.port) as connection:
        connection.send(request("GET", f"/resource_providers?name={name.replace(' ', '%20')}"))
        return bool(connection.response().json["resource_providers"])
