# SPDX-License-Identifier: Apache-2.0

"""May they: decisions by oslo.policy, remembered.

A decision is the one oslo.policy makes from the defaults in `rules` and the operator's policy file. The file is
looked at once a second at most; when it has changed, all remembered decisions are forgotten, and while it
cannot be read the last good rules stay in force. A check that fails with an error denies.
"""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections.abc import Callable, Mapping

from oslo_config import cfg
from oslo_policy import policy

from plimsoll import config
from plimsoll.access.identity import Caller
from plimsoll.access.rules import list_rules

LOG = logging.getLogger(__name__)

LOOK_AGAIN_AFTER = 1.0
"""Seconds between two looks at the policy file."""

REMEMBERED_AT_MOST = 10_000
"""Decisions kept before all are forgotten: some hundred callers times some thirty rules."""

Target = Mapping[str, str | None]


class PolicyError(Exception):
    """The policy file cannot be used; the service must not start with it."""


class Policy:
    def __init__(self, conf: cfg.ConfigOpts, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._enforcer = _enforcer_of(conf)
        self._loading = threading.Lock()
        self._complaint: str | None = None
        self._looked_at = clock()
        try:
            self._enforcer.load_rules()
        except Exception as problem:
            raise PolicyError(
                f"The policy in {self._file()} cannot be used: {problem}. Correct it, or correct"
                " [oslo_policy]policy_file and policy_dirs in the configuration."
            ) from problem
        self._rules_in_force = _RulesInForce(self._enforcer)

    def allows(self, rule: str, caller: Caller, target: Target | None = None) -> bool:
        """May this caller do what the rule names, to this target (by default: to their own)?"""
        if self._clock() - self._looked_at >= LOOK_AGAIN_AFTER:
            self._look_again()
        return self._rules_in_force.allow(rule, caller, target)

    def _look_again(self) -> None:
        # One thread looks; the others go on with the rules in force rather than wait.
        if not self._loading.acquire(blocking=False):
            return
        try:
            self._looked_at = self._clock()
            # After a failure oslo.policy thinks it has read what it could not: make it read again.
            self._enforcer.load_rules(force_reload=self._complaint is not None)
        except Exception as problem:
            if str(problem) != self._complaint:
                LOG.error("The policy in %s stays as it was, it cannot be used: %s", self._file(), problem)
            self._complaint = str(problem)
        else:
            self._complaint = None
            if not self._rules_in_force.come_from(self._enforcer):
                LOG.info("The policy has changed")
                self._rules_in_force = _RulesInForce(self._enforcer)
        finally:
            self._loading.release()

    def _file(self) -> str:
        return str(self._enforcer.policy_path or self._enforcer.policy_file)


def get_enforcer() -> policy.Enforcer:
    """The rules and the operator's changes to them, as oslo.policy's own commands ask for them."""
    return _enforcer_of(config.load())


def _enforcer_of(conf: cfg.ConfigOpts) -> policy.Enforcer:
    enforcer = policy.Enforcer(conf)
    # The defaults changed years ago upstream; one warning per rule and start helps nobody.
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults(list_rules())
    return enforcer


class _RulesInForce:
    """One state of the rules and the decisions made by it.

    Reloading fills the enforcer's rules step by step. A thread that decided in between would find half of them,
    so decisions are made with a copy that nobody reloads.
    """

    def __init__(self, loaded: policy.Enforcer) -> None:
        self._origin = loaded.rules
        self._enforcer = copy.copy(loaded)
        self._enforcer.rules = policy.Rules(dict(loaded.rules), loaded.rules.default_rule)
        self._enforcer.use_conf = False
        self._steady = {name for name in loaded.registered_rules if self._is_steady(name, set())}
        self._remembered: dict[tuple[object, ...], bool] = {}

    def come_from(self, enforcer: policy.Enforcer) -> bool:
        return enforcer.rules is self._origin

    def allow(self, rule: str, caller: Caller, target: Target | None) -> bool:
        if rule not in self._steady:
            return self._decide(rule, caller, target)
        case = (rule, caller, None if target is None else tuple(target.items()))
        verdict = self._remembered.get(case)
        if verdict is None:
            verdict = self._decide(rule, caller, target)
            if len(self._remembered) >= REMEMBERED_AT_MOST:
                self._remembered.clear()
            self._remembered[case] = verdict
        return verdict

    def _decide(self, rule: str, caller: Caller, target: Target | None) -> bool:
        if target is None:
            target = {"project_id": caller.project_id, "user_id": caller.user_id}
        try:
            return bool(self._enforcer.authorize(rule, target, caller.credentials()))
        except policy.PolicyNotRegistered:
            raise
        except Exception:
            LOG.exception("Checking the policy rule %s failed: denied", rule)
            return False

    def _is_steady(self, rule: str, seen: set[str]) -> bool:
        """Does the same question always get the same answer? A check that asks elsewhere may change its mind."""
        if rule in seen:
            return True
        seen.add(rule)
        try:
            check = self._enforcer.rules[rule]
        except KeyError:
            return True
        return self._is_plain(check, seen)

    def _is_plain(self, check: object, seen: set[str]) -> bool:
        if type(check).__module__ != policy.RuleCheck.__module__:
            return False
        if isinstance(check, policy.RuleCheck):
            return self._is_steady(check.match, seen)
        parts = [*getattr(check, "rules", ()), *([check.rule] if isinstance(check, policy.NotCheck) else ())]
        return all(self._is_plain(part, seen) for part in parts)
