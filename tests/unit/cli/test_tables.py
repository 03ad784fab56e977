# SPDX-License-Identifier: Apache-2.0

"""Tables have the format of PrettyTable, at all widths."""

from __future__ import annotations

from plimsoll.cli import tables


def test_cells_are_centred() -> None:
    assert tables.centred(("Odd", "Long name"), [("a", 1), ("bc", 22), ("wider", 333)]).splitlines() == [
        "+-------+-----------+",
        "|  Odd  | Long name |",
        "+-------+-----------+",
        "|   a   |     1     |",
        "|   bc  |     22    |",
        "| wider |    333    |",
        "+-------+-----------+",
    ]


def test_odd_padding_moves_texts_of_even_length_right_and_of_odd_length_left() -> None:
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
