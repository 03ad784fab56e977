# SPDX-License-Identifier: Apache-2.0

"""The auditor on short handwritten histories: correct ones are accepted, faults are found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.audit import rows
from tests.audit.auditor import audit
from tests.audit.findings import Finding
from tests.audit.model import EMPTY, State, respond
from tests.audit.operations import NOTHING_CHANGED, Operation, Request, with_deadlines

CONSUMER, OTHER_CONSUMER = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"
HOST, OTHER_HOST = "bbbbbbbb-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"


class History:
    """Operations in sequence, unless times are given. Each host has 10 VCPU."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.state = EMPTY
        for uuid in (HOST, OTHER_HOST):
            self.add_correct(create(uuid))
            self.add_correct(set_total(uuid, 0, 10))

    def add_correct(self, request: Request) -> None:
        """Add a request with the model's own response."""
        response, self.state = respond(self.state, request)
        self.add(request, response.status, response.sent_body)

    def add(
        self, request: Request, status: int | None, answer: Any = None, at: tuple[int, int] | None = None
    ) -> None:
        began, ended = at or (self.now + 1, self.now + 2)
        wait = "2" if status == 503 else None
        operation = Operation(request, "client", 0, began, ended, status, answer, retry_after=wait)
        self.operations.append(operation)

    @property
    def now(self) -> int:
        return max((each.ended for each in self.operations), default=0)

    def findings(self, final: rows.Rows | None = None) -> list[Finding]:
        return audit(sorted(self.operations, key=lambda each: each.began), final)


def create(uuid: str) -> Request:
    return Request("create", "POST", "/resource_providers", {"uuid": uuid, "name": uuid})


def set_total(uuid: str, generation: int, total: int) -> Request:
    body = {"resource_provider_generation": generation, "inventories": {"VCPU": {"total": total}}}
    return Request("inventories", "PUT", f"/resource_providers/{uuid}/inventories", body)


def claim(consumer: str, amounts: dict[str, int], generation: int | None = None) -> Request:
    body = {
        "allocations": {uuid: {"resources": {"VCPU": amount}} for uuid, amount in amounts.items()},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": generation,
        "consumer_type": "INSTANCE",
    }
    return Request("claim", "PUT", f"/allocations/{consumer}", body)


def old_claim(consumer: str, amounts: dict[str, int]) -> Request:
    return replace(claim(consumer, amounts), minor=27)


def usages(uuid: str) -> Request:
    return Request("usages", "GET", f"/resource_providers/{uuid}/usages")


def used(amount: int, generation: int) -> dict[str, Any]:
    return {"usages": {"VCPU": amount}, "resource_provider_generation": generation}


def refused(code: str = "placement.undefined_code", detail: str = "") -> dict[str, Any]:
    return {"errors": [{"code": code, "detail": detail}]}


# Correct histories


def test_a_history_that_follows_the_rules_is_accepted() -> None:
    history = History()
    history.add_correct(claim(CONSUMER, {HOST: 4}))
    history.add_correct(claim(OTHER_CONSUMER, {HOST: 6}))
    history.add_correct(claim(CONSUMER, {HOST: 5}, generation=1))
    history.add_correct(usages(HOST))
    assert history.findings(rows.expected(history.state)) == []


@pytest.mark.parametrize(("amount", "generation"), [(0, 1), (4, 2)])
def test_a_read_concurrent_with_a_claim_may_show_it_or_not(amount: int, generation: int) -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), 204, at=(100, 200))
    history.add(usages(HOST), 200, used(amount, generation), at=(150, 160))
    assert history.findings() == []


def test_either_of_two_concurrent_claims_for_the_last_units_may_be_refused() -> None:
    for first, second in ((204, 409), (409, 204)):
        history = History()
        for consumer, status in ((CONSUMER, first), (OTHER_CONSUMER, second)):
            history.add(
                claim(consumer, {HOST: 6}), status, refused() if status == 409 else None, at=(100, 200)
            )
        history.add(usages(HOST), 200, used(6, 2))
        assert history.findings() == []


def test_an_undecided_order_is_decided_by_a_later_read() -> None:
    for last in (3, 5):
        history = History()
        history.add(old_claim(CONSUMER, {HOST: 3}), 204, at=(100, 200))
        history.add(old_claim(CONSUMER, {HOST: 5}), 204, at=(100, 200))
        history.add(usages(HOST), 200, used(last, 3))
        assert history.findings() == []
        history.add(usages(HOST), 200, used(8 - last, 3))
        assert history.findings() != []


# Faults


def test_a_lost_claim_is_found() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), 204)
    history.add(usages(HOST), 200, used(0, 1))
    assert history.findings() != []


def test_a_doubled_claim_is_found_and_named() -> None:
    history = History()
    history.add_correct(old_claim(CONSUMER, {HOST: 4}))
    history.add(usages(HOST), 200, used(4, 3))
    (finding,) = history.findings()
    assert any("written twice" in line for line in finding.lines)


def test_a_read_that_began_after_the_response_to_a_write_and_does_not_show_it_is_found() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), 204, at=(100, 200))
    history.add(usages(HOST), 200, used(0, 1), at=(201, 210))
    assert history.findings() != []


def test_an_exceeded_capacity_is_found() -> None:
    history = History()
    for consumer in (CONSUMER, OTHER_CONSUMER):
        history.add(claim(consumer, {HOST: 6}), 204, at=(100, 200))
    assert history.findings() != []


def test_a_claim_that_is_refused_although_there_is_room_is_found() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 6}), 409, refused())
    assert history.findings() != []


