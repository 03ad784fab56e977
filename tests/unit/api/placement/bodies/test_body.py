# SPDX-License-Identifier: Apache-2.0

"""Bodies are parsed as JSON, with the numbers and keys that the client has written."""

import pytest

from plimsoll.api.placement.bodies.providers import CREATE_PROVIDER
from plimsoll.api.placement.microversion import HIGHEST
from plimsoll.http.problems import Problem


def test_integers_stay_integers() -> None:
    """An integer of any length stays an integer, and errors quote it as sent."""
    with pytest.raises(Problem) as raised:
        CREATE_PROVIDER.read(b'{"name": 12345678901234567890123}', HIGHEST)
    assert "12345678901234567890123 is not of type 'string'" in raised.value.detail


def test_the_last_of_two_equal_keys_is_used() -> None:
    assert CREATE_PROVIDER.read(b'{"name": "a", "name": "b"}', HIGHEST) == {"name": "b"}


def test_bytes_that_are_not_utf_8_are_malformed() -> None:
    with pytest.raises(Problem, match="Malformed JSON: 'utf-8' codec can't decode byte 0xff"):
        CREATE_PROVIDER.read(b'{"name": "\xff"}', HIGHEST)
