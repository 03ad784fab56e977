# SPDX-License-Identifier: Apache-2.0

"""Caches of what clients send."""

from plimsoll.caches import cache_short


def test_a_short_text_is_computed_once_and_a_long_one_is_not_kept() -> None:
    computed: list[str] = []

    @cache_short(entries=2, longest=10)
    def length(text: str) -> int:
        computed.append(text)
        return len(text)

    assert [length("short"), length("short"), length("x" * 11), length("x" * 11)] == [5, 5, 11, 11]
    assert computed == ["short", "x" * 11, "x" * 11]


def test_the_oldest_entry_makes_room_for_a_new_one() -> None:
    computed: list[str] = []

    @cache_short(entries=2)
    def keep(text: str) -> None:
        computed.append(text)

    for text in ("a", "b", "c", "a"):
        keep(text)
    assert computed == ["a", "b", "c", "a"]
