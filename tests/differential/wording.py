# SPDX-License-Identifier: Apache-2.0

"""How the words of our refusals may differ from the reference's: in these ways, and in no other.

Status, title and code are compared elsewhere and have to be equal.
"""

import re
from collections import Counter

_SCHEMA = re.compile(
    r"(?P<refusal>JSON does not validate|Invalid query string parameters|Bad inventory \S+ for resource provider \S+?)"
    r": (?P<message>.*?)\.?\s+Failed validating '(?P<keyword>\w+)' in schema(?P<schema>(?:\['?.*?'?\])*?)(?P<rest>$|\s|:)",
    re.DOTALL,
)
_CUT = re.compile(r"\.\.\. \(\d+ characters\)")


def same_meaning(reference: str, ours: str) -> bool:
    return (
        same_words(reference, ours)
        or appends_facts(reference, ours)
        or cuts_quotes(reference, ours)
        or same_violation(reference, ours)
        or refuses_any_traits_of_roots(reference, ours)
    )


def same_words(one: str, other: str) -> bool:
    """Equal up to the order of what is listed: sets are printed in any order."""
    return one == other or _bag(one) == _bag(other)


def appends_facts(reference: str, ours: str) -> bool:
    """The reference's sentence, then facts that are all in the last line, which some clients show alone."""
    sentence, says = _plain(reference).rstrip("."), _plain(ours)
    if not sentence or not says.startswith(sentence):
        return False
    facts = says[len(sentence) :].lstrip(". ")
    there, here = _plain(reference.split("\n")[-1]).rstrip("."), _plain(ours.rstrip().split("\n")[-1])
    return here.startswith(there) and here.endswith(facts)


def cuts_quotes(reference: str, ours: str) -> bool:
    """The reference's words, with one long quote cut."""
    said, says = _plain(reference), _plain(ours)
    cut = _CUT.search(says)
    return cut is not None and said.startswith(says[: cut.start()]) and said.endswith(says[cut.end() :])


def same_violation(reference: str, ours: str) -> bool:
    """The refusal of a schema: ours names the property first, and prints neither the schema nor the document."""
    there, here = _SCHEMA.search(reference), _SCHEMA.search(ours)
    if there is None or here is None:
        return False
    if any(there[part] != here[part] for part in ("refusal", "keyword", "schema")):
        return False
    said, says = there["message"], here["message"]
    return same_words(said, says) or cuts_quotes(said, says)


def refuses_any_traits_of_roots(reference: str, ours: str) -> bool:
    """`root_required=in:...`: the reference advises to use the version that is in use."""
    return (
        "The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' only supported since microversion 1.39" in reference
        and (
            "'root_required' does not support the format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' at any microversion"
            in ours
        )
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def _bag(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\s,;{}()\[\]'\":]+", text))
