# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg
from oslo_policy import policy as oslo_policy

from plimsoll.access import Caller, Policy, PolicyError
from plimsoll.access import policy as policy_module
from plimsoll.access.policy import RELOAD_INTERVAL
from plimsoll.config import loader

LIST = "placement:resource_providers:list"
USAGES = "placement:usages"

OPERATOR = Caller("ada", "engines", ("operator",))
ADMIN = Caller("root", "admin", ("admin",))


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def pass_reload_interval(self) -> None:
        self.now += RELOAD_INTERVAL


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.yaml"


@pytest.fixture
def make(file: Path, clock: Clock) -> Callable[..., Policy]:
    def policy(*, cache: bool = True) -> Policy:
        conf = cfg.ConfigOpts()
        loader.register(conf)
        conf([], default_config_files=[])
        conf.set_override("policy_file", str(file), group="oslo_policy")
        conf.set_override("policy_dirs", [str(file.parent / "policy.d")], group="oslo_policy")
        return Policy(conf, cache=cache, clock=clock)

    return policy


written = 0


def write(file: Path, text: str) -> None:
    """Write the file with a later time stamp: oslo.policy does not notice two writes with equal time stamps."""
    global written
    written += 1
    file.write_text(text)
    os.utime(file, (2_000_000_000 + written, 2_000_000_000 + written))


def test_without_a_file_the_defaults_hold(make: Callable[[], Policy]) -> None:
    policy = make()
    assert policy.allows(LIST, ADMIN)
    assert not policy.allows(LIST, OPERATOR)


@pytest.mark.parametrize(("cache", "expected"), [(True, 1), (False, 2)])
def test_a_decision_is_made_once_unless_the_cache_is_switched_off(
    make: Callable[..., Policy], monkeypatch: pytest.MonkeyPatch, cache: bool, expected: int
) -> None:
    decisions: list[str] = []
    decide = oslo_policy.Enforcer.authorize

    def authorize(enforcer: oslo_policy.Enforcer, rule: str, *arguments: Any) -> Any:
        decisions.append(rule)
        return decide(enforcer, rule, *arguments)

    policy = make(cache=cache)
    monkeypatch.setattr(oslo_policy.Enforcer, "authorize", authorize)
    assert policy.allows(LIST, ADMIN)
    assert policy.allows(LIST, ADMIN)
    assert decisions == [LIST] * expected


def test_a_reader_sees_the_usage_of_their_own_project_only(make: Callable[[], Policy]) -> None:
    reader = Caller("ada", "engines", ("reader",))
    policy = make()
    assert policy.allows(USAGES, reader, {"project_id": "engines"})
    assert not policy.allows(USAGES, reader, {"project_id": "looms"})


def test_admins_may_not_reshape_and_services_may(make: Callable[[], Policy]) -> None:
    policy = make()
    assert not policy.allows("placement:reshaper:reshape", ADMIN)
    assert policy.allows("placement:reshaper:reshape", Caller("nova", "service", ("service",)))


def test_a_changed_file_is_reloaded_within_a_second(
    make: Callable[[], Policy], file: Path, clock: Clock
) -> None:
    write(file, f'"{LIST}": "role:operator"\n')
    policy = make()
    assert policy.allows(LIST, OPERATOR)
    write(file, f'"{LIST}": "role:admin"\n')
    assert policy.allows(LIST, OPERATOR), "not looked at yet"
    clock.pass_reload_interval()
    assert not policy.allows(LIST, OPERATOR)
    assert policy.allows(LIST, ADMIN)


def test_a_new_file_is_loaded(make: Callable[[], Policy], file: Path, clock: Clock) -> None:
    policy = make()
    assert not policy.allows(LIST, OPERATOR)
    write(file, f'"{LIST}": "role:operator"\n')
    clock.pass_reload_interval()
    assert policy.allows(LIST, OPERATOR)


