# SPDX-License-Identifier: Apache-2.0

"""Which of our texts count as equal to the reference's."""

import pytest

from tests.differential.wording import same_meaning

FRAME = "There was a conflict when trying to complete your request.\n\n "
SCHEMA = " Failed validating 'minimum' in schema['properties']['total']"
THEIRS = f"JSON does not validate: 0 is less than the minimum of 1\n\n{SCHEMA}:\n    {{'minimum': 1}}\n\nOn instance['total']:\n    0"


@pytest.mark.parametrize(
    ("reference", "ours", "same"),
    [
        (f"{FRAME}conflict  ", f"{FRAME}conflict. Its generation is 3.  ", True),
        (f"{FRAME}conflict.  ", f"{FRAME}conflict. Its generation is 3.  ", True),
        (f"{FRAME}conflict  ", f"{FRAME}conflict\nIts generation is 3.  ", False),
        (f"{FRAME}conflict  ", f"{FRAME}another conflict. Its generation is 3.  ", False),
        ("Not found.\n\n   ", "Not found.\n\n Since 1.6.  ", True),
        ("No such trait: AAAAAA.", "No such trait: AAA... (6 characters).", True),
        ("No such trait: AAAAAA.", "No such trait: B... (6 characters).", False),
        (THEIRS, f"total: JSON does not validate: 0 is less than the minimum of 1.{SCHEMA}", True),
        (THEIRS, f"total: JSON does not validate: 1 is less than the minimum of 1.{SCHEMA}", False),
        (
            THEIRS,
            "total: JSON does not validate: 0 is less than the minimum of 1. Failed validating 'type' in schema",
            False,
        ),
    ],
)
def test_only_appended_facts_and_shortened_quotes_are_allowed(reference: str, ours: str, same: bool) -> None:
    assert same_meaning(reference, ours) is same
