# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg
from oslo_policy import opts as policy_opts

from plimsoll.access import Policy
from plimsoll.config import loader
from plimsoll.config.database_url import database_url

ROOT = Path(__file__).parents[3]
REFERENCE_PYTHON = ROOT / ".venv-reference" / "bin" / "python"

NIL = "00000000-0000-0000-0000-000000000000"

# The options of placement.conf and their defaults.
PLACEMENTS_OPTIONS: dict[str, dict[str, Any]] = {
    "api": {"auth_strategy": "keystone"},
    "placement": {
        "randomize_allocation_candidates": False,
        "incomplete_consumer_project_id": NIL,
        "incomplete_consumer_user_id": NIL,
        "allocation_conflict_retry_count": 10,
        "max_allocation_candidates": -1,
        "allocation_candidates_generation_strategy": "depth-first",
    },
    "placement_database": {
        "connection_parameters": "",
        "sqlite_synchronous": True,
        "slave_connection": None,
        "mysql_sql_mode": "TRADITIONAL",
        "connection_recycle_time": 3600,
        "max_pool_size": None,
        "max_retries": 10,
        "retry_interval": 10,
        "max_overflow": None,
        "connection_debug": 0,
        "connection_trace": False,
        "pool_timeout": None,
        "sync_on_startup": False,
    },
    "workarounds": {"optimize_for_wide_provider_trees": False},
    "oslo_policy": {
        "policy_file": "policy.yaml",
        "policy_dirs": ["policy.d"],
        "policy_default_rule": "default",
        "enforce_new_defaults": True,
    },
    "oslo_middleware": {"enable_proxy_headers_parsing": False},
    "cors": {"allowed_origin": None, "allow_credentials": True, "max_age": 3600},
}


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Remove the settings of the account that runs the tests, and use a home without configuration files."""
    for name in list(os.environ):
        if name.startswith("OS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "placement.conf"


def test_options_and_defaults_are_placements() -> None:
    conf = loader.load()
    found = {
        group: {name: conf[group][name] for name in names} for group, names in PLACEMENTS_OPTIONS.items()
    }
    assert found == PLACEMENTS_OPTIONS
    assert conf.log_options is True
    assert conf.tempdir is None


@pytest.mark.skipif(not REFERENCE_PYTHON.exists(), reason="needs the reference: make test installs it")
def test_every_option_of_the_reference_is_known_with_its_default() -> None:
    script = """
