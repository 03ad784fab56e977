# SPDX-License-Identifier: Apache-2.0

"""The text of each suggested change of a request."""

from __future__ import annotations

from plimsoll.search.explain.query_text import listed
from plimsoll.search.relax.changes import Relaxed, RequestChange
from plimsoll.search.relax.relaxations import Relaxation


def sentence(relaxation: Relaxation) -> str:
    """Return what to change and what it gives: "VCPU 16 to 14: 3 hosts"."""
    number = relaxation.found.hosts
    hosts = f"{number} host{'' if number == 1 else 's'}"
    return f"{' and '.join(map(_change, relaxation.changes))}: {hosts}"


def _change(change: RequestChange) -> str:
    names = listed(change.names)
    group = f" in group {change.suffix}" if change.suffix else ""
    match change.kind:
        case Relaxed.AMOUNT:
            return f"{change.resource_class} {change.amount} to {change.new_amount}{group}"
        case Relaxed.RESOURCE_CLASS:
            return f"without {change.resource_class}{group}"
        case Relaxed.GROUP:
            return f"without group {change.suffix}" if change.suffix else "without the group without suffix"
        case Relaxed.REQUIRED | Relaxed.ROOT_REQUIRED:
            root = " on the root" if change.kind == Relaxed.ROOT_REQUIRED else ""
            one_of = "one of " if len(change.names) > 1 else ""
            return f"without {one_of}{names}{root}{group}"
        case Relaxed.FORBIDDEN | Relaxed.ROOT_FORBIDDEN:
            return f"with {names} allowed{group}"
        case Relaxed.MEMBER_OF:
            return f"outside aggregate {names}{group}"
        case Relaxed.NOT_MEMBER_OF:
            return f"with aggregate {names} allowed{group}"
        case Relaxed.IN_TREE:
            return f"outside the tree of {names}{group}"
        case Relaxed.SAME_SUBTREE:
            return f"without same_subtree={names.replace(', ', ',')}"
        case Relaxed.ISOLATE:
            return "with group_policy=none"
