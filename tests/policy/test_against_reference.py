# SPDX-License-Identifier: Apache-2.0

"""The same policy files before both services, changed while they run: who gets a 403 and who does not is the same.

Only a file that breaks is a difference: the reference answers 500, once where it is the main file and for ever where
it is one in a directory; ours goes on with the last good rules.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.access.policy import LOOK_AGAIN_AFTER
from plimsoll.access.policy_rules import RULES
from tests.policy.services import THEIRS, Question, Service

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

Answers = dict[tuple[str, str], int]


def every_operation() -> Iterator[Question]:
    for rule in RULES:
        for operation in rule.operations:
            path = operation["path"]
            for name, value in IN_PATHS.items():
                path = path.replace(name, value)
            yield Question(operation["method"], path)


ALL = list(every_operation())
TELLING = [
    *(Question("GET", path) for path in ("/traits", f"/traits/{UUID}", "/resource_providers")),
    *(Question("GET", f"/usages?project_id={project}") for project in ("p", "other")),
    *(Question("POST", path) for path in ("/reshaper", "/allocations")),
]


class Pair:
    """Both services, and the files that they share."""

    def __init__(self, directory: Path) -> None:
        self.file, self.directory = directory / "policy.yaml", directory / "policy.d"
        # The scope is always enforced today; the option is gone, and still in operators' files.
        options = {"policy_file": self.file, "policy_dirs": self.directory, "enforce_scope": "false"}
        self.reference, self.ours = (Service(name, directory, options) for name in ("reference", "plimsoll"))

    def agreed(self, questions: list[Question] = TELLING) -> dict[str, set[str]]:
        """Who gets past the policy with what, after both have said the same."""
        self.wait_for_a_look()
        theirs, ours = answers(self.reference, questions), answers(self.ours, questions)
        assert ours == theirs
        return allowed_by(ours)

    def wait_for_a_look(self) -> None:
        time.sleep(LOOK_AGAIN_AFTER + 0.05)


def answers(service: Service, questions: list[Question]) -> Answers:
    return {
        (caller, str(question)): service.ask(question, headers)
        for caller, headers in CALLERS.items()
        for question in questions
    }


def allowed_by(said: Answers) -> dict[str, set[str]]:
    allowed: dict[str, set[str]] = {caller: set() for caller in CALLERS}
    for (caller, question), status in said.items():
        if status != 403:
            allowed[caller].add(question)
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


def test_one_story_of_policy_files(pair: Pair) -> None:
    """One test, because each state of the files follows from the one before, and both services live through all."""
    allowed = pair.agreed(ALL)
    assert {str(question) for question in ALL} - allowed["service"] == set()
    assert {str(question) for question in ALL} - allowed["admin"] == {"POST /reshaper"}
    assert allowed["nobody"] == allowed["system"] == set()

    pair.file.write_text(
        '"placement:resource_providers:list": "role:operator or rule:admin_api"\n'
        '"placement:traits:list": "@"\n"placement:traits:show": "@"\n"placement:usages": "role:operator"\n'
    )
    pair.directory.mkdir()
    (pair.directory / "10.yaml").write_text('"placement:traits:list": "role:reader"\n"mine": "role:reader"\n')
    (pair.directory / "20.yaml").write_text('"placement:allocations:manage": "rule:mine"\n')
    allowed = pair.agreed()
    assert allowed["nobody"] == {f"GET /traits/{UUID}"}, "the file in the directory goes before the main one"
    assert {"GET /traits", "POST /allocations"} <= allowed["reader"]
    assert "GET /usages?project_id=other" in allowed["operator"]
    assert "GET /resource_providers" not in allowed["service"]

    (pair.directory / "20.yaml").unlink()
    pair.file.write_text('"rule:admin_api": "role:operator"\n')
    allowed = pair.agreed()
    assert allowed["admin"] == allowed["service"] == set()
    assert allowed["reader"] == {"GET /traits"}
    assert allowed["operator"] == {str(question) for question in TELLING} - {"GET /traits"}

    (pair.directory / "10.yaml").unlink()
    pair.file.write_text(
        '{"placement:traits:list": "role:reader and", "placement:traits:show": [["role:operator"], ["role:reader"]],'
        ' "placement:usages": "rule:nowhere", "default": "role:reader"}'
    )
    good = pair.agreed()
    assert good["reader"] == {f"GET /traits/{UUID}", *(str(question) for question in TELLING[3:5])}

    pair.file.write_text("{ broken")
    pair.wait_for_a_look()
    assert allowed_by(answers(pair.ours, TELLING)) == good
    assert pair.reference.ask(TELLING[0], CALLERS["admin"]) == 500
    assert f"{pair.file}:1: while parsing a flow mapping" in pair.ours.log()

    pair.file.unlink()
    assert "POST /reshaper" in pair.agreed()["service"], "the defaults are back"
