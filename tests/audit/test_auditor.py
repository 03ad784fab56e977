# SPDX-License-Identifier: Apache-2.0

"""The auditor on short histories that we made up: what it believes, and what it does not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.audit import rows
from tests.audit.auditor import audit
from tests.audit.findings import Finding
from tests.audit.model import EMPTY, World, respond
from tests.audit.operations import NOTHING_CHANGED, Operation, Request, closed_by

ANN, BEN = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"
HOST, OTHER = "bbbbbbbb-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"


class History:
    """Operations one after the other, unless their times are given. The hosts have 10 VCPU each."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.world = EMPTY
        for uuid in (HOST, OTHER):
            self.did(create(uuid))
            self.did(set_total(uuid, 0, 10))

    def did(self, request: Request) -> None:
        """As it should be: the model itself answers."""
        said, self.world = respond(self.world, request)
        self.was_told(request, said.status, said.answer)

    def was_told(
        self, request: Request, status: int | None, answer: Any = None, at: tuple[int, int] | None = None
    ) -> None:
        began, ended = at or (self.now + 1, self.now + 2)
        wait = "2" if status == 503 else None
        operation = Operation(request, "somebody", 0, began, ended, status, answer, retry_after=wait)
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


# What is believed


def test_what_the_rules_say_is_believed() -> None:
    history = History()
    history.did(claim(ANN, {HOST: 4}))
    history.did(claim(BEN, {HOST: 6}))
    history.did(claim(ANN, {HOST: 5}, generation=1))
    history.did(usages(HOST))
    assert history.findings(rows.expected(history.world)) == []


@pytest.mark.parametrize(("seen", "generation"), [(0, 1), (4, 2)])
def test_a_read_beside_a_claim_may_show_it_or_not(seen: int, generation: int) -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), 204, at=(100, 200))
    history.was_told(usages(HOST), 200, used(seen, generation), at=(150, 160))
    assert history.findings() == []


def test_of_two_claims_at_once_for_the_last_units_either_may_be_refused() -> None:
    for first, second in ((204, 409), (409, 204)):
        history = History()
        for consumer, status in ((ANN, first), (BEN, second)):
            history.was_told(
                claim(consumer, {HOST: 6}), status, refused() if status == 409 else None, at=(100, 200)
            )
        history.was_told(usages(HOST), 200, used(6, 2))
        assert history.findings() == []


def test_an_order_that_nothing_told_at_first_is_decided_by_a_later_read() -> None:
    for last in (3, 5):
        history = History()
        history.was_told(old_claim(ANN, {HOST: 3}), 204, at=(100, 200))
        history.was_told(old_claim(ANN, {HOST: 5}), 204, at=(100, 200))
        history.was_told(usages(HOST), 200, used(last, 3))
        assert history.findings() == []
        history.was_told(usages(HOST), 200, used(8 - last, 3))
        assert history.findings() != []


# What is found


def test_a_lost_claim_is_found() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), 204)
    history.was_told(usages(HOST), 200, used(0, 1))
    assert history.findings() != []


def test_a_doubled_claim_is_found_and_named() -> None:
    history = History()
    history.did(old_claim(ANN, {HOST: 4}))
    history.was_told(usages(HOST), 200, used(4, 3))
    (finding,) = history.findings()
    assert any("written twice" in line for line in finding.lines)


def test_a_read_that_began_after_the_answer_and_does_not_show_it_is_found() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), 204, at=(100, 200))
    history.was_told(usages(HOST), 200, used(0, 1), at=(201, 210))
    assert history.findings() != []


def test_a_line_overstepped_is_found() -> None:
    history = History()
    for consumer in (ANN, BEN):
        history.was_told(claim(consumer, {HOST: 6}), 204, at=(100, 200))
    assert history.findings() != []


def test_a_claim_that_is_refused_although_there_is_room_is_found() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 6}), 409, refused())
    assert history.findings() != []


def test_two_writes_on_the_same_generation_are_found() -> None:
    history = History()
    for total in (20, 30):
        answer = respond(history.world, set_total(HOST, 1, total))[0].body
        history.was_told(set_total(HOST, 1, total), 200, answer, at=(100, 200))
    assert history.findings() != []


def test_a_generation_that_steps_by_two_is_found() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), 204)
    history.was_told(usages(HOST), 200, used(4, 3))
    assert history.findings() != []


