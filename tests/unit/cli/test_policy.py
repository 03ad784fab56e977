# SPDX-License-Identifier: Apache-2.0

"""`plimsoll policy`: rules in force with their places, a caller's rights, and mistakes with their lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from plimsoll.access.policy_rules import RULES, list_rules
from plimsoll.cli import main

LIST, USAGES = "placement:traits:list", "placement:usages"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OS_PLACEMENT_CONFIG_DIR", str(tmp_path))
    (tmp_path / "placement.conf").touch()
    return tmp_path


@pytest.fixture
def file(directory: Path) -> Path:
    return directory / "policy.yaml"


def policy(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["policy", *arguments])


def listed() -> dict[str, dict[str, Any]]:
    done = policy("list", "--json")
    assert done.exit_code == 0, done.output
    return {rule["name"]: rule for rule in json.loads(done.stdout)}


def test_without_a_file_every_rule_has_its_default() -> None:
    rules = listed()
    assert {name: rule["check"] for name, rule in rules.items()} == {
        rule.name: rule.check_str for rule in list_rules()
    }
    assert {(rule["origin"], rule["place"]) for rule in rules.values()} == {("default", None)}
    assert rules[USAGES]["operations"] == ["GET /usages"]


def test_a_rule_of_the_operators_is_shown_with_file_and_line(file: Path) -> None:
    file.write_text(f'# ours\n\n"{LIST}": "rule:crew"\n"crew": "role:sailor"\n')
    rules = listed()
    assert (rules[LIST]["check"], rules[LIST]["origin"]) == ("rule:crew", "file")
    assert rules[LIST]["place"] == f"{file}:3"
    assert (rules["crew"]["check"], rules["crew"]["place"]) == ("role:sailor", f"{file}:4")
    assert rules[USAGES]["origin"] == "default"


def test_the_last_of_several_files_is_in_force(file: Path, directory: Path) -> None:
    (directory / "policy.d").mkdir()
    file.write_text(f'"{LIST}": "role:a"\n"{USAGES}": "role:a"\n')
    (directory / "policy.d" / "10.yaml").write_text(f'"{LIST}": "role:b"\n')
    (directory / "policy.d" / "20.yaml").write_text(f'"{LIST}": "role:c"\n')
    rules = listed()
    assert rules[LIST]["place"] == f"{directory}/policy.d/20.yaml:1"
    assert rules[USAGES]["place"] == f"{file}:2"


def test_an_override_by_the_deprecated_name_is_distinguished_from_one_by_the_new_name(file: Path) -> None:
    file.write_text('"rule:admin_api": "role:operator"\n"service_api": "role:robot"\n')
    rules = listed()
    found = {name: (rules[name]["check"], rules[name]["origin"], rules[name]["place"]) for name in rules}
    assert found["admin_or_service_api"] == ("role:operator", "deprecated override", f"{file}:1")
    assert found["service_api"] == ("role:robot", "file", f"{file}:2")
    assert "rule:admin_api" not in rules


def test_old_defaults_that_are_also_in_force_are_shown(directory: Path) -> None:
    (directory / "placement.conf").write_text("[oslo_policy]\nenforce_new_defaults = false\n")
    service = listed()["service_api"]
    assert (service["check"], service["origin"]) == ("(role:service or role:admin)", "default, old one too")


def test_the_table_has_a_line_for_every_operation() -> None:
    shown = policy("list").stdout
    operations = [f"{each['method']} {each['path']}" for rule in RULES for each in rule.operations]
    assert [operation for operation in operations if operation not in shown] == []


def test_the_sample_changes_nothing_and_has_every_default(file: Path) -> None:
    sample = policy("sample").stdout
    assert yaml.safe_load(sample) is None
    uncommented = "\n".join(line[1:] for line in sample.splitlines() if line.startswith('#"'))
    assert yaml.safe_load(uncommented) == {rule.name: rule.check_str for rule in list_rules()}
    file.write_text(sample)
    assert policy("check").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--roles", "service"], True),
        (["--roles", "reader"], False),
        (["--roles", "reader, admin", "--user", "ada"], True),
        ([], False),
        (["--roles", "admin", "--system-scope", "all"], False),
        (["--roles", "admin", "--domain", "default"], False),
    ],
)
def test_the_exit_status_is_0_if_the_caller_is_allowed_and_1_if_denied(
    arguments: list[str], allowed: bool
) -> None:
    done = policy("check", "placement:allocations:update", *arguments)
    assert done.exit_code == (0 if allowed else 1)
    verdict = "allowed" if allowed else "denied"
    assert done.stdout == f"{verdict}: placement:allocations:update is for rule:admin_or_service_api\n"


def test_a_reader_may_see_the_usage_of_their_own_project_only() -> None:
    reader = ["check", USAGES, "--roles", "reader", "--project", "engines"]
    assert policy(*reader).exit_code == 0
    assert policy(*reader, "--target-project", "engines").exit_code == 0
    assert policy(*reader, "--target-project", "looms").exit_code == 1


def test_an_unknown_rule_is_an_error_with_the_most_similar_name() -> None:
    done = policy("check", "placement:allocation:update", "--roles", "service")
    assert done.exit_code == 2
    assert "no rule placement:allocation:update. Did you mean placement:allocations:update?" in done.stderr


def test_a_caller_without_a_rule_gets_a_table_of_all() -> None:
    done = policy("check", "--roles", "admin")
    assert done.exit_code == 0
    verdicts = dict(line.split()[:2] for line in done.stdout.splitlines() if line.startswith("placement:"))
    assert set(verdicts) == {rule.name for rule in RULES}
    assert [name for name, verdict in verdicts.items() if verdict == "denied"] == [
        "placement:reshaper:reshape"
    ]


def test_no_file_and_a_valid_file_are_without_findings(file: Path) -> None:
    assert policy("check").stdout == "There is no policy file: the defaults are in force.\n"
    file.write_text(f'"{LIST}": "role:reader or rule:crew"\n"crew": "role:sailor"\n"default": "!"\n')
    done = policy("check")
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"Nothing is wrong with {file}.\n", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"rule:admin_api": "role:operator"\n', "rule:admin_api is deprecated, but still in force"),
        ('"placement:trait:list": "role:x"\n', "is ignored. Did you mean placement:traits:list?"),
        (f'"{LIST}": "rule:admin_or_service_api"\n', "equals the default"),
        (f'"{LIST}": "role:a"\n"{LIST}": "role:b"\n', "is defined again further down in this file"),
        (f'"{LIST}":\n', "allows every caller"),
        ("5: role:a\n", "5 is no rule of the API"),
    ],
)
def test_a_likely_mistake_is_a_warning_with_its_line(file: Path, text: str, expected: str) -> None:
    file.write_text(text)
    done = policy("check")
    assert done.exit_code == 1, done.output
    assert done.stderr.startswith(f"warning  {file}:1: ")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'"{LIST}": "role:a and"\n', "cannot be parsed"),
        (f'"{LIST}": "role:a or (not ! and nonsense)"\n', "cannot be parsed"),
        (f'"{LIST}": "rule:nowhere"\n', "refers to nowhere, which is not defined"),
        (f'"{LIST}": "rule:{LIST} or role:a"\n', "refers to itself"),
    ],
)
def test_a_mistake_that_denies_is_a_fault_with_its_line(file: Path, text: str, expected: str) -> None:
    file.write_text(f'"{USAGES}": "@"\n{text}')
    done = policy("check")
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith(f"fault    {file}:2: ")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_rule_merged_in_by_yaml_has_the_line_where_it_is_written(file: Path) -> None:
    file.write_text(f'"x": &crew\n  "{LIST}": "role:sailor"\n<<: *crew\n')
    assert (listed()[LIST]["check"], listed()[LIST]["place"]) == ("role:sailor", f"{file}:2")
    assert policy("check", LIST, "--roles", "sailor").exit_code == 0


def test_an_explicit_denial_is_no_fault(file: Path) -> None:
    file.write_text(
        f'"{LIST}": "!"\n"{USAGES}": "role:a and not (role:b or !)"\n"service_api": [["!"], "role:a"]\n'
    )
    assert policy("check").exit_code == 0


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ('"a": "role:x"\n"b": "role\n', 3, "found unexpected end of stream"),
        ("- a\n- b\n", 1, "not a list of rules"),
        (f'"{LIST}": "@"\n"{USAGES}": 5\n', 2, f'"{USAGES}" has no check but 5'),
        ('"a": "b"\n\t"c": "d"\n', 2, "cannot start any token"),
    ],
)
@pytest.mark.parametrize("command", [["list"], ["check"], ["check", LIST]], ids=" ".join)
def test_a_file_that_cannot_be_loaded_is_named_with_the_line(
    file: Path, text: str, line: int, expected: str, command: list[str]
) -> None:
    file.write_text(text)
    done = policy(*command)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: The policy cannot be used: {file}:{line}: ")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_files_that_are_missing_or_have_an_odd_name_are_warnings(directory: Path) -> None:
    (directory / "policy.d").mkdir()
    (directory / "policy.d" / "10.yaml.bak").write_text("")
    (directory / "policy.d" / "20.json").write_text("{}")
    (directory / "policy.d" / ".hidden").write_text("{ broken")
    (directory / "placement.conf").write_text("[oslo_policy]\npolicy_file = missing.yaml\n")
    done = policy("check")
    assert done.exit_code == 1
    absent, odd, old = done.stderr.splitlines()
    assert absent.endswith("policy_file = missing.yaml: there is no such file: the defaults are in force")
    assert "10.yaml.bak: its name does not end in .yaml, but it is in force" in odd
    assert "20.json: JSON is deprecated, but still read" in old
