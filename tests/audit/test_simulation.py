# SPDX-License-Identifier: Apache-2.0

"""The auditor on histories of which we know whether they are right, some hundred operations each."""

import pytest

from tests.audit.auditor import audit
from tests.audit.simulation import Fault, Simulation

STEPS = 1500


@pytest.mark.parametrize("seed", range(6))
def test_a_right_history_is_believed_however_its_operations_overlap(seed: int) -> None:
    story = Simulation(seed).run(STEPS)
    assert audit(story.operations, story.final) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_right_history_is_believed_even_if_some_requests_were_not_answered(seed: int) -> None:
    story = Simulation(seed, open_share=0.03).run(STEPS)
    assert audit(story.operations, story.final) == []


def test_the_same_seed_and_the_same_answers_lead_to_the_same_requests() -> None:
    assert Simulation(7).run(300).operations == Simulation(7).run(300).operations
    assert Simulation(7).run(300).operations != Simulation(8).run(300).operations


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("seed", range(3))
def test_one_fault_in_a_long_history_is_found(fault: Fault, seed: int) -> None:
    story = Simulation(seed, fault=fault).run(STEPS)
    assert story.went_wrong is not None
    assert audit(story.operations, story.final) != []


def test_the_claim_that_was_refused_with_a_503_and_written_is_named() -> None:
    story = Simulation(1, fault=Fault.WRITTEN_AFTER_ALL).run(STEPS)
    assert story.went_wrong is not None
    lines = [line for finding in audit(story.operations, story.final) for line in finding.lines]
    assert any("written after all" in line and str(story.went_wrong) in line for line in lines)
