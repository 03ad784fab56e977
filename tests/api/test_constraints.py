# SPDX-License-Identifier: Apache-2.0

"""A CHECK constraint that an operator has added to the tables."""

import pytest

from tests.support.api import api
from tests.support.databases import Databases, run_sql

HOST = "10000000-0000-0000-0000-000000000001"


def test_a_violation_of_an_added_constraint_is_a_400_that_names_the_cause(databases: Databases) -> None:
    if databases.engine == "sqlite":
        pytest.skip("SQLite cannot add a constraint to a table")
    with databases.fresh() as url, api(url) as client:
        client.host(HOST, VCPU=10)
        run_sql(url, "ALTER TABLE inventories ADD CONSTRAINT only_small CHECK (total < 1000)")
        body = {"resource_provider_generation": 1, "inventories": {"VCPU": {"total": 1000}}}
        response = client.put(f"/resource_providers/{HOST}/inventories", body)
        assert response.status == 400
        assert "A CHECK constraint of the database refused" in response.detail
        assert client.put(f"/resource_providers/{HOST}/inventories", body | {"inventories": {}}).status == 200
