# SPDX-License-Identifier: Apache-2.0

"""The private Galera cluster of the tests can be killed, node by node and as a whole, and keeps its data."""

from __future__ import annotations

from tests.support.databases import need
from tests.support.servers import GaleraCluster, Server


def rows(node: Server) -> set[int]:
    return {row[0] for row in node.run_sql("SELECT a FROM t", database="test")}


def test_a_killed_node_of_a_cluster_restarts_and_gets_the_missing_rows() -> None:
    need(GaleraCluster)
    with GaleraCluster(durable=False) as cluster:
        cluster.create_database("test")
        cluster.run_sql("CREATE TABLE t (a INTEGER PRIMARY KEY)", database="test")
        cluster.nodes[1].kill()
        cluster.wait_until_synced()
        cluster.nodes[2].run_sql("INSERT INTO t VALUES (1)", database="test")
        cluster.start()
        assert rows(cluster.nodes[1]) == {1}
        cluster.kill()
        cluster.start()
        assert [rows(node) for node in cluster.nodes] == [{1}] * 3
