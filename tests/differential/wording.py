# SPDX-License-Identifier: Apache-2.0

"""Allowed differences between the texts of our refusals and the reference's.

Status, title and code are compared elsewhere and must be equal.
"""

import re
from collections import Counter

_SCHEMA = re.compile(
    r"(?P<refusal>JSON does not validate|Invalid query string parameters|Bad inventory \S+ for resource provider \S+?)"
    r": (?P<message>.*?)\.?\s+Failed validating '(?P<keyword>\w+)' in schema(?P<schema>(?:\['?.*?'?\])*?)(?P<rest>$|\s|:)",
    re.DOTALL,
)
_SHORTENED = re.compile(r"\.\.\. \(\d+ characters\)")


def same_meaning(reference: str, ours: str) -> bool:
    return (
        same_tokens(reference, ours)
        or appends_facts(reference, ours)
        or shortens_quote(reference, ours)
        or same_violation(reference, ours)
        or refuses_any_traits_of_roots(reference, ours)
    )


def same_tokens(one: str, other: str) -> bool:
    """True if equal up to the order of listed items: sets are printed in any order."""
    return one == other or _token_counts(one) == _token_counts(other)


def appends_facts(reference: str, ours: str) -> bool:
    """True if ours is the reference's sentence plus facts, all in the last line, which some clients show alone."""
    sentence, actual_text = _single_spaced(reference).rstrip("."), _single_spaced(ours)
    if not sentence or not actual_text.startswith(sentence):
        return False
    facts = actual_text[len(sentence) :].lstrip(". ")
    expected, actual = (
        _single_spaced(reference.split("\n")[-1]).rstrip("."),
        _single_spaced(ours.rstrip().split("\n")[-1]),
    )
    return actual.startswith(expected) and actual.endswith(facts)


def shortens_quote(reference: str, ours: str) -> bool:
    """True if ours is the reference's text with one long quote shortened."""
    expected_text, actual_text = _single_spaced(reference), _single_spaced(ours)
    shortened = _SHORTENED.search(actual_text)
    return (
        shortened is not None
        and expected_text.startswith(actual_text[: shortened.start()])
        and expected_text.endswith(actual_text[shortened.end() :])
    )


def same_violation(reference: str, ours: str) -> bool:
    """True for the same schema violation: ours names the property first, without the schema and the document."""
    expected, actual = _SCHEMA.search(reference), _SCHEMA.search(ours)
    if expected is None or actual is None:
        return False
    if any(expected[part] != actual[part] for part in ("refusal", "keyword", "schema")):
        return False
    expected_text, actual_text = expected["message"], actual["message"]
    return same_tokens(expected_text, actual_text) or shortens_quote(expected_text, actual_text)


def refuses_any_traits_of_roots(reference: str, ours: str) -> bool:
    """True for `root_required=in:...`, where the reference recommends the version that the request already uses."""
    return (
        "The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' only supported since microversion 1.39" in reference
        and (
            "'root_required' does not support the format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' at any microversion"
            in ours
        )
    )


def _single_spaced(text: str) -> str:
    return " ".join(text.split())


def _token_counts(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\s,;{}()\[\]'\":]+", text))
