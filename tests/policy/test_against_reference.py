# SPDX-License-Identifier: Apache-2.0

"""Policy files that change while both services run: the same requests get a 403.

The only difference is a broken file: the reference responds with 500, once if it is the main file and always if it is in
a policy directory; Plimsoll continues with the last valid rules.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.access.policy import RELOAD_INTERVAL
from plimsoll.access.policy_rules import RULES
from tests.policy.services import THEIRS, Request, Service

pytestmark = pytest.mark.skipif(
    not (THEIRS / "gunicorn").exists(), reason="needs the reference: make test installs it"
)

UUID = "11111111-1111-1111-1111-111111111111"
IN_PATHS = {"{uuid}": UUID, "{consumer_uuid}": UUID, "{name}": "CUSTOM_X", "{resource_class}": "VCPU"}

CALLERS = {
    "admin": {"x-auth-token": "admin:p"},
    "service": {"x-auth-token": "u:p", "x-roles": "service"},
    "reader": {"x-auth-token": "u:p", "x-roles": "reader"},
    "operator": {"x-auth-token": "u:p", "x-roles": "operator"},
    "nobody": {"x-auth-token": "u:p"},
    "system": {"x-auth-token": "admin:p", "openstack-system-scope": "all"},
}

Statuses = dict[tuple[str, str], int]


def every_operation() -> Iterator[Request]:
    for rule in RULES:
        for operation in rule.operations:
            path = operation["path"]
            for name, value in IN_PATHS.items():
                path = path.replace(name, value)
            yield Request(operation["method"], path)


EXTENSION = Request("GET", "/allocations")
"""An operation that the reference does not have: without project_id it is a 405 for all callers."""
ALL = [request for request in every_operation() if request != EXTENSION]
SELECTED = [
    *(Request("GET", path) for path in ("/traits", f"/traits/{UUID}", "/resource_providers")),
    *(Request("GET", f"/usages?project_id={project}") for project in ("p", "other")),
    *(Request("POST", path) for path in ("/reshaper", "/allocations")),
]


class Pair:
    """Both services, and their common policy files."""

    def __init__(self, directory: Path) -> None:
        self.file, self.directory = directory / "policy.yaml", directory / "policy.d"
        # The scope is always enforced today; this option was removed, but operators' files still have it.
        options = {"policy_file": self.file, "policy_dirs": self.directory, "enforce_scope": "false"}
        self.reference, self.ours = (Service(name, directory, options) for name in ("reference", "plimsoll"))

    def agreed(self, requests: list[Request] = SELECTED) -> dict[str, set[str]]:
        """Return the permitted requests of each caller, after checking that both services agree."""
        self.wait_for_reload()
        theirs, ours = statuses(self.reference, requests), statuses(self.ours, requests)
        assert ours == theirs
        return allowed_by(ours)

    def wait_for_reload(self) -> None:
        time.sleep(RELOAD_INTERVAL + 0.05)


def statuses(service: Service, requests: list[Request]) -> Statuses:
    return {
        (caller, str(request)): service.send(request, headers)
        for caller, headers in CALLERS.items()
        for request in requests
    }


def allowed_by(statuses: Statuses) -> dict[str, set[str]]:
    allowed: dict[str, set[str]] = {caller: set() for caller in CALLERS}
    for (caller, request), status in statuses.items():
        if status != 403:
            allowed[caller].add(request)
    return allowed


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path)
    with contextlib.ExitStack() as stack:
        for service in (made.reference, made.ours):
            stack.callback(service.stop)
            service.launch()
        for service in (made.reference, made.ours):
            service.connect()
        yield made


def test_a_sequence_of_policy_files_has_the_same_effect(pair: Pair) -> None:
    """One test, because each state of the files follows from the one before, while both services run."""
    allowed = pair.agreed(ALL)
    assert {str(request) for request in ALL} - allowed["service"] == set()
    assert {str(request) for request in ALL} - allowed["admin"] == {"POST /reshaper"}
    assert allowed["nobody"] == allowed["system"] == set()

    pair.file.write_text(
        '"placement:resource_providers:list": "role:operator or rule:admin_api"\n'
        '"placement:traits:list": "@"\n"placement:traits:show": "@"\n"placement:usages": "role:operator"\n'
    )
    pair.directory.mkdir()
    (pair.directory / "10.yaml").write_text('"placement:traits:list": "role:reader"\n"mine": "role:reader"\n')
    (pair.directory / "20.yaml").write_text('"placement:allocations:manage": "rule:mine"\n')
    allowed = pair.agreed()
    assert allowed["nobody"] == {f"GET /traits/{UUID}"}, "the file in the directory overrides the main one"
    assert {"GET /traits", "POST /allocations"} <= allowed["reader"]
    assert "GET /usages?project_id=other" in allowed["operator"]
    assert "GET /resource_providers" not in allowed["service"]

    (pair.directory / "20.yaml").unlink()
    pair.file.write_text('"rule:admin_api": "role:operator"\n')
    allowed = pair.agreed()
    assert allowed["admin"] == allowed["service"] == set()
    assert allowed["reader"] == {"GET /traits"}
    assert allowed["operator"] == {str(request) for request in SELECTED} - {"GET /traits"}

    (pair.directory / "10.yaml").unlink()
    pair.file.write_text(
        '{"placement:traits:list": "role:reader and", "placement:traits:show": [["role:operator"], ["role:reader"]],'
        ' "placement:usages": "rule:nowhere", "default": "role:reader"}'
    )
    good = pair.agreed()
    assert good["reader"] == {f"GET /traits/{UUID}", *(str(request) for request in SELECTED[3:5])}

    pair.file.write_text("{ broken")
    pair.wait_for_reload()
    assert allowed_by(statuses(pair.ours, SELECTED)) == good
    assert pair.reference.send(SELECTED[0], CALLERS["admin"]) == 500
    assert f"{pair.file}:1: while parsing a flow mapping" in pair.ours.log()

    pair.file.unlink()
    assert "POST /reshaper" in pair.agreed()["service"], "the defaults are back"
