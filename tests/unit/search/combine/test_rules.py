# SPDX-License-Identifier: Apache-2.0

"""Each rule of the table alone, in both forms, finds exactly the choices of a brute-force model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.search.budget import Budget
from plimsoll.search.combine import rules
from plimsoll.search.combine.backtrack import Choice, Combiner
from plimsoll.search.combine.rules import RULES
from plimsoll.search.combine.tree_options import Options, options_at
from plimsoll.search.combine.vectorised import fill_order, join
from plimsoll.search.index.bitset import Numbers, RowSet, numbers_of, rows_of
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan
from plimsoll.search.slots import Slot, Supply

CLASSES = ["VCPU", "PCI"]
TRAITS = ["FAST", "BIG"]


class Puzzle:
    """Two trees and some slots. All rules apply to the plan; a test selects one."""

    def __init__(self, random: Random) -> None:
        self.providers = _forest(random)
        self.index = Index.build(self.providers)
        self.suffixes = random.choice([["_1", "_2"], ["", "", "_1"], ["", "_1", "_2"], ["", "", "_1", "_2"]])
        self.required = random.sample(TRAITS, random.randint(1, 2)) if "" in self.suffixes else []
        self.subtrees = [frozenset(random.sample(sorted({*self.suffixes}), 2))]
        slots = tuple([self._slot(random, suffix) for suffix in self.suffixes])
        self.plan = Plan(
            slots,
            anchors=rows_of([self.index.row("p0"), self.index.row("p1")]),
            required_traits=tuple([self.index.with_trait(name) for name in self.required]),
            isolated=True,
            subtrees=tuple(self.subtrees),
            one_per_tree=True,
        )

    def _slot(self, random: Random, suffix: str) -> Slot:
        amounts = {name: random.randint(1, 2) for name in random.sample(CLASSES, random.randint(0, 2))}
        able = [
            provider
            for provider in self.providers
            if random.random() < 0.8
            and all(
                name in provider.inventories
                and provider.inventories[name].admits(amount, provider.used_of(name))
                for name, amount in amounts.items()
            )
        ]
        rows = rows_of([self.index.row(provider.uuid) for provider in able])
        shared = [provider for provider in able if random.random() < 0.3]
        other_root = {"p0": "p1", "p1": "p0"}
        sharing_providers: dict[int, RowSet] = {
            self.index.row(provider.uuid): rows_of([self.index.row(other_root[provider.root])])
            for provider in shared
        }
        return Slot(suffix, amounts, Supply(rows, sharing_providers, rows))

    def options(self) -> list[Options]:
        return options_at(self.index, self.plan, self.anchors, Budget())

    @property
    def anchors(self) -> Numbers:
        return numbers_of(self.plan.anchors, self.index.size)


def _forest(random: Random) -> list[Provider]:
    providers: list[Provider] = []
    for number in range(random.randint(4, 7)):
        parent = random.choice(providers) if number > 1 else None
        uuid = f"p{number}"
        providers.append(
            Provider(
                id=number + 1,
                uuid=uuid,
                name=uuid,
                root=parent.root if parent else uuid,
                parent=parent.uuid if parent else None,
                inventories={
                    name: Inventory(random.randint(1, 5), max_unit=random.choice([2, 3, 9]))
                    for name in CLASSES
                },
                used={name: 1 for name in CLASSES if random.random() < 0.3},
                traits=frozenset(name for name in TRAITS if random.random() < 0.4),
            )
        )
    return providers


Chosen = Sequence[Provider]
"""The provider of each slot."""


def is_isolated(puzzle: Puzzle, chosen: Chosen) -> bool:
    uuids = [each.uuid for each, suffix in zip(chosen, puzzle.suffixes, strict=True) if suffix]
    return len(set(uuids)) == len(uuids)


def has_capacity(puzzle: Puzzle, chosen: Chosen) -> bool:
    sums: dict[tuple[str, str], int] = {}
    for provider, slot in zip(chosen, puzzle.plan.slots, strict=True):
        for name, amount in slot.resources.items():
            sums[provider.uuid, name] = sums.get((provider.uuid, name), 0) + amount
    return all(
        provider.inventories[name].admits(total, provider.used_of(name))
        for provider in chosen
        for name in CLASSES
        if (total := sums.get((provider.uuid, name)))
    )


def is_one_per_tree(puzzle: Puzzle, chosen: Chosen) -> bool:
    used = {
        each.uuid: each.root for each, slot in zip(chosen, puzzle.plan.slots, strict=True) if slot.resources
    }
    return len(set(used.values())) == len(used)


def has_required_traits(puzzle: Puzzle, chosen: Chosen) -> bool:
    group = [each for each, suffix in zip(chosen, puzzle.suffixes, strict=True) if not suffix]
    return all(any(name in each.traits for each in group) for name in puzzle.required)


def is_in_one_subtree(puzzle: Puzzle, chosen: Chosen) -> bool:
    parents = {each.uuid: each.parent for each in puzzle.providers}

    def ancestors(uuid: str | None) -> set[str]:
        return set() if uuid is None else {uuid} | ancestors(parents[uuid])

    for suffixes in puzzle.subtrees:
        members = {
            each.uuid for each, suffix in zip(chosen, puzzle.suffixes, strict=True) if suffix in suffixes
        }
        if not any(all(top in ancestors(member) for member in members) for top in members):
            return False
    return True


MODELS: Mapping[str, Callable[[Puzzle, Chosen], bool]] = {
    "group_policy=isolate": is_isolated,
    "capacity": has_capacity,
    "one provider per tree": is_one_per_tree,
    "required traits": has_required_traits,
    "same_subtree": is_in_one_subtree,
}

TreeChoices = list[tuple[int, Choice]]


def by_brute_force(puzzle: Puzzle, meets: Callable[[Puzzle, Chosen], bool]) -> TreeChoices:
    options = puzzle.options()
    return sorted(
        (tree, choice)
        for tree in range(len(puzzle.anchors))
        for choice in product(*[option.at(tree) for option in options])
        if meets(puzzle, [puzzle.index.provider(row) for row in choice])
    )


def by_bits(puzzle: Puzzle) -> TreeChoices:
    options, combiner = puzzle.options(), Combiner(puzzle.index, puzzle.plan, Budget())
    return sorted(
        (tree, choice)
        for tree in range(len(puzzle.anchors))
        for choice in combiner.at(tree, [option.at(tree) for option in options])
    )


def by_columns(puzzle: Puzzle) -> TreeChoices:
    options = puzzle.options()
    order = fill_order([len(option.rows) for option in options])
    table = join(puzzle.index, puzzle.plan, options, order, None, 1 << 20, Budget())
    assert table is not None
    return sorted(zip(table.tree.tolist(), map(tuple, table.choices.tolist()), strict=True))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random=st.randoms(use_true_random=True))
def test_a_rule_alone_finds_the_choices_of_the_model(
    rule: rules.Rule, random: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle = Puzzle(random)
    monkeypatch.setattr(rules, "RULES", (rule,))
    expected = by_brute_force(puzzle, MODELS[rule.name])
    assert by_bits(puzzle) == expected
    assert by_columns(puzzle) == expected


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=True))
def test_all_rules_together_find_the_choices_that_meet_all_models(random: Random) -> None:
    puzzle = Puzzle(random)
    expected = by_brute_force(
        puzzle, lambda puzzle, chosen: all(meets(puzzle, chosen) for meets in MODELS.values())
    )
    assert by_bits(puzzle) == by_columns(puzzle) == expected


def test_each_rule_has_its_own_name() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_plan_without_conditions_between_slots_has_no_rules() -> None:
    supply = Supply(0, {}, 0)
    plan = Plan((Slot("", {"VCPU": 1}, supply), Slot("_1", {"PCI": 1}, supply)), anchors=0)
    assert rules.rules_of(plan) == []
