# SPDX-License-Identifier: Apache-2.0

"""SQL text of inserts, updates, deletes and queries."""

from datetime import datetime

import pytest
from sqlalchemy import Dialect, make_url

from plimsoll.storage import sql as s
from plimsoll.storage import tables as t
from plimsoll.storage.sql import Columns, Statement


def dialect_of(name: str) -> Dialect:
    return make_url(f"{name}://").get_dialect()()


DIALECT = dialect_of("mysql+pymysql")
TRAITS = Columns(t.traits, ("id", "name"))
CONSUMERS = Columns(t.consumers, ("uuid", "project_id", "user_id"))


def test_rows_are_inserted_with_one_statement() -> None:
    (statement,) = s.insert_rows(DIALECT, TRAITS, [(1, "a"), (2, "b")])
    assert statement == ("INSERT INTO traits (id, name) VALUES (%s, %s), (%s, %s)", [1, "a", 2, "b"])


def test_one_row_is_updated_by_its_key() -> None:
    (statement,) = s.update_rows(DIALECT, CONSUMERS, [("a", 1, 2)], ("updated_at", "now"))
    assert statement == (
        "UPDATE consumers SET project_id = %s, user_id = %s, updated_at = %s WHERE uuid = %s",
        [1, 2, "now", "a"],
    )


def test_several_rows_are_updated_with_one_statement() -> None:
    (statement,) = s.update_rows(DIALECT, CONSUMERS, [("a", 1, 2), ("b", 3, 4)], ("updated_at", "now"))
    assert statement == (
        "UPDATE consumers SET project_id = CASE uuid WHEN %s THEN %s WHEN %s THEN %s ELSE project_id END,"
        " user_id = CASE uuid WHEN %s THEN %s WHEN %s THEN %s ELSE user_id END,"
        " updated_at = %s WHERE uuid IN (%s, %s)",
        ["a", 1, "b", 3, "a", 2, "b", 4, "now", "a", "b"],
    )


def test_rows_are_deleted_by_their_keys() -> None:
    (statement,) = s.delete_by_key(DIALECT, t.traits, "name", ["a", "b"])
    assert statement == ("DELETE FROM traits WHERE name IN (%s, %s)", ["a", "b"])
    where = {"trait_id": [1, 2], "resource_provider_id": [3]}
    assert s.delete_where(DIALECT, t.resource_provider_traits, where) == [
        (
            "DELETE FROM resource_provider_traits WHERE trait_id IN (%s, %s) AND resource_provider_id IN (%s)",
            [1, 2, 3],
        )
    ]


def test_a_query_has_a_placeholder_for_each_value() -> None:
    sql = "SELECT id FROM traits WHERE name IN (...) ORDER BY id"
    assert (
        s.query(dialect_of("sqlite"), sql, ["a"]).sql == "SELECT id FROM traits WHERE name IN (?) ORDER BY id"
    )
    assert s.query(DIALECT, sql, ["a", "b"]) == (
        "SELECT id FROM traits WHERE name IN (%s, %s) ORDER BY id",
        ["a", "b"],
    )


@pytest.mark.parametrize("count", [s.MAX_PARAMETERS, s.MAX_PARAMETERS + 1])
def test_no_statement_exceeds_the_maximum_of_parameters(count: int) -> None:
    pairs = [(number, f"name {number}") for number in range(count)]
    triples = [(f"uuid {number}", number, 2 * number) for number in range(count)]
    added = s.insert_rows(DIALECT, TRAITS, pairs)
    changed = s.update_rows(DIALECT, CONSUMERS, triples, ("updated_at", "now"))
    removed = s.delete_by_key(DIALECT, t.traits, "name", [name for _, name in pairs])
    assert [value for each in added for value in each.values] == [value for pair in pairs for value in pair]
    assert [value for each in removed for value in each.values] == [name for _, name in pairs]
    keys = [value for each in changed for value in each.values[each.values.index("now") + 1 :]]
    assert keys == [uuid for uuid, _, _ in triples]
    for statement in (*added, *changed, *removed):
        assert len(statement.values) == statement.sql.count("%s") <= s.MAX_PARAMETERS + 1


@pytest.mark.parametrize(
    ("database", "expected"),
    [
        ("sqlite", ["2026-11-16 01:02:03.000000", "2026-11-16 01:02:03.000004"]),
        ("mysql+pymysql", ["2026-11-16 01:02:03", "2026-11-16 01:02:03.000004"]),
        ("postgresql+psycopg", ["2026-11-16 01:02:03", "2026-11-16 01:02:03.000004"]),
    ],
)
def test_a_time_is_formatted_as_the_database_parses_it(database: str, expected: list[str]) -> None:
    times = datetime(2026, 11, 16, 1, 2, 3), datetime(2026, 11, 16, 1, 2, 3, 4)
    assert [s.format_time(dialect_of(database), time) for time in times] == expected


def test_a_statement_may_have_no_values() -> None:
    assert Statement("SELECT 1") == ("SELECT 1", ())
