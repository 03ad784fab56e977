# SPDX-License-Identifier: Apache-2.0

"""Tables come out as PrettyTable draws them, whatever their widths."""

from __future__ import annotations

from plimsoll.cli import tables


def test_cells_stand_in_the_middle_of_their_column() -> None:
    assert tables.centred(("Odd", "Long name"), [("a", 1), ("bc", 22), ("wider", 333)]).splitlines() == [
        "+-------+-----------+",
        "|  Odd  | Long name |",
        "+-------+-----------+",
        "|   a   |     1     |",
        "|   bc  |     22    |",
        "| wider |    333    |",
        "+-------+-----------+",
    ]


def test_where_the_middle_lies_between_two_places_even_texts_go_right_and_odd_ones_left() -> None:
    assert tables.centred(("Even", "x"), [("abc", 1), ("bc", 22), ("a", 333)]).splitlines() == [
        "+------+-----+",
        "| Even |  x  |",
        "+------+-----+",
        "| abc  |  1  |",
        "|  bc  |  22 |",
        "|  a   | 333 |",
        "+------+-----+",
    ]


def test_a_cell_of_several_lines_keeps_them() -> None:
    assert tables.boxed("Title", ["one\ntwo longer", "three"]).splitlines() == [
        "+------------+",
        "| Title      |",
        "+------------+",
        "| one        |",
        "| two longer |",
        "+------------+",
        "| three      |",
        "+------------+",
    ]
