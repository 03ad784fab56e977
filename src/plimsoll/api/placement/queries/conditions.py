# SPDX-License-Identifier: Apache-2.0

"""Parsers of the parameters that several queries share: resources, required, member_of and in_tree.

Each function parses the values of one parameter, or raises a `Problem` with the text of the reference. The service
checks later whether the named traits and classes exist.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.uuids import is_uuid
from plimsoll.domain.inventory import MAX_INT
from plimsoll.http.problems import Problem
from plimsoll.search.request import AnyOf

_RESOURCES_FORM = (
    "Badly formed resources parameter. Expected resources query string parameter in form:"
    " ?resources=VCPU:2,MEMORY_MB:1024. Got: {}."
)
_REQUIRED_FORM = "Invalid query string parameters: Expected 'required' parameter value of the form: "
ANY_TRAITS_FORM = "in:HW_CPU_X86_VMX,CUSTOM_MAGIC"
_TRAITS_FORM = "HW_CPU_X86_VMX,CUSTOM_MAGIC"
_FORBIDDEN_FORM = "HW_CPU_X86_VMX,!CUSTOM_MAGIC"

Names = tuple[tuple[AnyOf, ...], frozenset[str]]
"""Required traits or aggregates, one of each set, and forbidden ones."""


def resources(value: str) -> dict[str, int]:
    """Return the amounts by resource class: `VCPU:2,MEMORY_MB:1024`."""
    if not value.strip():
        raise Problem(400, _RESOURCES_FORM.format("empty string"))
    amounts: dict[str, int] = {}
    for part in value.split(","):
        name, colon, text = part.partition(":")
        if not colon or ":" in text:
            raise Problem(400, _RESOURCES_FORM.format(part))
        amounts[name] = _amount(name, text)
    return amounts


def _amount(name: str, text: str) -> int:
    try:
        amount = int(text)
    except ValueError:
        detail = f"Requested resource {name} expected positive integer amount. Got: {text}."
        raise Problem(400, detail) from None
    if amount < 1:
        raise Problem(400, f"Requested resource {name} requires amount >= 1. Got: {amount}.")
    # The max_unit of an inventory is at most MAX_INT, so larger amounts match nothing either.
    return min(amount, MAX_INT + 1)


def required(values: Sequence[str], version: Version) -> Names:
    """Return the traits of the last value or, since ANY_TRAITS, of all values."""
    traits: list[AnyOf] = []
    forbidden: frozenset[str] = frozenset()
    for value in values if version.has(F.ANY_TRAITS) else values[-1:]:
        if value.startswith("in:"):
            traits.append(_any_of(value, version))
        else:
            more, more_forbidden = all_of(value, version)
            traits += more
            forbidden |= more_forbidden
    return tuple(traits), forbidden


def _any_of(value: str, version: Version) -> AnyOf:
    if not version.has(F.ANY_TRAITS):
        raise Problem(
            400,
            f"Invalid query string parameters: The format '{ANY_TRAITS_FORM}' only supported since microversion"
            f" {F.ANY_TRAITS.version}. Got: {value}",
        )
    names = frozenset(name.strip() for name in value[len("in:") :].split(","))
    if "" in names:
        raise Problem(400, f"{_REQUIRED_FORM}{ANY_TRAITS_FORM}. Got an empty trait in: {value}")
    if any(name.startswith("!") for name in names):
        raise Problem(
            400,
            f"Invalid query string parameters: The format '{ANY_TRAITS_FORM}' does not support forbidden"
            f" traits. Got: {value}",
        )
    return names


def all_of(value: str, version: Version) -> Names:
    """Return the traits that are all required, and the forbidden ones: they begin with one or more `!`."""
    names = [name.strip() for name in value.split(",")]
    forbidden = frozenset(name.lstrip("!") for name in names if name.startswith("!"))
    may_forbid = version.has(F.FORBIDDEN_TRAITS)
    if "" in names or "" in forbidden:
        form = _FORBIDDEN_FORM if may_forbid else _TRAITS_FORM
        raise Problem(400, f"{_REQUIRED_FORM}{form}. Got an empty trait in: {value}")
    if forbidden and not may_forbid:
        raise Problem(400, f"{_REQUIRED_FORM}{_TRAITS_FORM}. Got: {value}")
    return tuple(frozenset((name,)) for name in names if not name.startswith("!")), forbidden


def member_of(values: Sequence[str], version: Version, suffix: str = "") -> Names:
    """Return required aggregates, one of each set, and forbidden ones. `suffix` is that of the parameter's name."""
    if len(values) > 1 and not version.has(F.REPEATED_MEMBER_OF):
        raise Problem(400, f"Multiple member_of{suffix} parameters are not supported")
    wanted: list[AnyOf] = []
    forbidden: frozenset[str] = frozenset()
    for value in values:
        names, are_forbidden = _aggregates(value)
        if not are_forbidden:
            wanted.append(names)
        elif version.has(F.FORBIDDEN_AGGREGATES):
            forbidden |= names
        else:
            raise Problem(
                400, f"Forbidden member_of{suffix} parameters are not supported in the specified microversion"
            )
    return tuple(wanted), forbidden


def _aggregates(value: str) -> tuple[AnyOf, bool]:
    if "," in value and not value.startswith(("in:", "!in:")):
        raise Problem(
            400,
            "Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' keyword using the valid"
            f" microversion. Got: {value}",
        )
    listed = value.removeprefix("!")
    names = listed[len("in:") :].split(",") if listed.startswith("in:") else [listed]
    for name in names:
        if not is_uuid(name):
            raise Problem(
                400,
                "Invalid query string parameters: Expected 'member_of' parameter to contain valid UUID(s)."
                f" Got: {name}",
            )
    return frozenset(names), value.startswith("!")


def in_tree(value: str) -> str:
    """Return the uuid of a provider in the requested tree."""
    uuid = value.strip()
    if not is_uuid(uuid):
        raise Problem(
            400,
            "Invalid query string parameters: Expected 'in_tree' parameter to be a format of uuid."
            f" Got: {value}",
        )
    return uuid
