# SPDX-License-Identifier: Apache-2.0

"""A Keystone that hangs delays only requests whose tokens are not cached, and these only up to a deadline."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cloud.fake_keystone import LOGIN, VALIDATION, VERSIONS, FakeKeystone, refusing_port
from tests.cloud.services import Plimsoll
from tests.cloud.test_outage import is_a_503
from tests.support.waiting import eventually

PATH = "/resource_providers"
LONG_TIMEOUT = {"http_connect_timeout": 600, "http_request_max_retries": 50}
"""A setting of keystonemiddleware: the deadline of a validation applies anyway."""


@pytest.fixture(scope="module")
def shared_keystone() -> Iterator[FakeKeystone]:
    with FakeKeystone() as running:
        yield running


@pytest.fixture(scope="module")
def patient(shared_keystone: FakeKeystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plimsoll]:
    """Three validations at a time, and a deadline that no test reaches."""
    with service(tmp_path_factory.mktemp("patient"), shared_keystone, timeout=120, max_running=3) as running:
        yield running


@pytest.fixture(scope="module")
def strict(shared_keystone: FakeKeystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plimsoll]:
    """One validation at a time, with a deadline."""
    with service(
        tmp_path_factory.mktemp("strict"), shared_keystone, timeout=2, max_running=1, **LONG_TIMEOUT
    ) as running:
        yield running


@pytest.fixture
def keystone(shared_keystone: FakeKeystone) -> Iterator[FakeKeystone]:
    shared_keystone.reset()
    yield shared_keystone
    shared_keystone.release()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(100) as pool:
        yield pool


def service(
    directory: Path, keystone: FakeKeystone, timeout: float, max_running: int, **authtoken: object
) -> Plimsoll:
    limits = f"[plimsoll]\ntoken_validation_timeout = {timeout}\nmax_token_validations = {max_running}\n"
    return Plimsoll(directory, keystone.authtoken(**authtoken) + limits)


def all_have_arrived(running: Plimsoll) -> None:
    """Return when all earlier requests have arrived: the worker reads requests in the order in which they are sent."""
    for _ in range(5):
        assert running.send("GET", "/").status == 200


def test_cached_tokens_and_probes_are_served_while_keystone_hangs(
    patient: Plimsoll, keystone: FakeKeystone, pool: ThreadPoolExecutor
) -> None:
    assert patient.send("GET", PATH, "good known").status == 200
    keystone.hang()
    waiting = [pool.submit(patient.send, "GET", PATH, f"good {number}") for number in range(30)]
    keystone.wait_for_validations(1 + 3)
    for _ in range(3):
        assert patient.send("GET", PATH, "good known").status == 200
        assert patient.send("GET", "/").status == 200
        assert patient.send("GET", "/healthz?ready").status == 200
        assert patient.send("GET", PATH).status == 401
    assert not any(each.done() for each in waiting)
    keystone.release()
    assert [each.result().status for each in waiting] == [200] * 30


@pytest.mark.parametrize(("token", "status"), [("good one", 200), ("bad one", 401)])
def test_equal_tokens_share_one_validation_whatever_its_outcome(
    patient: Plimsoll, keystone: FakeKeystone, pool: ThreadPoolExecutor, token: str, status: int
) -> None:
    keystone.hang()
    waiting = [pool.submit(patient.send, "GET", PATH, token) for _ in range(12)]
    keystone.wait_for_validations(1)
    all_have_arrived(patient)
    keystone.release()
    assert [each.result().status for each in waiting] == [status] * 12
    assert keystone.validated == [token]


def test_a_refusal_is_not_cached(patient: Plimsoll, keystone: FakeKeystone) -> None:
    assert [patient.send("GET", PATH, "bad and repeated").status for _ in range(2)] == [401, 401]
    assert keystone.validated == ["bad and repeated"] * 2
    assert [patient.send("GET", PATH, "good and repeated").status for _ in range(2)] == [200, 200]
    assert keystone.validated[2:] == ["good and repeated"]


def test_concurrent_validations_are_limited(
    patient: Plimsoll, keystone: FakeKeystone, pool: ThreadPoolExecutor
) -> None:
    keystone.hang()
    waiting = [pool.submit(patient.send, "GET", PATH, f"good number {number}") for number in range(10)]
    keystone.wait_for_validations(3)
    all_have_arrived(patient)
    keystone.release()
    assert [each.result().status for each in waiting] == [200] * 10
    assert keystone.most_at_a_time == 3
    assert len(keystone.validated) == 10


def test_a_failure_is_shared_too(strict: Plimsoll, keystone: FakeKeystone, pool: ThreadPoolExecutor) -> None:
    keystone.hang()
    waiting = [pool.submit(strict.send, "GET", PATH, "good, later") for _ in range(12)]
    assert all(is_a_503(each.result()) for each in waiting)
    assert keystone.validated == ["good, later"]


def test_a_request_beyond_the_limit_waits_no_longer_than_the_deadline(
    strict: Plimsoll, keystone: FakeKeystone, pool: ThreadPoolExecutor
) -> None:
    keystone.hang()
    waiting = [pool.submit(strict.send, "GET", PATH, f"good {number}") for number in range(10)]
    assert all(is_a_503(each.result()) for each in waiting)
    keystone.release()
    assert strict.send("GET", PATH, "good 0").status == 200


@pytest.mark.parametrize("how", ["hang", "drip", "half"])
def test_a_validation_ends_at_its_deadline_however_keystone_hangs(
    strict: Plimsoll, keystone: FakeKeystone, how: str
) -> None:
    keystone.failing[VALIDATION] = how
    assert is_a_503(strict.send("GET", PATH, f"good in spite of {how}"))
    assert keystone.validated
    assert "[plimsoll]token_validation_timeout" in strict.log()
    keystone.release()
    assert strict.send("GET", PATH, f"good in spite of {how}").status == 200


@pytest.mark.parametrize("step", [VERSIONS, LOGIN])
def test_requests_before_a_validation_count_towards_its_deadline(
    tmp_path: Path, keystone: FakeKeystone, pool: ThreadPoolExecutor, step: str
) -> None:
    # Without the setting www_authenticate_uri, a 401 needs the versions of Keystone too.
    options = LONG_TIMEOUT | {"www_authenticate_uri": ""}
    with service(tmp_path, keystone, timeout=2, max_running=16, **options) as running:
        keystone.hang(step)
        unknown = [pool.submit(running.send, "GET", PATH, f"good {number}") for number in range(4)]
        without = [pool.submit(running.send, "GET", PATH) for _ in range(4)]
        assert all(is_a_503(each.result()) for each in unknown)
        assert {each.result().status for each in without} <= {401, 503}
        assert step in keystone.requests
        keystone.release()
        assert running.send("GET", PATH, "good 0").status == 200


def test_retries_end_at_the_deadline_too(tmp_path: Path, keystone: FakeKeystone) -> None:
    with refusing_port() as held:
        nowhere = f"http://127.0.0.1:{held.getsockname()[1]}/v3"
        with service(
            tmp_path, keystone, timeout=2, max_running=1, **LONG_TIMEOUT, auth_url=nowhere
        ) as running:
            assert is_a_503(running.send("GET", PATH, "good"))


def test_a_token_of_the_service_that_expired_is_renewed_within_the_deadline(
    strict: Plimsoll, keystone: FakeKeystone
) -> None:
    assert strict.send("GET", PATH, "good first").status == 200
    keystone.unauthorized = True
    keystone.hang(LOGIN)
    assert is_a_503(strict.send("GET", PATH, "good second"))
    assert LOGIN in keystone.requests
    keystone.release()
    assert strict.send("GET", PATH, "good second").status == 200


CLAIMS = {
    "x-user-id": "claimed-user",
    "x-project-id": "claimed-project",
    "x-tenant": "claimed-tenant",
    "x-roles": "claimed-role",
    "x-domain-id": "claimed-domain",
    "openstack-system-scope": "claimed-scope",
}


@pytest.mark.parametrize(
    ("method", "path", "token"),
    [
        ("GET", "/", None),
        ("GET", "/healthz", None),
        ("GET", "/healthz?ready", None),
        ("GET", PATH, None),
        ("GET", PATH, "bad"),
        ("GET", PATH, "good"),
        ("OPTIONS", PATH, None),
        ("GET", "//", None),
    ],
)
def test_an_identity_that_a_client_claims_is_never_logged(
    patient: Plimsoll, keystone: FakeKeystone, method: str, path: str, token: str | None
) -> None:
    response = patient.send(
        method, path, token, **{name.replace("-", "_"): text for name, text in CLAIMS.items()}
    )
    if "x-openstack-request-id" in response.headers:
        assert eventually(lambda: response.headers["x-openstack-request-id"] in patient.log())
    assert "claimed" not in patient.log()
    assert (response.status == 200) == (token == "good" or path in ("/", "/healthz", "/healthz?ready"))


def test_a_service_token_and_the_token_of_a_user_are_two_validations(
    patient: Plimsoll, keystone: FakeKeystone
) -> None:
    for _ in range(2):
        response = patient.send("GET", PATH, "good user", x_service_token="good nova")
        assert response.status == 200
    assert keystone.validated == ["good nova", "good user"]
