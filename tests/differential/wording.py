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
    return same_words(reference, ours) or appends_facts(reference, ours) or same_violation(reference, ours)


def same_words(one: str, other: str) -> bool:
    """Equal up to the order of what is listed: sets are printed in any order."""
    return one == other or _bag(one) == _bag(other)


def appends_facts(reference: str, ours: str) -> bool:
    """The reference's sentence, then facts in the same line."""
    sentence = reference.rstrip().rstrip(".")
    return bool(sentence) and ours.startswith(sentence) and "\n" not in ours[len(sentence) :]


def same_violation(reference: str, ours: str) -> bool:
    """The refusal of a schema: ours names the property first, and prints neither the schema nor the document."""
    there, here = _SCHEMA.search(reference), _SCHEMA.search(ours)
    if there is None or here is None:
        return False
    if any(there[part] != here[part] for part in ("refusal", "keyword", "schema")):
        return False
    said, says = " ".join(there["message"].split()), " ".join(here["message"].split())
    cut = _CUT.search(says)
    if cut is None:
        return same_words(said, says)
    return said.startswith(says[: cut.start()]) and said.endswith(says[cut.end() :])


def _bag(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\s,;{}()\[\]'\":]+", text))