import json
from oslo_config import cfg
from placement import conf as placement_conf, wsgi
conf = cfg.ConfigOpts()
placement_conf.register_opts(conf)
wsgi._set_middleware_defaults()
conf.set_override("connection", "sqlite://", group="placement_database")
conf([], default_config_files=[])
groups = [name for name in conf if isinstance(conf[name], cfg.ConfigOpts.GroupAttr)]
options = {group: dict(conf[group]) for group in groups}
options["DEFAULT"] = {name: conf[name] for name in conf if name not in groups}
print(json.dumps(options, default=str))
"""
    process = subprocess.run([REFERENCE_PYTHON, "-c", script], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    theirs = json.loads(process.stdout)
    conf = loader.load()
    ours = {group: dict(conf[group]) for group in theirs if group != "DEFAULT"}
    ours["DEFAULT"] = {name: conf[name] for name in theirs["DEFAULT"]}
    ours = json.loads(json.dumps(ours, default=str))
    for group, name in [
        # The script sets it, because the reference requires it too.
        ("placement_database", "connection"),
        # Paths of our own.
        ("DEFAULT", "pybasedir"),
        ("DEFAULT", "state_path"),
        # Which files were read.
        ("DEFAULT", "config_file"),
        ("DEFAULT", "config_dir"),
    ]:
        theirs[group].pop(name, None)
        ours[group].pop(name, None)
    assert {group: {name: ours[group][name] for name in theirs[group]} for group in theirs} == theirs


def test_our_own_options_have_these_defaults() -> None:
    assert dict(loader.load().plimsoll) == {
        "max_body_bytes": 10 * 1024 * 1024,
        "change_log_keep": 100_000,
        "change_log_keep_days": 0,
        "max_subscribers": 2_000,
        "history_max_changes": 100_000,
        "history_cache_bytes": 128 << 20,
        "causal_reads": True,
        "verify_interval": 300,
        "prefix": "",
        "allow_insecure_noauth": False,
        "max_token_validations": 16,
        "token_validation_timeout": 5.0,
        "threads": 16,
        "queue_timeout": 30,
        "max_buffered_bytes": 32 << 20,
        "keep_alive_timeout": 75,
        "request_timeout": 60,
        "min_transfer_rate": 1024,
        "worker_timeout": 30,
        "log_request_duration": False,
        "disable_fast_paths": [],
        "slow_request_seconds": 5.0,
        "console": True,
        "console_name": "",
        "unplaced_keep": 1000,
        "unplaced_keep_requests": 20_000,
        "unplaced_keep_days": 7.0,
        "metrics": True,
        "metrics_networks": ["127.0.0.0/8", "::1/128"],
        "metrics_aggregates": False,
        "metrics_providers": False,
        "metrics_directory": None,
        "shapes": "",
        "search_budget": 10.0,
        "max_candidates_without_limit": 100_000,
    }


def test_the_database_has_no_default(file: Path) -> None:
    file.write_text("[DEFAULT]\nstate_path = /srv/state\n")
    with pytest.raises(loader.ConfigError, match=r"\[placement_database\] connection is required"):
        database_url(loader.load([str(file)]))


def test_a_connection_may_use_the_state_path(file: Path) -> None:
    file.write_text(
        "[DEFAULT]\nstate_path = /srv/state\n[placement_database]\nconnection = sqlite:///$state_path/placement.sqlite\n"
    )
    assert database_url(loader.load([str(file)])) == "sqlite:////srv/state/placement.sqlite"


def test_the_environment_overrides_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("[api]\nauth_strategy = keystone\n[plimsoll]\nthreads = 3\n")
    monkeypatch.setenv("OS_API__AUTH_STRATEGY", "noauth2")
    monkeypatch.setenv("OS_DEFAULT__STATE_PATH", "/srv/state")
    conf = loader.load([str(file)])
    assert (conf.api.auth_strategy, conf.plimsoll.threads, conf.state_path) == ("noauth2", 3, "/srv/state")


def test_a_later_file_overrides_an_earlier_one(tmp_path: Path) -> None:
    first, second = tmp_path / "first.conf", tmp_path / "second.conf"
    first.write_text("[plimsoll]\nthreads = 3\nverify_interval = 0\n")
    second.write_text("[plimsoll]\nthreads = 5\n")
    conf = loader.load([str(first), str(second)])
    assert (conf.plimsoll.threads, conf.plimsoll.verify_interval) == (5, 0)


def test_the_directory_in_the_environment_holds_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("[plimsoll]\nthreads = 7\n")
    monkeypatch.setenv("OS_PLACEMENT_CONFIG_DIR", f" {file.parent} ")
    conf = loader.load()
    assert conf.plimsoll.threads == 7


def test_a_given_file_overrides_the_directory(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("[plimsoll]\nthreads = 7\n")
    monkeypatch.setenv("OS_PLACEMENT_CONFIG_DIR", str(file.parent))
    given = tmp_path / "given.conf"
    given.write_text("[plimsoll]\nthreads = 9\n")
    conf = loader.load([str(given)])
    assert conf.plimsoll.threads == 9


def test_a_file_in_a_usual_place_is_found(tmp_path: Path) -> None:
    (tmp_path / ".placement").mkdir()
    (tmp_path / ".placement" / "placement.conf").write_text("[plimsoll]\nthreads = 11\n")
    assert loader.load().plimsoll.threads == 11


def test_the_error_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(loader.ConfigError, match=r"absent\.conf"):
        loader.load([str(tmp_path / "absent.conf")])


def test_unknown_options_and_sections_are_ignored(file: Path) -> None:
    file.write_text("[DEFAULT]\nno_such = 1\n[no_such_section]\nx = y\n[placement]\nold_option = 2\n")
    loader.load([str(file)])


def test_every_invalid_value_is_reported_with_its_place(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(
        "[DEFAULT]\ndebug = perhaps\n"
        "[api]\nauth_strategy = magic\n"
        "[placement_database]\nmax_retries = many\n"
        "[plimsoll]\nthreads = 0\n"
        "[keystone_authtoken]\ninsecure = who knows\n"
    )
    monkeypatch.setenv("OS_CORS__MAX_AGE", "old")
    with pytest.raises(loader.ConfigError) as caught:
        loader.load([str(file)])
    assert set(caught.value.problems) == {
        f"{file}:2: [DEFAULT] debug: Unexpected boolean value 'perhaps'",
        f"{file}:4: [api] auth_strategy: Valid values are [keystone, noauth2], but found 'magic'",
        f"{file}:6: [placement_database] max_retries: invalid literal for int() with base 10: 'many'",
        f"{file}:8: [plimsoll] threads: Should be greater than or equal to 1",
        f"{file}:10: [keystone_authtoken] insecure: Unexpected boolean value 'who knows'",
        "environment variable OS_CORS__MAX_AGE: [cors] max_age: invalid literal for int() with base 10: 'old'",
    }


def test_a_file_that_is_no_configuration_is_reported_with_the_line(file: Path) -> None:
    file.write_text("[DEFAULT]\ndebug = true\n[broken\n")
    with pytest.raises(loader.ConfigError, match=rf"{file}:3"):
        loader.load([str(file)])


def test_the_deprecated_section_of_auth_strategy_still_works(file: Path) -> None:
    file.write_text("[DEFAULT]\nauth_strategy = noauth2\n")
    assert loader.load([str(file)]).api.auth_strategy == "noauth2"


def test_registering_twice_changes_nothing() -> None:
    conf = loader.load()
    conf.set_override("threads", 6, group="plimsoll")
    loader.register(conf)
    assert conf.plimsoll.threads == 6


def test_a_configuration_of_another_program_keeps_its_options_and_gets_ours() -> None:
    conf = cfg.ConfigOpts()
    conf.register_opts([cfg.StrOpt("auth_strategy", default="theirs", help="other words")], group="api")
    conf.register_opts([cfg.StrOpt("connection", required=True, secret=True)], group="placement_database")
    conf.register_opts([cfg.ListOpt("allow_methods", default=["HEAD"])], group="cors")
    conf.set_override("connection", "sqlite:////srv/theirs.sqlite", group="placement_database")
    conf([], default_config_files=[])
    loader.register(conf)
    assert conf.api.auth_strategy == "theirs"
    assert conf.cors.allow_methods == ["HEAD"]
    assert database_url(conf) == "sqlite:////srv/theirs.sqlite"
    assert conf.plimsoll.verify_interval == 300


def test_other_code_in_the_process_may_change_the_defaults_of_oslo_policy() -> None:
    conf = loader.load()
    before = {opt.dest: opt.default for opt in policy_opts._options}
    try:
        policy_opts.set_defaults(cfg.ConfigOpts(), policy_file="theirs.yaml")
        Policy(conf)
    finally:
        policy_opts.set_defaults(cfg.ConfigOpts(), **before)


def test_logging_follows_the_configuration(file: Path, tmp_path: Path) -> None:
    log_file = tmp_path / "placement.log"
    file.write_text(
        f"[DEFAULT]\nlog_file = {log_file}\ndebug = true\n[placement_database]\nconnection = sqlite:////x\n"
    )
    script = (
        "import logging; from plimsoll.config import loader, logging_setup;"
        f"logging_setup.set_up(loader.load([{str(file)!r}]));"
        "logging.getLogger('plimsoll.somewhere').info('all hands')"
    )
    subprocess.run(
        [sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": "src"}, cwd=ROOT
    )
    logged = log_file.read_text()
    assert "INFO plimsoll.somewhere [-] all hands" in logged
    assert "placement_database.connection = ***" in re.sub(" +", " ", logged), (
        "options are logged, secrets are not"
    )


def test_the_options_are_published_for_the_generator() -> None:
    published = {group: [opt.name for opt in opts] for group, opts in loader.list_opts()}
    assert set(published) == {"DEFAULT", "api", "placement", "placement_database", "workarounds", "plimsoll"}
    assert "threads" in published["plimsoll"]
    assert all(opt.help for _, opts in loader.list_opts() for opt in opts)
