# SPDX-License-Identifier: Apache-2.0

"""The amounts that an explanation names are those of the hosts that it counts."""

from __future__ import annotations

import pytest

from tests.support import sample_cloud
from tests.support.api import Api

pytestmark = pytest.mark.one_engine("explanations read the snapshot in memory")


@pytest.fixture
def cloud(client: Api) -> Api:
    def send(method: str, path: str, body: object) -> tuple[int, object]:
        response = client.call(method, path, body) if body is not None else client.call(method, path)
        return response.status, response.json if response.body else None

    sample_cloud.create(send)
    return client


def test_the_largest_free_amount_is_of_the_hosts_that_have_the_trait(cloud: Api) -> None:
    """node-02, which lacks the trait, has more free than any host that has it."""
    query = "resources=VCPU:8,MEMORY_MB:98304&required=HW_CPU_X86_AVX512F"
    summary = cloud.get(f"/plimsoll/v1/explain?{query}").json["summary"]
    assert "3 have too little MEMORY_MB (98304 wanted, at most 30720 free)" in summary