def test_a_broken_file_leaves_the_last_good_rules_in_force(
    make: Callable[[], Policy], file: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    write(file, f'"{LIST}": "role:operator"\n')
    policy = make()
    write(file, "{ this is not yaml")
    with caplog.at_level(logging.ERROR, logger=policy_module.__name__):
        for _ in range(3):
            clock.pass_reload_interval()
            assert policy.allows(LIST, OPERATOR)
            assert not policy.allows(LIST, ADMIN)
    assert len(caplog.records) == 1, "logged once, not every second"
    assert f"{file}:1: " in caplog.records[0].getMessage()
    write(file, f'"{LIST}": "role:admin"\n')
    clock.pass_reload_interval()
    assert policy.allows(LIST, ADMIN)


def test_a_deleted_file_leaves_the_defaults_and_is_logged_once(
    make: Callable[[], Policy], file: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    write(file, f'"{LIST}": "role:operator"\n')
    policy = make()
    assert policy.allows(LIST, OPERATOR)
    file.unlink()
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            clock.pass_reload_interval()
            assert policy.allows(LIST, ADMIN)
            assert not policy.allows(LIST, OPERATOR)
    assert [record.getMessage() for record in caplog.records] == [
        f"The policy file {file} was deleted: the defaults are in force",
        "The policy was reloaded",
    ]
    write(file, f'"{LIST}": "role:operator"\n')
    clock.pass_reload_interval()
    assert policy.allows(LIST, OPERATOR)


def test_a_broken_file_in_the_directory_takes_no_rule_out_of_force(
    make: Callable[[], Policy], file: Path, clock: Clock
) -> None:
    directory = file.parent / "policy.d"
    directory.mkdir()
    write(file, f'"{USAGES}": "role:admin"\n')
    write(directory / "a.yaml", f'"{LIST}": "role:operator"\n')
    policy = make()
    assert policy.allows(LIST, OPERATOR)
    write(directory / "a.yaml", "{ this is not yaml")
    for _ in range(3):
        clock.pass_reload_interval()
        assert policy.allows(LIST, OPERATOR)


def test_the_service_does_not_start_with_a_broken_file(make: Callable[[], Policy], file: Path) -> None:
    write(file, "{ this is not yaml")
    with pytest.raises(PolicyError, match=str(file)):
        make()


def test_a_decision_is_made_once_per_case(
    make: Callable[[], Policy], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make()
    checked: list[str] = []
    original = oslo_policy.Enforcer.authorize

    def counted(self: oslo_policy.Enforcer, rule: str, *args: object) -> object:
        checked.append(rule)
        return original(self, rule, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(oslo_policy.Enforcer, "authorize", counted)
    for _ in range(5):
        policy.allows(LIST, ADMIN)
        policy.allows(LIST, OPERATOR)
        policy.allows(USAGES, OPERATOR, {"project_id": "engines"})
        policy.allows(USAGES, OPERATOR, {"project_id": "looms"})
    assert len(checked) == 4


def test_cached_decisions_are_bounded_in_number(
    make: Callable[[], Policy], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy_module, "MAX_DECISIONS", 10)
    policy = make()
    for number in range(100):
        assert policy.allows(USAGES, ADMIN, {"project_id": str(number)})
    assert len(policy._rules_in_force._decisions) <= 10


def test_decisions_about_long_texts_are_not_cached(make: Callable[[], Policy]) -> None:
    policy = make()
    for number in range(20):
        assert policy.allows(USAGES, ADMIN, {"project_id": f"{number}" + "p" * 100_000})
        assert not policy.allows(LIST, Caller(f"{number}" + "u" * 100_000, "engines", ()))
    assert len(policy._rules_in_force._decisions) == 0


def test_decisions_are_bounded_in_bytes(make: Callable[[], Policy], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_module, "MAX_DECISION_BYTES", 50_000)
    policy = make()
    for number in range(200):
        policy.allows(USAGES, ADMIN, {"project_id": f"{number:03}" + "p" * 250})
    assert 10 < len(policy._rules_in_force._decisions) < 100
    assert policy._rules_in_force._decisions.size <= 50_000


def test_a_check_of_a_plugin_is_not_cached(make: Callable[[], Policy], file: Path) -> None:
    decisions = iter([True, False, True])

    class ChangingCheck(oslo_policy.Check):
        def __call__(self, *_: object) -> bool:
            return next(decisions)

    oslo_policy.register("fickle", ChangingCheck)
    write(file, f'"admin_api": "fickle:x"\n"{LIST}": "role:operator and not (rule:admin_api)"\n')
    policy = make()
    assert [policy.allows(LIST, OPERATOR) for _ in range(3)] == [False, True, False]


def test_a_check_that_fails_denies(make: Callable[[], Policy], file: Path) -> None:
    class Failing(oslo_policy.Check):
        def __call__(self, *_: object) -> bool:
            raise RuntimeError("the other side is down")

    oslo_policy.register("failing", Failing)
    write(file, f'"{LIST}": "failing:x"\n')
    assert not make().allows(LIST, ADMIN)


def test_rules_that_refer_to_each_other_in_a_circle_deny(make: Callable[[], Policy], file: Path) -> None:
    write(file, f'"admin_api": "rule:{LIST}"\n"{LIST}": "rule:admin_api"\n')
    assert not make().allows(LIST, ADMIN)


def test_an_unknown_rule_raises(make: Callable[[], Policy]) -> None:
    with pytest.raises(oslo_policy.PolicyNotRegistered):
        make().allows("placement:no:such", ADMIN)
