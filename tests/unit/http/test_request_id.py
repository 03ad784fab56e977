# SPDX-License-Identifier: Apache-2.0

"""Ids of requests."""

import re

from plimsoll.http.request_id import new_request_id


def test_an_id_is_a_random_uuid_of_version_4_after_its_prefix() -> None:
    made = {new_request_id() for _ in range(100)}
    assert len(made) == 100
    form = re.compile(r"req-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}")
    assert all(form.fullmatch(each) for each in made)
