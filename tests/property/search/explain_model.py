# SPDX-License-Identifier: Apache-2.0

"""A plain model of explanations: checks every clause on every host by brute force, as docs/v1/explain.md defines it.

Slow and simple on purpose: the counts of explanations are compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.domain.world import World
from plimsoll.search.request import CandidatesRequest, Group

PARTS = ("no_inventory", "sharing", "min_unit", "max_unit", "step_size", "capacity", "used")
NEGATIVE = ("forbidden", "not_member_of")


@dataclass(frozen=True)
class Step:
    """One condition on one provider."""

    reason: str
    wanted: Any
    """Names, aggregates, the uuid of a root, or (class, amount)."""


@dataclass(frozen=True, eq=False)
class Part:
    """The part of a request that one provider serves: a whole group, or one class of the group without suffix."""

    group: Group
    is_whole: bool
    resources: Mapping[str, int]
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Rule:
    reason: str
    parts: tuple[int, ...]
    holds: Callable[[tuple[Part, ...], tuple[Provider, ...]], bool]
    """Of the parts of the request and the provider of each."""


@dataclass(frozen=True)
class ModelClause:
    reason: str
    group: str | None
    met: frozenset[str]
    failed: frozenset[str]
    sole: frozenset[str] = frozenset()


@dataclass(eq=False)
class _Asked:
    """A clause before it is evaluated."""

    reason: str
    group: str | None
    where: tuple[tuple[int, int], ...] = ()
    """Part and step."""
    trait: frozenset[str] | None = None
    root: Step | None = None
    rule: int | None = None


@dataclass(eq=False)
class Model:
    world: World
    request: CandidatesRequest
    parts: list[Part] = field(default_factory=list)
    asked: list[_Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        everybody = list(self.world.providers.values())
        self.hosts = [provider for provider in everybody if provider.parent is None]
        self.has_trees = any(provider.parent is not None for provider in everybody)
        self.is_flat = not self.has_trees and not any(map(_shares, everybody))
        for trait in sorted(self.request.root_required):
            self.asked.append(_Asked("root_required", None, root=Step("required", frozenset([trait]))))
        if self.request.root_forbidden:
            self.asked.append(
                _Asked("root_forbidden", None, root=Step("forbidden", self.request.root_forbidden))
            )
        for group in self.request.groups:
            self._add_group(group)
        self.rules = list(self._rules())
        self.asked += [_Asked(rule.reason, None, rule=number) for number, rule in enumerate(self.rules)]
        if len(self.rules) > 1:
            self.asked.append(_Asked("rules_together", None))

    # The clauses.

    def _add_group(self, group: Group) -> None:
        first = len(self.parts)
        if group.suffix or self.is_flat:
            self.parts.append(self._part(group, group.resources, True, True))
        else:
            for name, amount in group.resources.items():
                self.parts.append(self._part(group, {name: amount}, False, len(group.resources) == 1))
        new = range(first, len(self.parts))
        if len(new) > 1:
            order = self._of_each(new, ["in_tree"])
            order += [_Asked("required", group.suffix, trait=each) for each in group.conditions.required]
        else:
            order = self._of_each(new, ["in_tree", "required"])
        order += self._of_each(new, ["forbidden", "member_of", "not_member_of", "no_condition"])
        for number in new:
            order += [
                _Asked(step.reason, group.suffix, ((number, place),))
                for place, step in enumerate(self.parts[number].steps)
                if step.reason in PARTS
            ]
        self.asked += order
        if not self.is_flat:
            self.asked.append(_Asked("one_provider", group.suffix, tuple((number, -1) for number in new)))

    def _of_each(self, new: range, reasons: list[str]) -> list[_Asked]:
        return [
            _Asked(reason, self.parts[new[0]].group.suffix, tuple((number, place) for number in new))
            for reason in reasons
            for place, step in enumerate(self.parts[new[0]].steps)
            if step.reason == reason
        ]

    def _part(self, group: Group, resources: Mapping[str, int], is_whole: bool, traits: bool) -> Part:
        wanted = group.conditions
        steps = []
        if wanted.in_tree is not None and (group.resources or not is_whole):
            steps.append(Step("in_tree", self.world.providers[wanted.in_tree].root))
        if traits:
            steps += [Step("required", any_of) for any_of in wanted.required]
        if wanted.forbidden:
            steps.append(Step("forbidden", wanted.forbidden))
        if wanted.member_of:
            steps.append(Step("member_of", wanted.member_of))
        if wanted.not_member_of:
            steps.append(Step("not_member_of", wanted.not_member_of))
        if not group.resources and not wanted.required and not wanted.member_of:
            steps.append(Step("no_condition", None))
        for name, amount in resources.items():
            shared = any(_shares(each) and name in each.inventories for each in self.world.providers.values())
            for reason in PARTS:
                if reason != ("no_inventory" if shared else "sharing"):
                    steps.append(Step(reason, (name, amount)))
        return Part(group, is_whole, resources, tuple(steps))

    def _rules(self) -> Iterator[Rule]:
        parts, request = self.parts, self.request
        suffixed = tuple(n for n, part in enumerate(parts) if part.group.suffix)
        if request.group_policy == "isolate" and len(suffixed) > 1:
            yield Rule("isolate", suffixed, lambda _, chosen: len(set(_uuids(chosen))) == len(chosen))
        for name in dict.fromkeys(name for part in parts for name in part.resources):
            numbers = tuple(n for n, part in enumerate(parts) if name in part.resources)
            if len(numbers) > 1:
                yield Rule("groups_capacity", numbers, _has_room(name))
        holding = tuple(n for n, part in enumerate(parts) if part.resources)
        if not request.nested and self.has_trees and len(holding) > 1:
            yield Rule("one_per_tree", holding, _one_per_tree)
        split = tuple(n for n, part in enumerate(parts) if not part.group.suffix)
        if len(split) > 1 and parts[split[0]].group.conditions.required:
            yield Rule("traits_together", split, _has_traits(parts[split[0]].group.conditions.required))
        for subtree in request.same_subtrees:
            members = tuple(n for n, part in enumerate(parts) if part.group.suffix in subtree)
            if len(members) > 1:
                yield Rule("same_subtree", members, self._in_one_subtree)

    def _in_one_subtree(self, parts: tuple[Part, ...], chosen: tuple[Provider, ...]) -> bool:
        return any(all(top.uuid in self._above(each) for each in chosen) for top in chosen)

    def _above(self, provider: Provider) -> set[str]:
        rest = set() if provider.parent is None else self._above(self.world.providers[provider.parent])
        return {provider.uuid} | rest

    # One host.

    def nearby(self, host: Provider, everywhere: str | None = None) -> list[Provider]:
        """Return the providers of the tree and those that serve it by sharing (or, of one class, would serve it)."""
        aggregates = frozenset[str]().union(*(each.aggregates for each in self.world.tree(host.uuid)))
        return [
            each
            for each in self.world.providers.values()
            if each.root == host.uuid
            or (_shares(each) and (each.aggregates & aggregates or everywhere in each.inventories))
        ]

    def meets(self, part: Part, step: Step, provider: Provider, host: Provider) -> bool:
        own = provider.root == host.uuid
        match step.reason:
            case "in_tree":
                return provider.root == step.wanted and (own or part.is_whole)
            case "required":
                return bool(provider.traits & step.wanted)
            case "forbidden":
                return not provider.traits & step.wanted
            case "member_of":
                members = [provider] + ([host] if own and not part.is_whole else [])
                return any(all(each.aggregates & any_of for any_of in step.wanted) for each in members)
            case "not_member_of":
                aggregates = provider.aggregates | (frozenset() if part.is_whole else host.aggregates)
                return not aggregates & step.wanted
            case "no_condition":
                return False
        name: str = step.wanted[0]
        amount: int = step.wanted[1]
        inventory = provider.inventories.get(name)
        if step.reason in ("no_inventory", "sharing"):
            return inventory is not None
        if inventory is None:
            return True
        capacity = max(0, inventory.capacity)
        match step.reason:
            case "min_unit":
                return amount >= inventory.min_unit
            case "max_unit":
                return amount <= inventory.max_unit
            case "step_size":
                return amount % inventory.step_size == 0
            case "capacity":
                return amount <= capacity
        return amount > capacity or provider.used_of(name) + amount <= capacity

    def is_asked(self, part: Part, step: Step, provider: Provider) -> bool:
        if step.reason in NEGATIVE:
            return all(name in provider.inventories for name in part.resources)
        if step.reason not in PARTS or step.reason in ("no_inventory", "sharing"):
            return True
        inventory = provider.inventories.get(step.wanted[0])
        return inventory is not None and (step.reason != "used" or step.wanted[1] <= inventory.capacity)

    def at_host(self, asked: _Asked, host: Provider) -> bool | None:
        """Return whether a clause of a single provider is met at a host; None if it does not concern the host."""
        if asked.root is not None:
            return self.meets(_ANY, asked.root, host, host)
        if asked.trait is not None:
            return any(each.traits & asked.trait for each in self.nearby(host))
        results = []
        for number, place in asked.where:
            part, step = self.parts[number], self.parts[number].steps[place]
            concerned = [each for each in self.nearby(host) if self.is_asked(part, step, each)]
            if concerned:
                results.append(any(self.meets(part, step, each, host) for each in concerned))
        return all(results) if results else None

    def options(self, number: int, host: Provider, removed: _Asked | None = None) -> list[Provider]:
        part = self.parts[number]
        left_out = {place for n, place in removed.where if n == number} if removed else set()
        everywhere = None
        if removed and left_out and removed.reason in ("no_inventory", "sharing"):
            name = part.steps[next(iter(left_out))].wanted[0]
            if removed.reason == "sharing":
                everywhere, left_out = name, set()
            else:
                left_out = {
                    place
                    for place, step in enumerate(part.steps)
                    if step.reason in PARTS and step.wanted[0] == name
                }
        steps = [step for place, step in enumerate(part.steps) if place not in left_out]
        return [
            each
            for each in self.nearby(host, everywhere)
            if all(self.meets(part, step, each, host) for step in steps)
        ]

    def can_hold(self, rules: list[Rule], host: Provider, removed: _Asked | None = None) -> bool:
        """Return whether all parts of these rules can be filled at a host so that the rules hold."""
        numbers = sorted({number for rule in rules for number in rule.parts})
        parts = {number: self.parts[number] for number in numbers}
        if removed is not None and removed.reason == "no_inventory":
            ((number, place),) = removed.where
            if number in parts:
                part = parts[number]
                gone = part.steps[place].wanted[0]
                rest = {name: amount for name, amount in part.resources.items() if name != gone}
                parts[number] = replace(part, resources=rest)
        options = [self.options(number, host, removed) for number in numbers]
        for chosen in product(*options):
            by_part = dict(zip(numbers, chosen, strict=True))
            if all(
                rule.holds(
                    tuple(parts[number] for number in rule.parts),
                    tuple(by_part[number] for number in rule.parts),
                )
                for rule in rules
            ):
                return True
        return False

    # All hosts.

    def clauses(self) -> list[ModelClause]:
        """Return all clauses with the hosts that meet them, that fail them, and whose sole obstacle each is."""
        outcome: dict[int, dict[str, bool | None]] = {}
        for number, asked in enumerate(self.asked):
            outcome[number] = {host.uuid: self._outcome(number, asked, host, outcome) for host in self.hosts}
        return [
            ModelClause(
                asked.reason,
                asked.group,
                frozenset(uuid for uuid, result in outcome[number].items() if result is True),
                frozenset(uuid for uuid, result in outcome[number].items() if result is False),
                frozenset(host.uuid for host in self.hosts if self._is_sole(number, asked, host, outcome)),
            )
            for number, asked in enumerate(self.asked)
        ]

    def _outcome(
        self, number: int, asked: _Asked, host: Provider, outcome: dict[int, dict[str, bool | None]]
    ) -> bool | None:
        def fails(which: Callable[[_Asked], bool]) -> bool:
            return any(
                outcome[n][host.uuid] is False for n, other in enumerate(self.asked[:number]) if which(other)
            )

        if asked.reason == "one_provider":
            if fails(lambda other: other.group == asked.group and other.group is not None):
                return None
            return all(self.options(n, host) for n, _ in asked.where)
        if asked.rule is not None:
            rule = self.rules[asked.rule]
            if not all(self.options(n, host) for n in rule.parts):
                return None
            if rule.reason == "traits_together" and fails(lambda other: other.trait is not None):
                return None
            return self.can_hold([rule], host)
        if asked.reason == "rules_together":
            if fails(lambda other: other.root is None):
                return None
            return self.can_hold(self.rules, host)
        return self.at_host(asked, host)

    def _is_sole(
        self, number: int, asked: _Asked, host: Provider, outcome: dict[int, dict[str, bool | None]]
    ) -> bool:
        failed = [n for n in outcome if outcome[n][host.uuid] is False]
        if not failed:
            return False
        if asked.reason in ("one_provider", "rules_together"):
            return failed == [number]
        single = [n for n in failed if self._is_of_one_provider(self.asked[n])]
        if any(n != number for n in single):
            return False
        concerns_failing_only = asked.reason in ("no_inventory", "sharing") or asked.root is not None
        if concerns_failing_only and number not in failed:
            return False
        rules = [rule for n, rule in enumerate(self.rules) if n != asked.rule]
        if asked.trait is not None:
            required = list(self.parts[self._split()[0]].group.conditions.required)
            required.remove(asked.trait)
            rules = [
                Rule(rule.reason, rule.parts, _has_traits(tuple(required)))
                if rule.reason == "traits_together"
                else rule
                for rule in rules
            ]
        if not all(self.options(n, host, asked) for n in range(len(self.parts))):
            return False
        return self.can_hold(rules, host, asked)

    def _split(self) -> list[int]:
        return [n for n, part in enumerate(self.parts) if not part.group.suffix]

    def _is_of_one_provider(self, asked: _Asked) -> bool:
        return asked.rule is None and asked.reason not in ("one_provider", "rules_together")


_ANY = Part(Group("", {}), True, {}, ())


def _shares(provider: Provider) -> bool:
    return SHARING_TRAIT in provider.traits


def _uuids(chosen: tuple[Provider, ...]) -> list[str]:
    return [each.uuid for each in chosen]


def _has_room(name: str) -> Callable[[tuple[Part, ...], tuple[Provider, ...]], bool]:
    def holds(parts: tuple[Part, ...], chosen: tuple[Provider, ...]) -> bool:
        asking = [(part, each) for part, each in zip(parts, chosen, strict=True) if name in part.resources]
        counts = {each.uuid: [part for part, other in asking if other is each] for _, each in asking}
        for _, provider in asking:
            inventory = provider.inventories[name]
            amount = sum(part.resources[name] for part in counts[provider.uuid])
            free = max(0, inventory.capacity) - provider.used_of(name)
            if amount > min(inventory.max_unit, free):
                return False
        return True

    return holds


def _one_per_tree(parts: tuple[Part, ...], chosen: tuple[Provider, ...]) -> bool:
    holding = [each for part, each in zip(parts, chosen, strict=True) if part.resources]
    return len({each.root for each in holding}) == len({each.uuid for each in holding})


def _has_traits(
    required: tuple[frozenset[str], ...],
) -> Callable[[tuple[Part, ...], tuple[Provider, ...]], bool]:
    def holds(parts: tuple[Part, ...], chosen: tuple[Provider, ...]) -> bool:
        traits = frozenset[str]().union(*(each.traits for each in chosen))
        return all(traits & any_of for any_of in required)

    return holds
