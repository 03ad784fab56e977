# SPDX-License-Identifier: Apache-2.0

"""The operator's policy file decides about the Plimsoll API too."""

from __future__ import annotations

from pathlib import Path

from tests.api.v1.roles import call_as
from tests.support.api import api

USAGE = "/plimsoll/v1/usage"


def test_rules_can_be_overridden(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text('"plimsoll:providers:list": "role:auditor"\n"plimsoll:projects:all": "role:auditor"\n')
    with api(tmp_path / "placement.sqlite", oslo_policy__policy_file=str(policy)) as client:
        roles = ("auditor", "reader", "admin")
        assert [call_as(client, role, "/plimsoll/v1/providers").status for role in roles] == [200, 403, 403]
        other = f"{USAGE}?group_by=user&project=looms"
        assert [call_as(client, role, other).status for role in ("admin", "auditor,reader")] == [403, 200]


def test_a_refusal_names_the_rule(tmp_path: Path) -> None:
    with api(tmp_path / "placement.sqlite") as client:
        response = call_as(client, "member", USAGE)
    assert response.status == 403
    assert "Policy does not allow plimsoll:usage:show to be performed." in response.detail
