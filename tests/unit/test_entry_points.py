# SPDX-License-Identifier: Apache-2.0

"""The entry points for the commands of oslo.config and oslo.policy."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from plimsoll.access.policy_rules import list_rules

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the current entry points of pyproject.toml: those of the environment may be older."""
    place = tmp_path_factory.mktemp("metadata")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = place / f"plimsoll_placement-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
            for group, entries in project["entry-points"].items()
        )
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    path = os.pathsep.join([str(place), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return clean | {"PYTHONPATH": path, "HOME": str(place), "XDG_CACHE_HOME": str(place)}


def run(environment: dict[str, str], tool: str, *arguments: str) -> str:
    ran = subprocess.run(
        [BIN / tool, "--namespace", "plimsoll", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_options_are_printed_by_oslo_s_generator(environment: dict[str, str]) -> None:
    printed = run(environment, "oslo-config-generator", "--namespace", "oslo.middleware.cors")
    assert "\n#threads = 16\n" in printed
    assert "\n#allow_methods = GET,PUT,POST,DELETE,PATCH\n" in printed, "our defaults, not the library's"


def test_the_rules_are_printed_by_oslo_s_generator(environment: dict[str, str]) -> None:
    printed = run(environment, "oslopolicy-sample-generator")
    assert [rule.name for rule in list_rules() if f'#"{rule.name}": "{rule.check_str}"' not in printed] == []


def test_oslo_s_tools_see_the_rules_with_the_operator_s_changes(
    environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        '"placement:traits:list": "role:reader"\n"placement:traits:show": "rule:admin_or_service_api"\n'
    )
    environment = environment | {"OS_OSLO_POLICY__POLICY_FILE": str(file)}
    merged = yaml.safe_load(run(environment, "oslopolicy-policy-generator"))
    assert merged["placement:traits:list"] == "role:reader"
    assert merged["placement:usages"] == "rule:admin_or_project_reader_or_service_api"
    redundant = yaml.safe_load(run(environment, "oslopolicy-list-redundant"))
    assert redundant == {"placement:traits:show": "rule:admin_or_service_api"}