def test_a_read_that_mixes_two_moments_is_found() -> None:
    """Both hosts were claimed at once: nobody can see the claim on one of them only."""
    history = History()
    before = respond(history.world, providers := Request("list", "GET", "/resource_providers"))[0].body
    history.did(claim(ANN, {HOST: 1, OTHER: 1}))
    after = respond(history.world, providers)[0].body
    torn = {"resource_providers": [before["resource_providers"][0], after["resource_providers"][1]]}
    history.was_told(providers, 200, torn, at=(1, 1000))
    assert history.findings() != []


def test_an_error_500_is_found() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), 500, refused())
    assert history.findings() != []


def test_a_503_that_does_not_say_when_to_come_back_is_found() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), 503, refused(detail=NOTHING_CHANGED))
    history.operations[-1] = replace(history.operations[-1], retry_after=None)
    assert history.findings() != []


# What is not answered


@pytest.mark.parametrize(("seen", "generation"), [(0, 1), (4, 2)])
def test_a_claim_without_an_answer_may_have_happened_or_not(seen: int, generation: int) -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), None)
    history.was_told(usages(HOST), 200, used(seen, generation))
    assert history.findings() == []


def test_a_claim_without_an_answer_cannot_unhappen() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), None)
    history.was_told(usages(HOST), 200, used(4, 2))
    history.was_told(usages(HOST), 200, used(0, 1))
    assert history.findings() != []


def test_a_claim_without_an_answer_happens_as_a_whole_or_not_at_all() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4, OTHER: 4}), None)
    history.was_told(usages(HOST), 200, used(4, 2))
    history.was_told(usages(OTHER), 200, used(0, 1))
    assert history.findings() != []


def test_a_claim_without_an_answer_does_not_happen_long_after_its_service_died() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), None, at=(100, 101))
    history.was_told(usages(HOST), 200, used(0, 1), at=(200, 201))
    history.was_told(usages(HOST), 200, used(4, 2), at=(300, 301))
    assert history.findings() == []
    assert audit(closed_by(history.operations, [(0, 150)], patience=60), None) != []


def test_what_was_sent_to_the_dead_did_not_happen() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), None, at=(100, 101))
    history.was_told(usages(HOST), 200, used(4, 2), at=(200, 201))
    assert audit(closed_by(history.operations, [(0, 90)], patience=60), None) != []


def test_a_503_that_says_that_nothing_was_changed_has_to_mean_it() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), 503, refused(detail=f"Too busy. {NOTHING_CHANGED} Try again."))
    history.was_told(usages(HOST), 200, used(0, 1))
    assert history.findings() == []
    history.was_told(usages(HOST), 200, used(4, 2))
    (finding,) = history.findings()
    assert any("written after all" in line for line in finding.lines)


def test_a_503_that_says_that_nobody_knows_may_have_happened() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), 503, refused(detail="Whether it was carried out is not known."))
    history.was_told(usages(HOST), 200, used(4, 2))
    assert history.findings() == []


# What SQL says at the end


def tampered(
    world: World, table: str, out: tuple[Any, ...] | None, into: tuple[Any, ...] | None
) -> rows.Rows:
    found = {name: Counter(each) for name, each in rows.expected(world).items()}
    if out is not None:
        assert found[table][out] == 1
        del found[table][out]
    if into is not None:
        found[table][into] += 1
    return found


@pytest.mark.parametrize(
    ("table", "out", "into"),
    [
        ("allocations", (ANN, HOST, "VCPU", 4), None),
        ("allocations", None, (ANN, HOST, "VCPU", 4)),
        ("allocations", (ANN, HOST, "VCPU", 4), (ANN, HOST, "VCPU", 5)),
        ("consumers", (ANN, 1, "p", "u", "INSTANCE"), (ANN, 2, "p", "u", "INSTANCE")),
        ("consumers", None, (BEN, 0, "p", "u", "INSTANCE")),
        ("providers", (HOST, HOST, 2, None, HOST), (HOST, HOST, 3, None, HOST)),
        ("providers", (OTHER, OTHER, 1, None, OTHER), None),
        ("custom traits", None, ("CUSTOM_RAIN",)),
    ],
)
def test_a_row_that_is_not_what_the_answers_say_is_found(
    table: str, out: tuple[Any, ...] | None, into: tuple[Any, ...] | None
) -> None:
    history = History()
    history.did(claim(ANN, {HOST: 4}))
    assert history.findings(rows.expected(history.world)) == []
    assert history.findings(tampered(history.world, table, out, into)) != []


def test_sql_may_hold_what_was_not_answered_or_not() -> None:
    history = History()
    history.was_told(claim(ANN, {HOST: 4}), None)
    assert history.findings(rows.expected(history.world)) == []
    _, after = respond(history.world, claim(ANN, {HOST: 4}))
    assert history.findings(rows.expected(after)) == []
