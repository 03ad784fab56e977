# SPDX-License-Identifier: Apache-2.0

"""`plimsoll status upgrade check` draws and exits as `placement-status` does, side by side on the same file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.cli.settings import Program
from tests.storage import reference
from tests.unit.cli.conftest import Run

AS_PLACEMENT = Program(manage="placement-manage")


@pytest.mark.parametrize("steps", [0, 1, 2], ids=["failure", "warning", "success"])
def test_the_table_and_the_status_are_the_reference_s(run: Run, file: Path, steps: int) -> None:
    run("db", "sync")
    reference.fill(file)
    for _ in range(steps):
        run("db", "online_data_migrations", "--max-count", "11")

    done = run("status", "upgrade", "check", program=AS_PLACEMENT)

    theirs = reference.run("placement-status", file, "upgrade", "check")
    assert (done.exit_code, done.stdout) == (theirs.returncode, theirs.stdout)
    assert done.exit_code == 2 - steps


def test_a_user_of_this_command_is_told_to_run_this_command(run: Run, file: Path) -> None:
    run("db", "sync")
    reference.fill(file)
    assert '"plimsoll db' in run("status", "upgrade", "check").stdout


def test_json_says_the_same(run: Run, file: Path) -> None:
    run("db", "sync")
    reference.fill(file)
    done = run("status", "upgrade", "check", "--json", program=AS_PLACEMENT)
    assert done.exit_code == 2
    assert json.loads(done.stdout) == {
        "name": "Upgrade Check Results",
        "checks": [
            {
                "check": "Missing Root Provider IDs",
                "result": 2,
                "details": "There is at least one resource provider table record which misses its root provider"
                ' id. Run the "placement-manage db online_data_migrations" command.',
            },
            {
                "check": "Incomplete Consumers",
                "result": 1,
                "details": "There are 7 incomplete consumers table records for existing allocations. Run the"
                ' "placement-manage db online_data_migrations" command.',
            },
            {"check": "Policy File JSON to YAML Migration", "result": 0, "details": None},
        ],
    }


def test_a_policy_file_in_json_is_a_failure(run: Run, file: Path, tmp_path: Path) -> None:
    run("db", "sync")
    policy = tmp_path / "policy.json"
    policy.write_text('{"placement:usages": "@"}')
    settings = tmp_path / "placement.conf"
    settings.write_text(f"[oslo_policy]\npolicy_file = {policy}\n")

    done = run("status", "upgrade", "check", "--config-file", str(settings))

    theirs = reference.run("placement-status", file, "--config-file", str(settings), "upgrade", "check")
    assert (done.exit_code, done.stdout) == (theirs.returncode, theirs.stdout)
    assert done.exit_code == 2


def test_checks_that_cannot_run_are_255_and_not_a_failure(run: Run, file: Path) -> None:
    done = run("status", "upgrade", "check")
    assert done.exit_code == reference.run("placement-status", file, "upgrade", "check").returncode == 255
    assert done.stdout.startswith("Error:\n")
