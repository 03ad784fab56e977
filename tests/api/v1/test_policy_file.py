# SPDX-License-Identifier: Apache-2.0

"""The operator's policy file decides about the Plimsoll API too."""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll.access.policy_rules import V1_RULES
from plimsoll.api.v1.routes import ROUTES
from tests.api.v1.roles import call_as
from tests.support.api import api

USAGE = "/plimsoll/v1/usage"
HARDENING = Path(__file__).parents[3] / "docs" / "guides" / "hardening.md"


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


def test_the_rules_of_the_hardening_guide_leave_nothing_to_readers(tmp_path: Path) -> None:
    (rules,) = re.findall(r"^```yaml\n(.*?)^```$", HARDENING.read_text(), re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^\"(\S+)\":", rules, re.MULTILINE)) == {
        rule.name for rule in V1_RULES if rule.name != "plimsoll:projects:all"
    }
    policy = tmp_path / "policy.yaml"
    policy.write_text(rules)
    with api(tmp_path / "placement.sqlite", oslo_policy__policy_file=str(policy)) as client:
        for route in ROUTES:
            if route.rule is not None:
                assert call_as(client, "reader,member", route.path).status == 403
                assert call_as(client, "admin", route.path).status != 403
