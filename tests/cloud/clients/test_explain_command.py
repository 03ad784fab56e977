# SPDX-License-Identifier: Apache-2.0

"""`plimsoll explain` with real credentials: OS_* variables and clouds.yaml, the catalog's endpoint, roles, failures."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cloud.clients.openstack import REFERENCE_REGION, ROOT, client_environment
from tests.cloud.keystone import ADMIN, BIN, Keystone, User
from tests.cloud.services import Plimsoll
from tests.support import sample_cloud
from tests.support.waiting import eventually

SMALL, HUGE = "resources=VCPU:1,MEMORY_MB:256", "resources=VCPU:1000"


@pytest.fixture(scope="module", autouse=True)
def cloud(keystone: Keystone, plimsoll: Plimsoll) -> None:
    sample_cloud.create_at(plimsoll.url, keystone.token())


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the packages of `.venv-cloud`, which has openstacksdk."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.run(
        [BIN / "python", "-m", "plimsoll.cli", *words],
        env={**client_environment({}), "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_catalog_and_the_variables_are_enough(keystone: Keystone, users: dict[str, User]) -> None:
    for user in (ADMIN, users["reader"]):
        environment = keystone.environment(user)
        found = run(environment, "explain", SMALL)
        assert (found.returncode, found.stderr) == (0, "")
        never = run(environment, "explain", "--json", HUGE)
        assert never.returncode == 4, never.stderr
        assert json.loads(never.stdout)["verdict"] == "never"


def test_clouds_yaml_is_read(keystone: Keystone, tmp_path: Path) -> None:
    variables = keystone.environment()
    auth = {
        name: variables[f"OS_{name.upper()}"]
        for name in (
            "auth_url",
            "username",
            "password",
            "project_name",
            "user_domain_name",
            "project_domain_name",
        )
    }
    cloud = {"auth": auth, "region_name": variables["OS_REGION_NAME"], "identity_api_version": "3"}
    (tmp_path / "clouds.yaml").write_text(json.dumps({"clouds": {"harbour": cloud}}))
    environment = {"OS_CLIENT_CONFIG_FILE": str(tmp_path / "clouds.yaml")}
    found = run(environment, "explain", "--os-cloud", "harbour", SMALL)
    assert (found.returncode, found.stderr) == (0, "")
    assert run({**environment, "OS_CLOUD": "harbour"}, "explain", SMALL).stdout == found.stdout
    missing = run(environment, "explain", "--os-cloud", "elsewhere", SMALL)
    assert missing.returncode == 2
    assert "elsewhere" in missing.stderr
    assert missing.stderr.count("\n") == 1


def test_a_caller_without_a_role_gets_one_line(keystone: Keystone, users: dict[str, User]) -> None:
    refused = run(keystone.environment(users["bystander"]), "explain", SMALL)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "403 Forbidden: Policy does not allow plimsoll:explain:show" in refused.stderr


@pytest.mark.parametrize(
    ("changed", "words", "text"),
    [
        ({"OS_PASSWORD": "wrong"}, (), "Authentication failed"),
        ({}, ("--os-region-name", "nowhere"), "catalog"),
        ({}, ("--os-region-name", REFERENCE_REGION), "is this service Plimsoll?"),
    ],
)
@pytest.mark.usefixtures("reference")
def test_a_failure_is_one_line(
    keystone: Keystone, changed: dict[str, str], words: tuple[str, ...], text: str
) -> None:
    failed = run({**keystone.environment(), **changed}, "explain", *words, SMALL)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert text in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_a_token_with_its_url_is_enough(keystone: Keystone, plimsoll: Plimsoll) -> None:
    environment = {"OS_TOKEN": keystone.token()}
    assert run(environment, "explain", "--url", plimsoll.url, SMALL).returncode == 0
    wrong = run({}, "explain", "--url", plimsoll.url, SMALL)
    assert wrong.returncode == 1
    assert "401" in wrong.stderr
    assert wrong.stderr.count("\n") == 1


def test_why_shows_searches_of_nova_to_administrators(
    keystone: Keystone, plimsoll: Plimsoll, users: dict[str, User]
) -> None:
    request_id = "req-7c0f5f0e-3a5d-4f5c-9d54-2f1a0b6e8c33"
    nova = keystone.token(users["service"])
    searched = plimsoll.send("GET", f"/allocation_candidates?{HUGE}", nova, x_openstack_request_id=request_id)
    assert searched.json["allocation_requests"] == []
    assert eventually(lambda: run(keystone.environment(), "why", request_id).returncode == 4)
    shown = run(keystone.environment(), "why", request_id)
    assert shown.stderr == ""
    assert "VCPU" in shown.stdout
    hidden = run(keystone.environment(users["reader"]), "why", request_id)
    assert (hidden.returncode, hidden.stdout) == (1, "")
    assert "for administrators" in hidden.stderr
