# SPDX-License-Identifier: Apache-2.0

"""The query of GET /allocation_candidates: groups of resources with their conditions, and request-wide parameters.

The order of the checks is visible to clients, because the first error is reported: first the request-wide parameters,
then the parameters of the groups as written, then the groups together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from plimsoll.api.placement.bodies.patterns import GROUP_NUMBER, GROUP_SUFFIX
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.queries import conditions
from plimsoll.api.placement.queries.query import TEXT, Query, QueryParser
from plimsoll.api.placement.schemas import Changed, Field, ObjectSchema
from plimsoll.http.problems import BAD_PARAMETER, DUPLICATE_PARAMETER, MISSING_PARAMETER, Problem
from plimsoll.search.request import CandidatesRequest, Group

_LIMIT = {"type": ["integer", "string"], "pattern": "^[1-9][0-9]*$", "minimum": 1, "minLength": 1}
_ONE_TEXT = {"type": ["string"]}


def _grouped(name: str, *, since: F) -> Iterator[Field]:
    """Yield the fields of a parameter of a group: its suffix is a number at first, a name since NAMED_GROUPS."""
    if since.minor < F.NAMED_GROUPS.minor:
        yield Field(f"^{name}({GROUP_NUMBER})?$", TEXT, since=since, until=F.NAMED_GROUPS)
    yield Field(f"^{name}({GROUP_SUFFIX})?$", TEXT, since=F.NAMED_GROUPS)


_PARAMETERS = Changed(
    F.GRANULAR_GROUPS,
    before=ObjectSchema(
        Field("resources", TEXT),
        Field("limit", _LIMIT, since=F.LIMIT, required=False),
        Field("required", _ONE_TEXT, since=F.CANDIDATES_BY_TRAITS, required=False),
        Field("member_of", _ONE_TEXT, since=F.CANDIDATES_BY_AGGREGATE, required=False),
    ),
    after=ObjectSchema(
        Field("limit", _LIMIT, required=False),
        Field("group_policy", {"type": "string", "enum": ["none", "isolate"]}, required=False),
        Field("root_required", _ONE_TEXT, since=F.ROOT_REQUIRED, required=False),
        Field("same_subtree", _ONE_TEXT, since=F.SAME_SUBTREE, required=False),
        patterns=(
            *_grouped("resources", since=F.GRANULAR_GROUPS),
            *_grouped("required", since=F.GRANULAR_GROUPS),
            *_grouped("member_of", since=F.GRANULAR_GROUPS),
            *_grouped("in_tree", since=F.CANDIDATES_IN_TREE),
        ),
    ),
)

_OF_A_GROUP = "(resources|required|member_of|in_tree)({})?"
_NUMBERED = re.compile(_OF_A_GROUP.format(GROUP_NUMBER)).fullmatch
_NAMED = re.compile(_OF_A_GROUP.format(GROUP_SUFFIX)).fullmatch


def _parse(query: Query, version: Version) -> CandidatesRequest:
    limit = _limit(query)
    group_policy = _group_policy(query)
    root_required, root_forbidden = _root_traits(query, version)
    same_subtrees = tuple(map(_same_subtree, query.all("same_subtree")))
    groups = _groups(query, version)
    if version.has(F.SAME_SUBTREE):
        _check_subtrees(groups, same_subtrees)
    else:
        _check_orphans(groups)
    if version.has(F.FORBIDDEN_TRAITS):
        _check_conflicts(groups)
    if group_policy is None and len(groups.keys() - {""}) > 1:
        raise Problem(
            400,
            'The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.',
        )
    return CandidatesRequest(
        groups=tuple(groups.values()),
        limit=limit,
        group_policy=group_policy,
        root_required=root_required,
        root_forbidden=root_forbidden,
        same_subtrees=same_subtrees,
        nested=version.has(F.CANDIDATES_IN_TREES),
    )


candidates_request = QueryParser(_PARAMETERS, _parse)


def _limit(query: Query) -> int | None:
    """Return the first limit, as the reference does. The schema has validated only the last one."""
    for text in query.all("limit")[:1]:
        try:
            limit = int(text)
        except ValueError:
            limit = 0
        if limit < 1:
            raise Problem(400, f"Invalid query string parameters: limit must be 1 or more. Got: {text}")
        return limit
    return None


def _group_policy(query: Query) -> Literal["none", "isolate"] | None:
    """Return the first policy, as the reference does. The schema has validated only the last: others mean `none`."""
    given = next(iter(query.all("group_policy")), None)
    return None if not given else "isolate" if given == "isolate" else "none"


def _root_traits(query: Query, version: Version) -> tuple[frozenset[str], frozenset[str]]:
    values = query.all("root_required")
    if not values:
        return frozenset(), frozenset()
    if len(values) > 1:
        raise Problem(400, "Query parameter 'root_required' may be specified only once.", DUPLICATE_PARAMETER)
    if values[0].startswith("in:"):
        raise Problem(
            400,
            "Invalid query string parameters: 'root_required' does not support the format"
            f" '{conditions.ANY_TRAITS_FORM}' at any microversion. Got: {values[0]}",
        )
    traits, forbidden = conditions.all_of(values[0], version)
    required = frozenset[str]().union(*traits)
    if conflicts := required & forbidden:
        raise Problem(
            400,
            f"Conflicting required and forbidden traits found in root_required: {', '.join(sorted(conflicts))}",
            BAD_PARAMETER,
        )
    return required, forbidden


def _same_subtree(value: str) -> frozenset[str]:
    suffixes = frozenset(suffix.strip() for suffix in value.split(","))
    if "" in suffixes:
        raise Problem(
            400, "Empty string (unsuffixed group) can not be specified in `same_subtree` ", BAD_PARAMETER
        )
    return suffixes


def _groups(query: Query, version: Version) -> dict[str, Group]:
    parse_name = _NAMED if version.has(F.NAMED_GROUPS) else _NUMBERED
    groups: dict[str, Group] = {}
    combined: set[str] = set()
    for name, value in query.pairs:
        found = parse_name(name)
        if found is None or name in combined:
            continue
        suffix = found[2] or ""
        group = groups.get(suffix) or Group(suffix, {})
        wanted = group.conditions
        match found[1]:
            case "resources":
                group = replace(group, resources=conditions.resources(value))
            case "required":
                combined.add(name)  # all values of the parameter are read where it is first given
                required, forbidden = conditions.required(query.all(name), version)
                wanted = wanted._replace(required=required, forbidden=forbidden)
            case "member_of":
                combined.add(name)
                member_of, not_member_of = conditions.member_of(query.all(name), version, suffix)
                wanted = wanted._replace(member_of=member_of, not_member_of=not_member_of)
            case "in_tree":
                wanted = wanted._replace(in_tree=conditions.in_tree(value))
        groups[suffix] = replace(group, conditions=wanted)
    return groups


def _check_subtrees(groups: dict[str, Group], same_subtrees: Iterable[frozenset[str]]) -> None:
    without = [suffix for suffix, group in groups.items() if not group.resources]
    in_subtrees = frozenset[str]().union(*same_subtrees)
    if len(without) == len(groups):
        detail = "There must be at least one resources or resources[$S] parameter."
        raise Problem(400, detail, MISSING_PARAMETER)
    if loose := [suffix for suffix in without if suffix not in in_subtrees]:
        raise Problem(
            400,
            "Resourceless suffixed group request should be specified in `same_subtree` query param:"
            f" bad group(s) - {loose}.",
            BAD_PARAMETER,
        )
    if unknown := sorted(in_subtrees - groups.keys()):
        raise Problem(
            400,
            f"Real suffixes should be specified in `same_subtree`: {unknown} not found in {list(groups)}.",
            BAD_PARAMETER,
        )


def _check_orphans(groups: dict[str, Group]) -> None:
    without = {suffix: group.conditions for suffix, group in groups.items() if not group.resources}
    if orphans := [f"required{suffix}" for suffix, wanted in without.items() if wanted.required]:
        raise Problem(
            400,
            "All traits parameters must be associated with resources.  Found the following orphaned traits"
            f" keys: {', '.join(orphans)}",
        )
    if orphans := [
        f"member_of{suffix}" for suffix, wanted in without.items() if wanted.member_of or wanted.not_member_of
    ]:
        raise Problem(
            400,
            "All member_of parameters must be associated with resources. Found the following orphaned"
            f" member_of keys: {', '.join(orphans)}",
        )
    if without:
        raise Problem(400, "All request groups must specify resources.")
    if not groups:
        raise Problem(400, "At least one request group (`resources` or `resources{$S}`) is required.")


def _check_conflicts(groups: dict[str, Group]) -> None:
    conflicts = [
        f"required{suffix}: ({', '.join(sorted(any_of))})"
        for suffix, group in groups.items()
        for any_of in group.conditions.required
        if any_of <= group.conditions.forbidden
    ]
    if conflicts:
        raise Problem(
            400,
            "Conflicting required and forbidden traits found in the following traits keys:"
            f" {', '.join(sorted(conflicts))}",
        )
