# SPDX-License-Identifier: Apache-2.0

"""The properties of an explanation, checked on one random case: verdict, funnel, counts, examples, `never`."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from random import Random

from plimsoll.domain.provider import Provider
from plimsoll.search.budget import Budget
from plimsoll.search.explain.evaluate import evaluate, sole_obstacles
from plimsoll.search.explain.explain import explain
from plimsoll.search.explain.explanation import Explanation, InventoryFacts, Verdict
from plimsoll.search.explain.hosts import Hosts
from plimsoll.search.find import find_candidates, trace_plan
from plimsoll.search.index.bitset import RowSet, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.request import Order
from plimsoll.search.result import Candidates
from tests.property.search import model
from tests.property.search.clouds import Case, device_case, random_case, world_of
from tests.property.search.explain_model import Model


def explain_case(random: Random) -> Case:
    """Return a random case; half of them in a cloud of which more is in use."""
    providers, request = (random_case if random.random() < 0.5 else device_case)(random)
    if random.random() < 0.5:
        providers = [
            replace(
                each, used={name: random.randint(0, has.total + 1) for name, has in each.inventories.items()}
            )
            for each in providers
        ]
    return providers, request


def check(case: Case) -> Explanation:
    """Explain the request of a case, and compare everything with the search and with the models."""
    providers, request = case
    world, index = world_of(providers), Index.build(providers)
    found = find_candidates(world, index, request, Order())
    explained = explain(world, index, request, Order(), Budget(), provider=providers[-1])
    assert isinstance(found, Candidates)
    assert isinstance(explained, Explanation)
    assert explained.candidates == len(found.requests)
    assert (explained.verdict == Verdict.FOUND) == bool(model.candidates(world, request))
    check_clauses(case, explained)
    check_examples(case, explained)
    if explained.verdict != Verdict.FOUND:
        empty = world_of([replace(provider, used={}) for provider in providers])
        assert (explained.verdict == Verdict.NEVER) == (not model.candidates(empty, request))
    return explained


def check_clauses(case: Case, explained: Explanation) -> None:
    providers, request = case
    world, index = world_of(providers), Index.build(providers)
    evaluation = evaluate(Hosts(index, Budget()), request, trace_plan(world, index, request, Budget()))
    sole = sole_obstacles(evaluation)
    expected = Model(world, request).clauses()

    def uuids(hosts: RowSet) -> frozenset[str]:
        return frozenset(each.uuid for each in index.providers(numbers_of(hosts, index.size).tolist()))

    actual = [
        (clause.reason, clause.group, uuids(clause.met), uuids(clause.failed), uuids(hosts))
        for clause, hosts in zip(evaluation.clauses, sole, strict=True)
    ]
    modelled = [(each.reason, each.group, each.met, each.failed, each.sole) for each in expected]
    assert actual == modelled, [pair for pair in zip_longest(actual, modelled) if pair[0] != pair[1]]
    left = frozenset(each.uuid for each in providers if each.parent is None)
    assert explained.hosts == len(left)
    for clause, plain in zip(explained.clauses, expected, strict=True):
        left -= plain.failed
        assert (clause.alone, clause.failed, clause.left, clause.sole) == (
            len(plain.met),
            len(plain.failed),
            len(left),
            len(plain.sole),
        )
        if clause.overlap is not None:
            common = [len(plain.failed & other.failed) for other in expected if other is not plain]
            assert clause.overlap.hosts == max(common)
    assert left == hosts_with_candidates(case)
    assert explained.hosts_with_candidates == len(left)


def hosts_with_candidates(case: Case) -> frozenset[str]:
    """Return the hosts at which the brute-force model finds a candidate."""
    world, request = world_of(case[0]), case[1]
    return frozenset(
        provider.uuid
        for provider in case[0]
        if provider.parent is None and model.has_candidates_at(world, provider, request)
    )


def check_examples(case: Case, explained: Explanation) -> None:
    """Each reason is true of the host that it names, all obstacles are given, and nearer hosts come first."""
    world, request = world_of(case[0]), case[1]
    expected = Model(world, request).clauses()
    without = explained.hosts - explained.hosts_with_candidates
    assert len(explained.examples) + explained.more_hosts == without
    counts = [len(story.obstacles) for story in explained.examples]
    assert counts == sorted(counts)
    assert explained.host is not None
    for story in (*explained.examples, explained.host):
        failed = [number for number, each in enumerate(expected, start=1) if story.uuid in each.failed]
        assert [obstacle.clause for obstacle in story.obstacles] == failed
        for obstacle in story.obstacles:
            assert obstacle.reason == expected[obstacle.clause - 1].reason
            if obstacle.facts is not None:
                assert obstacle.provider is not None
                check_facts(world.providers[obstacle.provider[0]], obstacle.reason, obstacle.facts)


def check_facts(provider: Provider, reason: str, facts: InventoryFacts) -> None:
    inventory = provider.inventories[facts.resource_class]
    assert (facts.total, facts.reserved, facts.used) == (
        inventory.total,
        inventory.reserved,
        provider.used_of(facts.resource_class),
    )
    assert facts.free == facts.capacity - facts.used
    asked = facts.requested
    assert {
        "min_unit": asked < facts.min_unit,
        "max_unit": asked > facts.max_unit,
        "step_size": asked % facts.step_size != 0,
        "capacity": asked > facts.capacity,
        "used": asked > facts.free,
    }[reason]