def test_two_writes_on_the_same_generation_are_found() -> None:
    history = History()
    for total in (20, 30):
        answer = respond(history.state, set_total(HOST, 1, total))[0].body
        history.add(set_total(HOST, 1, total), 200, answer, at=(100, 200))
    assert history.findings() != []


def test_a_generation_that_steps_by_two_is_found() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), 204)
    history.add(usages(HOST), 200, used(4, 3))
    assert history.findings() != []


def test_a_read_that_mixes_two_moments_is_found() -> None:
    """Both hosts were claimed in one request: no read can show the claim on one of them only."""
    history = History()
    before = respond(history.state, providers := Request("list", "GET", "/resource_providers"))[0].body
    history.add_correct(claim(CONSUMER, {HOST: 1, OTHER_HOST: 1}))
    after = respond(history.state, providers)[0].body
    torn = {"resource_providers": [before["resource_providers"][0], after["resource_providers"][1]]}
    history.add(providers, 200, torn, at=(1, 1000))
    assert history.findings() != []


def test_an_error_500_is_found() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), 500, refused())
    assert history.findings() != []


def test_a_503_without_retry_after_is_found() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), 503, refused(detail=NOTHING_CHANGED))
    history.operations[-1] = replace(history.operations[-1], retry_after=None)
    assert history.findings() != []


# Requests without a response


@pytest.mark.parametrize(("amount", "generation"), [(0, 1), (4, 2)])
def test_a_claim_without_a_response_may_have_happened_or_not(amount: int, generation: int) -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), None)
    history.add(usages(HOST), 200, used(amount, generation))
    assert history.findings() == []


def test_a_claim_without_a_response_cannot_be_undone() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), None)
    history.add(usages(HOST), 200, used(4, 2))
    history.add(usages(HOST), 200, used(0, 1))
    assert history.findings() != []


def test_a_claim_without_a_response_is_atomic() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4, OTHER_HOST: 4}), None)
    history.add(usages(HOST), 200, used(4, 2))
    history.add(usages(OTHER_HOST), 200, used(0, 1))
    assert history.findings() != []


def test_a_claim_without_a_response_does_not_happen_long_after_its_service_died() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), None, at=(100, 101))
    history.add(usages(HOST), 200, used(0, 1), at=(200, 201))
    history.add(usages(HOST), 200, used(4, 2), at=(300, 301))
    assert history.findings() == []
    assert audit(with_deadlines(history.operations, [(0, 150)], patience=60), None) != []


def test_a_request_to_a_dead_service_did_not_happen() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), None, at=(100, 101))
    history.add(usages(HOST), 200, used(4, 2), at=(200, 201))
    assert audit(with_deadlines(history.operations, [(0, 90)], patience=60), None) != []


def test_a_503_that_states_that_nothing_was_changed_must_be_true() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), 503, refused(detail=f"Too busy. {NOTHING_CHANGED} Try again."))
    history.add(usages(HOST), 200, used(0, 1))
    assert history.findings() == []
    history.add(usages(HOST), 200, used(4, 2))
    (finding,) = history.findings()
    assert any("written after all" in line for line in finding.lines)


def test_a_503_with_an_unknown_outcome_may_have_happened() -> None:
    history = History()
    history.add(
        claim(CONSUMER, {HOST: 4}), 503, refused(detail="Whether it was carried removed is not known.")
    )
    history.add(usages(HOST), 200, used(4, 2))
    assert history.findings() == []


# Final rows in SQL


def tampered(
    state: State, table: str, removed: tuple[Any, ...] | None, added: tuple[Any, ...] | None
) -> rows.Rows:
    found = {name: Counter(each) for name, each in rows.expected(state).items()}
    if removed is not None:
        assert found[table][removed] == 1
        del found[table][removed]
    if added is not None:
        found[table][added] += 1
    return found


@pytest.mark.parametrize(
    ("table", "removed", "added"),
    [
        ("allocations", (CONSUMER, HOST, "VCPU", 4), None),
        ("allocations", None, (CONSUMER, HOST, "VCPU", 4)),
        ("allocations", (CONSUMER, HOST, "VCPU", 4), (CONSUMER, HOST, "VCPU", 5)),
        ("consumers", (CONSUMER, 1, "p", "u", "INSTANCE"), (CONSUMER, 2, "p", "u", "INSTANCE")),
        ("consumers", None, (OTHER_CONSUMER, 0, "p", "u", "INSTANCE")),
        ("providers", (HOST, HOST, 2, None, HOST), (HOST, HOST, 3, None, HOST)),
        ("providers", (OTHER_HOST, OTHER_HOST, 1, None, OTHER_HOST), None),
        ("custom traits", None, ("CUSTOM_RAIN",)),
    ],
)
def test_a_row_that_differs_from_the_responses_is_found(
    table: str, removed: tuple[Any, ...] | None, added: tuple[Any, ...] | None
) -> None:
    history = History()
    history.add_correct(claim(CONSUMER, {HOST: 4}))
    assert history.findings(rows.expected(history.state)) == []
    assert history.findings(tampered(history.state, table, removed, added)) != []


def test_sql_may_contain_a_claim_without_a_response_or_not() -> None:
    history = History()
    history.add(claim(CONSUMER, {HOST: 4}), None)
    assert history.findings(rows.expected(history.state)) == []
    _, after = respond(history.state, claim(CONSUMER, {HOST: 4}))
    assert history.findings(rows.expected(after)) == []
