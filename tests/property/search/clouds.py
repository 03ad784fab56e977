# SPDX-License-Identifier: Apache-2.0

"""Any small cloud, and any request to it."""

from __future__ import annotations

from hypothesis import strategies as st

from plimsoll.domain.catalog import Catalog, Term
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.domain.world import World
from plimsoll.search.request import CandidatesRequest, Conditions, Group

CLASSES = ["VCPU", "DISK_GB", "PCI"]
TRAITS = ["FAST", "BIG", "RED"]
AGGREGATES = ["x", "y", "z"]

CATALOGS = {
    "classes": Catalog(Term(number, name) for number, name in enumerate(CLASSES)),
    "traits": Catalog(Term(number, name) for number, name in enumerate([*TRAITS, SHARING_TRAIT])),
}

few = st.integers(1, 3)
plain = st.builds(Inventory, st.integers(1, 6))
odd = st.builds(
    Inventory,
    st.integers(1, 6),
    st.integers(0, 1),
    few,
    st.integers(1, 6),
    few,
    st.sampled_from([1.0, 0.5, 1.5, 0.9]),
)
inventories = st.dictionaries(st.sampled_from(CLASSES), st.one_of(plain, plain, odd))
traits = st.frozensets(st.sampled_from(TRAITS), max_size=2)
aggregates = st.frozensets(st.sampled_from(AGGREGATES), max_size=2)


@st.composite
def used(draw: st.DrawFn, provider_inventories: dict[str, Inventory]) -> dict[str, int]:
    if not provider_inventories:
        return {}
    return draw(st.dictionaries(st.sampled_from(sorted(provider_inventories)), few, max_size=1))


@st.composite
def providers(draw: st.DrawFn, most: int = 7) -> list[Provider]:
    nested, sharing = draw(st.booleans()), draw(st.booleans())
    made: list[Provider] = []
    for number in range(draw(st.integers(1, most))):
        parent = draw(st.sampled_from([None, *made])) if nested and made else None
        has = draw(inventories)
        shares = sharing and draw(st.integers(0, 3)) == 0
        made.append(
            Provider(
                id=number + 1,
                uuid=f"p{number}",
                name=f"p{number}",
                root=parent.root if parent else f"p{number}",
                parent=parent.uuid if parent else None,
                inventories=has,
                used=draw(used(has)),
                traits=draw(traits) | ({SHARING_TRAIT} if shares else frozenset()),
                aggregates=draw(aggregates),
            )
        )
    return made


def world_of(providers: list[Provider]) -> World:
    return World.of(providers, **CATALOGS)


any_of_traits = st.frozensets(st.sampled_from(TRAITS), min_size=1, max_size=2)
any_of_aggregates = st.frozensets(st.sampled_from(AGGREGATES), min_size=1, max_size=2)


@st.composite
def conditions(draw: st.DrawFn, known: list[Provider]) -> Conditions:
    """Most groups ask for little; each condition comes up now and then."""
    asked = draw(
        st.sets(st.sampled_from(["required", "forbidden", "member", "not member", "tree"]), max_size=2)
    )
    return Conditions(
        required=tuple(draw(st.lists(any_of_traits, min_size=1, max_size=2))) if "required" in asked else (),
        forbidden=draw(any_of_traits) if "forbidden" in asked else frozenset(),
        member_of=tuple(draw(st.lists(any_of_aggregates, min_size=1, max_size=2)))
        if "member" in asked
        else (),
        not_member_of=draw(any_of_aggregates) if "not member" in asked else frozenset(),
        in_tree=draw(st.sampled_from(known)).uuid if "tree" in asked else None,
    )


amounts = st.dictionaries(st.sampled_from(CLASSES), st.sampled_from([1, 1, 1, 2, 3]), min_size=1)


@st.composite
def requests(draw: st.DrawFn, known: list[Provider]) -> CandidatesRequest:
    suffixes = [f"_{number}" for number in range(draw(st.integers(0, 3)))]
    groups: list[Group] = []
    if not suffixes or draw(st.booleans()):
        groups.append(Group("", draw(amounts), draw(conditions(known))))
    for suffix in suffixes:
        empty = len(groups) > 0 and draw(st.integers(0, 4)) == 0
        like = [group for group in groups if group.suffix]
        if draw(st.booleans()) and like:
            groups.append(Group(suffix, like[0].resources, like[0].conditions))
        else:
            groups.append(Group(suffix, {} if empty else draw(amounts), draw(conditions(known))))
    groups = draw(st.permutations(groups))
    same_subtrees: list[frozenset[str]] = []
    if suffixes:
        same_subtrees = draw(st.lists(st.frozensets(st.sampled_from(suffixes), min_size=1), max_size=2))
    return CandidatesRequest(
        groups=tuple(groups),
        group_policy=draw(st.sampled_from([None, "none", "isolate"])),
        root_required=draw(st.one_of(st.just(frozenset()), st.just(frozenset()), traits)),
        root_forbidden=draw(st.one_of(st.just(frozenset()), st.just(frozenset()), traits)),
        same_subtrees=tuple(same_subtrees),
        nested=draw(st.booleans()),
    )


@st.composite
def clouds_and_requests(draw: st.DrawFn) -> tuple[list[Provider], CandidatesRequest]:
    known = draw(providers())
    return known, draw(requests(known))
