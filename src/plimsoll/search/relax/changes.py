# SPDX-License-Identifier: Apache-2.0

"""Single changes of a request: without a condition, or with another amount."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum

from plimsoll.domain.values import value
from plimsoll.search.request import CandidatesRequest, Conditions, Group


class Relaxed(Enum):
    """The kinds of changes. The values are part of the API."""

    REQUIRED = "required"
    FORBIDDEN = "forbidden"
    MEMBER_OF = "member_of"
    NOT_MEMBER_OF = "not_member_of"
    IN_TREE = "in_tree"
    ROOT_REQUIRED = "root_required"
    ROOT_FORBIDDEN = "root_forbidden"
    SAME_SUBTREE = "same_subtree"
    ISOLATE = "isolate"
    AMOUNT = "amount"
    RESOURCE_CLASS = "resource_class"
    GROUP = "group"


@value
class RequestChange:
    """One change of a request."""

    kind: Relaxed
    suffix: str | None = None
    """The group that is changed; None for changes of the whole request."""
    names: tuple[str, ...] = ()
    """The traits, aggregates, provider or suffixes that are removed from the request; sorted."""
    resource_class: str | None = None
    amount: int | None = None
    """The amount that was asked for."""
    new_amount: int | None = None


def removals(request: CandidatesRequest) -> Iterator[RequestChange]:
    """Yield each change that takes away one condition."""
    for trait in sorted(request.root_required):
        yield RequestChange(Relaxed.ROOT_REQUIRED, names=(trait,))
    for trait in sorted(request.root_forbidden):
        yield RequestChange(Relaxed.ROOT_FORBIDDEN, names=(trait,))
    for group in request.groups:
        yield from _removals_of_group(group)
    if request.is_isolated:
        yield RequestChange(Relaxed.ISOLATE)
    for subtree in dict.fromkeys(request.same_subtrees):
        change = RequestChange(Relaxed.SAME_SUBTREE, names=tuple(sorted(subtree)))
        if is_valid(apply(request, change)):
            yield change


def _removals_of_group(group: Group) -> Iterator[RequestChange]:
    wanted, suffix = group.conditions, group.suffix
    for any_of in dict.fromkeys(wanted.required):
        yield RequestChange(Relaxed.REQUIRED, suffix, tuple(sorted(any_of)))
    for trait in sorted(wanted.forbidden):
        yield RequestChange(Relaxed.FORBIDDEN, suffix, (trait,))
    for any_of in dict.fromkeys(wanted.member_of):
        yield RequestChange(Relaxed.MEMBER_OF, suffix, tuple(sorted(any_of)))
    for aggregate in sorted(wanted.not_member_of):
        yield RequestChange(Relaxed.NOT_MEMBER_OF, suffix, (aggregate,))
    if wanted.in_tree is not None:
        yield RequestChange(Relaxed.IN_TREE, suffix, (wanted.in_tree,))


def amounts(request: CandidatesRequest) -> Iterator[tuple[Group, str]]:
    """Yield each group and resource class whose amount may be with_amount."""
    for group in request.groups:
        for resource_class in group.resources:
            yield group, resource_class


def with_amount(group: Group, resource_class: str, new_amount: int) -> RequestChange:
    amount = group.resources[resource_class]
    return RequestChange(
        Relaxed.AMOUNT, group.suffix, resource_class=resource_class, amount=amount, new_amount=new_amount
    )


def without_class(group: Group, resource_class: str) -> RequestChange:
    amount = group.resources[resource_class]
    return RequestChange(Relaxed.RESOURCE_CLASS, group.suffix, resource_class=resource_class, amount=amount)


def without_group(group: Group) -> RequestChange:
    return RequestChange(Relaxed.GROUP, group.suffix)


def apply(request: CandidatesRequest, *changes: RequestChange) -> CandidatesRequest:
    """Return the request after these changes."""
    for change in changes:
        request = _apply(request, change)
    return request


def _apply(request: CandidatesRequest, change: RequestChange) -> CandidatesRequest:
    gone = frozenset(change.names)
    match change.kind:
        case Relaxed.ROOT_REQUIRED:
            return replace(request, root_required=request.root_required - gone)
        case Relaxed.ROOT_FORBIDDEN:
            return replace(request, root_forbidden=request.root_forbidden - gone)
        case Relaxed.SAME_SUBTREE:
            return replace(request, same_subtrees=_without(request.same_subtrees, gone))
        case Relaxed.ISOLATE:
            return replace(request, group_policy="none")
        case Relaxed.GROUP:
            return _without_group(request, change.suffix)
        case _:
            groups = [
                _changed_group(group, change) if group.suffix == change.suffix else group
                for group in request.groups
            ]
            return replace(request, groups=tuple(groups))


def is_valid(request: CandidatesRequest) -> bool:
    """Return whether the API accepts the request: groups without resources are in a same_subtree."""
    in_subtrees = frozenset[str]().union(*request.same_subtrees)
    return any(group.resources for group in request.groups) and all(
        group.resources or group.suffix in in_subtrees for group in request.groups
    )


def _changed_group(group: Group, change: RequestChange) -> Group:
    if change.kind in (Relaxed.AMOUNT, Relaxed.RESOURCE_CLASS):
        resources = {**group.resources, change.resource_class or "": change.new_amount or 0}
        return replace(group, resources={name: amount for name, amount in resources.items() if amount})
    return replace(group, conditions=_changed_conditions(group.conditions, change))


def _changed_conditions(wanted: Conditions, change: RequestChange) -> Conditions:
    gone = frozenset(change.names)
    match change.kind:
        case Relaxed.REQUIRED:
            return wanted._replace(required=_without(wanted.required, gone))
        case Relaxed.FORBIDDEN:
            return wanted._replace(forbidden=wanted.forbidden - gone)
        case Relaxed.MEMBER_OF:
            return wanted._replace(member_of=_without(wanted.member_of, gone))
        case Relaxed.NOT_MEMBER_OF:
            return wanted._replace(not_member_of=wanted.not_member_of - gone)
        case _:
            return wanted._replace(in_tree=None)


def _without_group(request: CandidatesRequest, suffix: str | None) -> CandidatesRequest:
    subtrees = [frozenset(each for each in subtree if each != suffix) for subtree in request.same_subtrees]
    return replace(
        request,
        groups=tuple([group for group in request.groups if group.suffix != suffix]),
        same_subtrees=tuple([subtree for subtree in subtrees if subtree]),
    )


def _without(items: Iterable[frozenset[str]], gone: frozenset[str]) -> tuple[frozenset[str], ...]:
    return tuple([item for item in items if item != gone])
