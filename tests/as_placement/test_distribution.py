# SPDX-License-Identifier: Apache-2.0

"""The metadata of plimsoll-as-placement, and its entry points under Placement's names."""

from __future__ import annotations

import tomllib
import zipfile
from configparser import ConfigParser
from email.message import Message
from email.parser import Parser

import pytest

import plimsoll
from tests.as_placement.installation import ROOT, Installation
from tests.as_placement.run_scenarios import run_scenarios
from tests.as_placement.scenarios import Scenario
from tests.storage import reference

PROJECT = tomllib.loads((ROOT / "as-placement" / "pyproject.toml").read_text())["project"]
PLIMSOLL = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(installation: Installation) -> zipfile.ZipFile:
    (file,) = installation.wheels.glob("plimsoll_as_placement-*.whl")
    return zipfile.ZipFile(file)


def part(wheel: zipfile.ZipFile, name: str) -> str:
    return wheel.read(f"plimsoll_as_placement-{PROJECT['version']}.{name}").decode()


def test_both_distributions_have_the_same_version() -> None:
    assert PROJECT["version"] == PLIMSOLL["version"] == plimsoll.__version__
    for field in ("license", "requires-python", "classifiers"):
        assert PROJECT[field] == PLIMSOLL[field]


def test_it_needs_the_plimsoll_of_its_version(wheel: zipfile.ZipFile) -> None:
    metadata: Message = Parser().parsestr(part(wheel, "dist-info/METADATA"))
    assert metadata["Name"] == "plimsoll-as-placement"
    assert f"plimsoll-placement=={PROJECT['version']}" in metadata.get_all("Requires-Dist", [])
    assert "must not be installed together with openstack-placement" in metadata.get_payload()


def test_it_has_the_reference_s_commands_and_names(wheel: zipfile.ZipFile) -> None:
    ours = entry_points(part(wheel, "dist-info/entry_points.txt"))
    found = list(
        reference.BIN.parent.glob("lib/python3*/site-packages/openstack_placement-*/entry_points.txt")
    )
    if not found:
        pytest.skip("needs the reference: run `make test`, which installs it")
    assert ours == entry_points(found[0].read_text())


def entry_points(text: str) -> dict[str, set[str]]:
    parser = ConfigParser(delimiters=("=",))
    parser.read_string(text)
    return {group: set(parser[group]) for group in parser.sections()}


def test_placement_api_is_a_script_that_the_installer_completes(
    wheel: zipfile.ZipFile, installation: Installation
) -> None:
    assert part(wheel, "data/scripts/placement-api").startswith("#!python\n")
    assert (installation.bin / "placement-api").read_text().startswith(f"#!{installation.bin}/python")


def test_the_wheel_contains_the_licence(wheel: zipfile.ZipFile) -> None:
    assert part(wheel, "dist-info/licenses/LICENSE") == (ROOT / "LICENSE").read_text()


POLICY = {
    "policy.yaml": '"placement:traits:list": "rule:admin_or_service_api"\n"placement:traits:show": "@"\n',
    "placement.conf": "[oslo_policy]\npolicy_file = policy.yaml\n",
}
OSLO_COMMANDS = [
    ["oslo-config-generator", "--namespace", "placement.conf"],
    ["oslo-config-generator", "--namespace", "plimsoll"],
    ["oslopolicy-sample-generator", "--namespace", "placement"],
    ["oslopolicy-sample-generator", "--namespace", "plimsoll"],
    ["oslopolicy-list-redundant", "--namespace", "placement"],
    ["oslopolicy-list-redundant", "--namespace", "plimsoll"],
]


def test_oslo_s_commands_accept_both_namespaces(installation: Installation) -> None:
    """The commands print samples of settings and policy, and the redundant rules of an operator's policy."""
    scenario = Scenario(list(OSLO_COMMANDS), POLICY, settings={"OS_PLACEMENT_CONFIG_DIR": "DIRECTORY"})
    outcomes = run_scenarios(installation.bin / "python", {"oslo": scenario})["oslo"]
    assert [one["status"] for one in outcomes] == [0] * len(OSLO_COMMANDS), outcomes
    printed = [one["stdout"] for one in outcomes]
    for settings in printed[:2]:
        assert "[placement_database]" in settings
        assert "#randomize_allocation_candidates = false" in settings
    for policy in printed[2:4]:
        assert '#"placement:reshaper:reshape": "rule:service_api"' in policy
    for redundant in printed[4:]:
        assert redundant.strip() == '"placement:traits:list": "rule:admin_or_service_api"'
