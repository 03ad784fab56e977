# SPDX-License-Identifier: Apache-2.0

"""`plimsoll config`: settings in force with their places, ignored settings, and errors."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import main


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("OS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OS_PLACEMENT_CONFIG_DIR", str(tmp_path))
    file = tmp_path / "placement.conf"
    file.write_text("[placement_database]\nconnection = sqlite:////srv/placement.sqlite\n")
    return file


def config(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["config", *arguments])


def add(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


def test_settings_are_shown_with_their_places(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(file, "[DEFAULT]\ndebug = true\n[plimsoll]\nthreads = 3\nthreads = 5\n")
    monkeypatch.setenv("OS_CORS__MAX_AGE", "60")
    assert config("show").stdout.splitlines() == [
        f"[DEFAULT] debug = True  ({file}:4)",
        "[cors] max_age = 60  (environment variable OS_CORS__MAX_AGE)",
        f"[placement_database] connection = ***  ({file}:2)",
        f"[plimsoll] threads = 5  ({file}:7)",
    ]


def test_an_option_set_by_a_deprecated_name_is_shown_by_its_new_name(file: Path) -> None:
    add(file, "[DEFAULT]\nauth_strategy = noauth2\n")
    assert f"[api] auth_strategy = noauth2  ({file})" in config("show").stdout


def test_defaults_are_shown_with_all() -> None:
    shown = json.loads(config("show", "--all", "--json").stdout)
    found = {(each["group"], each["option"]): (each["value"], each["from"]) for each in shown}
    assert found["plimsoll", "threads"] == ("16", "default")
    assert found["cors", "allow_methods"] == ("GET,PUT,POST,DELETE,PATCH", "default")
    assert found["oslo_policy", "policy_file"] == ("policy.yaml", "default")
    assert len(found) == len(shown)


def test_valid_settings_have_no_findings() -> None:
    done = config("check")
    assert (done.exit_code, done.stdout) == (0, "Nothing is wrong, and nothing is ignored.\n")


def test_an_ignored_setting_is_a_note(file: Path) -> None:
    add(
        file,
        "[oslo_concurrency]\nlock_path = /x\nother = 1\n[DEFAULT]\ntransport_url = rabbit:\n[oslo_policy]\nenforce_scope = true\n",
    )
    done = config("check")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"note     {file}:4: [oslo_concurrency]: no such section",
        f"note     {file}:7: [DEFAULT] transport_url: no such option",
        f"note     {file}:9: [oslo_policy] enforce_scope: no such option",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[placement_database]\nconection = x", "[placement_database] conection: no such option, did you mean connection?"),
        ("[plcement]\nx = 1", "[plcement]: no such section, did you mean [placement]?"),
        ("[plimsoll]\nspeed = 1", "[plimsoll] speed: no such option"),
        (
            "[keystone_authtoken]\nauth_type = password\nauth_url = http://127.0.0.1\nusrname = x",
            "[keystone_authtoken] usrname: no such option, did you mean username?",
        ),
    ],
)  # fmt: skip
def test_a_misspelling_is_a_warning(file: Path, text: str, expected: str) -> None:
    add(file, text)
    done = config("check")
    assert done.exit_code == 1
    last = len(file.read_text().splitlines())
    assert done.stdout == f"warning  {file}:{last}: {expected}\n"


def test_a_misspelling_in_the_environment_is_a_warning_and_other_variables_are_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__MAX_RETRIE", "3")
    monkeypatch.setenv("OS_SOMETHING__ELSE", "3")
    done = config("check")
    assert done.exit_code == 1
    assert done.stdout == (
        "warning  OS_PLACEMENT_DATABASE__MAX_RETRIE: [placement_database] max_retrie: no such option, did you mean"
        " max_retries?\n"
    )


def test_all_faults_are_found_that_would_stop_the_start(file: Path) -> None:
    file.write_text(
        "[placement_database]\nconnection = nonsense\n"
        "[DEFAULT]\nlog_file = /no/such/place\n"
        "[keystone_authtoken]\nauth_type = nonsense\n"
    )
    (file.parent / "policy.yaml").write_text("- no\n")
    done = config("check")
    assert done.exit_code == 2
    places = [line.removeprefix("fault    ").partition(": ")[0] for line in done.stdout.splitlines()]
    assert places == [f"{file}:2", f"{file}:6", f"{file}:4", "The policy cannot be used"]


def test_invalid_values_are_faults(file: Path) -> None:
    add(file, "[plimsoll]\nthreads = 0\nverify_interval = x\n")
    done = config("check")
    assert done.exit_code == 2
    assert [line[:7] for line in done.stdout.splitlines()] == ["fault  ", "fault  "]
    assert f"{file}:4: [plimsoll] threads: Should be greater than or equal to 1" in done.stdout


def test_settings_for_keystone_that_would_stop_the_start_are_faults(file: Path) -> None:
    add(file, "[keystone_authtoken]\nmemcache_security_strategy = MAC\n")
    found = config("check")
    assert found.exit_code == 2
    assert "memcache_security_strategy needs memcache_secret_key" in found.stdout
