# SPDX-License-Identifier: Apache-2.0

"""`plimsoll db` has the output and exit status of `placement-manage db`, compared on the same file."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.storage import reference
from tests.support.databases import run_sql
from tests.unit.cli.conftest import Run, url_of


def test_the_version_of_an_empty_database_is_none_as_in_the_reference(
    run: Run, file: Path, tmp_path: Path
) -> None:
    theirs = reference.manage(url_of(tmp_path / "theirs.sqlite"), "db", "version")
    ours = run("db", "version")
    assert (ours.exit_code, ours.stdout) == (theirs.returncode, theirs.stdout) == (0, "None\n")


def test_sync_is_silent_and_version_then_prints_what_the_reference_prints(run: Run, file: Path) -> None:
    done = run("db", "sync")
    assert (done.exit_code, done.output) == (0, "")
    assert (
        run("db", "version").stdout
        == reference.manage(url_of(file), "db", "version").stdout
        == "a082b8bb98d0\n"
    )


def test_a_refused_sync_prints_the_command_to_run_and_exits_with_1(run: Run, file: Path) -> None:
    run("db", "sync")
    assert run("db", "stamp", "base").output == ""
    run_sql(url_of(file), "INSERT INTO traits (name) VALUES ('CUSTOM_X')")
    done = run("db", "sync")
    assert done.exit_code == 1
    assert "`plimsoll db stamp a082b8bb98d0`" in done.stderr


def test_a_revision_that_does_not_exist_cannot_be_stamped(run: Run) -> None:
    done = run("db", "stamp", "xyz")
    assert (done.exit_code, done.stderr) == (1, "Error: Can't locate revision identified by 'xyz'\n")


@pytest.mark.parametrize("scheme", ["mysql+pymysql", "postgresql"])
@pytest.mark.parametrize(
    "words", ["db version", "db sync", "db stamp head", "db verify", "status upgrade check"]
)
def test_a_command_fails_at_the_first_attempt_to_reach_the_database_and_in_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, words: str, scheme: str
) -> None:
    monkeypatch.setenv(
        "OS_PLACEMENT_DATABASE__CONNECTION", f"{scheme}://placement:secret@127.0.0.1:1/placement"
    )
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("the command waits to retry"))
    done = run(*words.split())
    assert done.exit_code == (255 if words.startswith("status") else 1), done.output
    assert re.search(
        r"//placement:\*\*\*@127.0.0.1:1/placement\S*: The database cannot be reached\.", done.output
    )
    assert done.output.removeprefix("Error:\n").count("\n") == 1
    assert caplog.records == []


@pytest.mark.parametrize("runs", [[("--max-count", "8"), ()], [("--max-count", "many")]], ids=str)
def test_online_data_migrations_print_and_exit_as_the_reference_s_do(
    run: Run, file: Path, tmp_path: Path, runs: list[tuple[str, ...]]
) -> None:
    run("db", "sync")
    reference.fill(url_of(file))
    theirs = tmp_path / "theirs.sqlite"
    shutil.copy(file, theirs)
    for arguments in runs:
        expected = reference.run(
            "placement-manage", url_of(theirs), "db", "online_data_migrations", *arguments
        )
        done = run("db", "online_data_migrations", *arguments)
        assert (done.exit_code, done.stdout) == (expected.returncode, expected.stdout)


def break_roots(file: Path) -> None:
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(
            "CREATE TRIGGER broken BEFORE UPDATE ON resource_providers BEGIN SELECT RAISE(ABORT, 'broken'); END"
        )
    connection.close()


@pytest.mark.parametrize(("arguments", "status"), [((), 2), (("--max-count", "5"), 1)])
def test_a_failed_migration_exits_with_2_unless_a_limited_run_migrated_rows(
    run: Run, file: Path, arguments: tuple[str, ...], status: int
) -> None:
    run("db", "sync")
    reference.fill(url_of(file))
    break_roots(file)
    done = run("db", "online_data_migrations", *arguments)
    assert done.exit_code == status
    assert "Error attempting to run set_root_provider_ids" in done.stdout
    assert ("Some migrations failed unexpectedly. Check log for details." in done.stdout) == (status == 2)


def test_verify_finds_nothing_in_a_fresh_database(run: Run, file: Path) -> None:
    run("db", "sync")
    done = run("db", "verify")
    assert (done.exit_code, done.stdout) == (0, f"{file}: no faults, no notes\n")


def test_verify_requires_a_sync_if_there_are_no_tables(run: Run) -> None:
    done = run("db", "verify")
    assert done.exit_code == 1
    assert "Run `plimsoll db sync`" in done.stderr


def test_verify_prints_faults_with_remedies_and_exits_with_1(run: Run, file: Path) -> None:
    run("db", "sync")
    reference.fill(url_of(file))
    done = run("db", "verify")
    assert done.exit_code == 1
    assert "fault  providers without a root (11 times)\n       provider provider-1\n" in done.stdout
    assert "       and 1 more\n       Run `plimsoll db online_data_migrations`.\n" in done.stdout
    assert run("db", "online_data_migrations").exit_code == 0
    assert run("db", "verify").stdout == f"{file}: no faults, no notes\n"


def test_a_note_is_no_fault(run: Run, file: Path) -> None:
    run("db", "sync")
    reference.fill(url_of(file))
    run("db", "online_data_migrations")
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("UPDATE inventories SET total = 1 WHERE resource_provider_id = 1")
    connection.close()
    done = run("db", "verify")
    assert done.exit_code == 0
    assert (
        "note   inventories with more used than their capacity\n"
        "       provider provider-1, VCPU: used 14, capacity 1.5; inventory changed "
    ) in done.stdout
    assert "Nothing is wrong" not in done.stdout
    assert "look for a second service that writes to this database" in done.stdout
    assert done.stdout.endswith(f"{file}: no faults, 1 note\n")
