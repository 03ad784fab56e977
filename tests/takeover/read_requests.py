# SPDX-License-Identifier: Apache-2.0

"""GET requests for every route: all lists, and the sub-resources of selected providers and consumers.

Each is sent at the microversions that changed its response. None triggers a fault of searches in docs/differences.md,
except one: the search for the inventory of a provider without a root.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tests.differential.requests import Request, read
from tests.takeover.cloud import PROJECTS, TYPES, at, uuid_of

LISTS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("/", (0,)),
    ("/resource_providers", (0, 1, 13, 14, 20, 39)),
    ("/resource_providers?in_tree={host 0}", (14, 39)),
    ("/resource_providers?uuid={host 0}", (0, 39)),
    ("/resource_providers?name=host 0", (0, 39)),
    ("/resource_providers?name=café", (0, 39)),
    ("/resource_providers?name=CAFE", (39,)),
    ("/resource_providers?name=cafe ", (39,)),
    ("/resource_providers?name=naïve😀", (39,)),
    ("/resource_providers?member_of={rack 0}", (3, 39)),
    ("/resource_providers?member_of=in:{rack 0},{rack 1}", (24, 39)),
    ("/resource_providers?member_of=!{rack 0}", (32, 39)),
    ("/resource_providers?resources=VCPU:4,MEMORY_MB:1024", (4, 39)),
    ("/resource_providers?resources=DISK_GB:100&required=MISC_SHARES_VIA_AGGREGATE", (18, 39)),
    ("/resource_providers?required=CUSTOM_FAST,!HW_CPU_X86_AVX2", (22, 39)),
    ("/resource_providers?required=in:CUSTOM_FAST,HW_NIC_SRIOV", (39,)),
    ("/traits", (6, 15, 39)),
    ("/traits?name=startswith:CUSTOM_", (6, 39)),
    ("/traits?name=in:CUSTOM_FAST,HW_NUMA_ROOT,CUSTOM_NO_SUCH", (39,)),
    ("/traits?associated=true", (6, 39)),
    ("/traits?associated=false&name=startswith:CUSTOM_", (39,)),
    ("/traits/CUSTOM_FAST", (6, 15, 39)),
    ("/traits/CUSTOM_NO_SUCH", (39,)),
    ("/resource_classes", (2, 15, 39)),
    ("/resource_classes/CUSTOM_LICENCE", (2, 39)),
    ("/resource_classes/VCPU", (15,)),
    ("/resource_classes/CUSTOM_NO_SUCH", (39,)),
    ("/usages?project_id=project-no-such", (9, 39)),
)

SEARCHES: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("resources=VCPU:2,MEMORY_MB:1024", (10, 12, 17, 29, 34, 39)),
    ("resources=VCPU:1,DISK_GB:10", (12, 29, 39)),
    ("resources=DISK_GB:2001", (39,)),
    ("resources=VCPU:1,MEMORY_MB:512&required=CUSTOM_FAST", (17, 29, 39)),
    ("resources=VCPU:1,MEMORY_MB:512&member_of={rack 0}", (21, 29, 39)),
    ("resources=SRIOV_NET_VF:1&in_tree={host 0}", (31, 39)),
    ("resources=IPV4_ADDRESS:1,CUSTOM_LICENCE:1", (29, 39)),
    ("resources1=VCPU:1&resources2=VCPU:1&group_policy=isolate", (25, 39)),
    ("resources1=VCPU:1,MEMORY_MB:512&resources2=SRIOV_NET_VF:1&group_policy=none", (29, 34)),
    ("resources_C=VCPU:1&resources_N=SRIOV_NET_VF:1&same_subtree=_C,_N&group_policy=none", (36, 39)),
    ("resources=VCPU:1&root_required=!CUSTOM_FAST", (35, 39)),
    ("resources=VCPU:1&required=in:CUSTOM_FAST,HW_NUMA_ROOT", (39,)),
    ("resources=CUSTOM_OLD:1", (39,)),
)

OF_PROVIDER: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("", (0, 14, 39)),
    ("/inventories", (0, 39)),
    ("/inventories/VCPU", (0, 39)),
    ("/usages", (0, 39)),
    ("/allocations", (0, 28, 39)),
    ("/aggregates", (1, 39)),
    ("/traits", (6, 39)),
)

OF_CONSUMER = (0, 12, 28, 38)


def build_requests(
    all_versions: Iterable[str], newest_version: Iterable[str], consumers: Iterable[str]
) -> list[Request]:
    """Return the requests for lists, for providers at all versions or only the newest, and for consumers."""
    paths: list[tuple[str, tuple[int, ...]]] = [*LISTS, *_of_owners()]
    paths += [(f"/allocation_candidates?{query}", minors) for query, minors in SEARCHES]
    for uuid in all_versions:
        paths += [(f"/resource_providers/{uuid}{path}", minors) for path, minors in OF_PROVIDER]
    for uuid in newest_version:
        paths += [(f"/resource_providers/{uuid}{path}", minors[-1:]) for path, minors in OF_PROVIDER]
    for number, uuid in enumerate(consumers):
        paths.append((f"/allocations/{uuid}", OF_CONSUMER if number % 4 == 0 else OF_CONSUMER[-1:]))
    return [_request(target, minor) for target, minors in paths for minor in minors]


def _of_owners() -> Iterator[tuple[str, tuple[int, ...]]]:
    for project in (*PROJECTS, "project-c"):
        yield f"/usages?project_id={project}", (9,)
        yield f"/usages?project_id={project}&user_id=user-1", (9,)
        for kind in ("all", "unknown", *TYPES):
            yield f"/usages?project_id={project}&consumer_type={kind}", (38,)
    yield f"/usages?project_id={PROJECTS[0]}&user_id=user-1", (39,)


def _request(target: str, minor: int) -> Request:
    """Return a GET request; `{host 0}` in the target is replaced by the uuid of that name."""
    path, _, query = re.sub(r"\{(.+?)\}", lambda name: uuid_of(name[1]), target).partition("?")
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return read("question", path, at(minor), [(key, value) for key, _, value in pairs])
