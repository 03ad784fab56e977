# SPDX-License-Identifier: Apache-2.0

"""The simulator: seeds hold, a seed is repeated exactly, and planted mistakes are found and shrunk."""

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.simulation.mutations import MUTATIONS, Mutation
from tests.simulation.shrink import shrink
from tests.simulation.simulation import Simulator

BLOCKS, BLOCK_SEEDS, BLOCK_SECONDS = 4, 500, 8.0
"""Seeds of one test, and the processor time after which it stops."""
QUICK = [each for each in MUTATIONS if not each.is_rare]


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as made:
        yield made


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_rules_hold_for_every_seed(simulator: Simulator, block: int) -> None:
    deadline = time.process_time() + BLOCK_SECONDS
    counts: Counter[str] = Counter()
    for seed in range(block * BLOCK_SEEDS, (block + 1) * BLOCK_SEEDS):
        outcome = simulator.run(seed)
        assert outcome.violation is None, (
            f"run `python -m tests.simulation --first {seed} --seeds 1`: {outcome.violation}"
        )
        counts += outcome.counts
        if time.process_time() > deadline:
            break
    for kind in ("batches of several commands", "changes followed", "full loads", "waits for the head"):
        assert counts[kind], counts


@pytest.mark.parametrize("seed", (3, 11, 28))
def test_a_seed_is_repeated_exactly(simulator: Simulator, seed: int) -> None:
    first = simulator.run(seed, traced=True)
    assert simulator.run(seed, traced=True).trace == first.trace
    assert simulator.run(seed, first.plan, first.taken, traced=True).trace == first.trace
    assert len(first.trace) > 20


@pytest.mark.parametrize("mutation", QUICK, ids=lambda mutation: mutation.name)
def test_a_planted_mistake_is_found(simulator: Simulator, mutation: Mutation) -> None:
    with mutation.planted():
        assert any(simulator.run(seed).violation is not None for seed in range(400))
    assert simulator.run(0).violation is None


def test_ten_mistakes_are_planted() -> None:
    assert len(QUICK) >= 10


def test_a_run_that_violates_a_rule_is_shrunk_to_one_that_does_too(simulator: Simulator) -> None:
    mutation = next(each for each in MUTATIONS if "generation of a provider" in each.name)
    with mutation.planted():
        failed = next(outcome for outcome in map(simulator.run, range(100)) if outcome.violation is not None)
        smaller = shrink(simulator, failed, seconds=2.0)
        assert smaller.violation is not None
        assert "VIOLATION" in smaller.trace[-1]
        steps = [sum(len(client.steps) for client in each.plan.clients) for each in (failed, smaller)]
        assert steps[1] < steps[0]
        assert len(smaller.taken) < len(failed.taken)
