# SPDX-License-Identifier: Apache-2.0

"""The auditor on simulated histories that are known to be correct or faulty, some hundred operations each."""

import pytest

from tests.audit.auditor import audit
from tests.audit.simulation import Fault, Simulation

STEPS = 1500


@pytest.mark.parametrize("seed", range(6))
def test_a_correct_history_is_accepted_however_its_operations_overlap(seed: int) -> None:
    simulated = Simulation(seed).run(STEPS)
    assert audit(simulated.operations, simulated.final) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_correct_history_is_accepted_if_some_requests_got_no_response(seed: int) -> None:
    simulated = Simulation(seed, unknown_share=0.03).run(STEPS)
    assert audit(simulated.operations, simulated.final) == []


def test_the_same_seed_and_the_same_responses_lead_to_the_same_requests() -> None:
    assert Simulation(7).run(300).operations == Simulation(7).run(300).operations
    assert Simulation(7).run(300).operations != Simulation(8).run(300).operations


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("seed", range(3))
def test_one_fault_in_a_long_history_is_found(fault: Fault, seed: int) -> None:
    simulated = Simulation(seed, fault=fault).run(STEPS)
    assert simulated.faulty_claim is not None
    assert audit(simulated.operations, simulated.final) != []


def test_the_claim_that_was_refused_with_a_503_and_written_is_named() -> None:
    simulated = Simulation(1, fault=Fault.WRITTEN_AFTER_ALL).run(STEPS)
    assert simulated.faulty_claim is not None
    lines = [line for finding in audit(simulated.operations, simulated.final) for line in finding.lines]
    assert any("written after all" in line and str(simulated.faulty_claim) in line for line in lines)
