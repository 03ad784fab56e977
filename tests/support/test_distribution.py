# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from tests.support.distribution import unit_of


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        ("tests/a/test_b.py::test_c", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[fast]", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[sqlite]", "tests/a/test_b.py on sqlite"),
        ("tests/a/test_b.py::Class::test_c[mariadb-fast]", "tests/a/test_b.py on mariadb"),
        ("tests/a/test_b.py::test_c[x-postgresql-fast]", "tests/a/test_b.py on postgresql"),
        ("tests/a/test_b.py::test_mariadb[mysql://x]", "tests/a/test_b.py"),
    ],
)
def test_tests_of_a_module_on_one_engine_are_a_unit(nodeid: str, unit: str) -> None:
    assert unit_of(nodeid) == unit
