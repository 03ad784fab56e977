# SPDX-License-Identifier: Apache-2.0

"""May they: decisions by oslo.policy, remembered.

A decision is the one oslo.policy makes from the defaults in `rules` and the operator's policy file. The file is
looked at once a second at most; when it has changed, all remembered decisions are forgotten, and while it
cannot be read the last good rules stay in force. When it is gone, the defaults are. A check that fails with an
error denies.
"""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from oslo_config import cfg
from oslo_policy import policy

from plimsoll.access import policy_files
from plimsoll.access.identity import Caller
from plimsoll.access.policy_rules import list_rules
from plimsoll.bounded_cache import BoundedCache
from plimsoll.config import loader

LOG = logging.getLogger(__name__)

LOOK_AGAIN_AFTER = 1.0
"""Seconds between two looks at the policy file."""

MAX_DECISIONS = 10_000
"""Decisions in the cache: some hundred callers times some thirty rules."""
MAX_DECISION_BYTES = 32 << 20
LONGEST_CASE = 4096
"""Bytes of a rule, its caller and its target, beyond which the decision is not cached: most take about 2,000."""

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
                f"The policy cannot be used: {self._reason(problem)}. Correct it, or correct"
                " [oslo_policy]policy_file and policy_dirs in the configuration."
            ) from problem
        self._rules_in_force = _RulesInForce(self._enforcer)

    def allows(self, rule: str, caller: Caller, target: Target | None = None) -> bool:
        """May this caller do what the rule names, to this target (by default: to their own)?"""
        if self._clock() - self._looked_at >= LOOK_AGAIN_AFTER:
            self._look_again()
        return self._rules_in_force.allow(rule, caller, target)

    def checks(self) -> dict[str, object]:
        """The check that is in force for each rule there is, the operator's own included."""
        return dict(self._rules_in_force.rules)

    def _look_again(self) -> None:
        # One thread looks; the others go on with the rules in force rather than wait.
        if not self._loading.acquire(blocking=False):
            return
        try:
            self._looked_at = self._clock()
            self._forget_file_that_is_gone()
            # After a failure oslo.policy thinks it has read what it could not: make it read again.
            self._enforcer.load_rules(force_reload=self._complaint is not None)
        except Exception as problem:
            if str(problem) != self._complaint:
                LOG.error("The policy stays as it was, its file cannot be used: %s", self._reason(problem))
            self._complaint = str(problem)
        else:
            self._complaint = None
            if not self._rules_in_force.come_from(self._enforcer):
                LOG.info("The policy has changed")
                self._rules_in_force = _RulesInForce(self._enforcer)
        finally:
            self._loading.release()

    def _forget_file_that_is_gone(self) -> None:
        """oslo.policy would look for it where it was, complain, and make the same rules anew with every look."""
        path = self._enforcer.policy_path
        if path and not Path(path).exists():
            LOG.warning("The policy file %s is gone: the defaults are in force", path)
            self._enforcer = _enforcer_of(self._enforcer.conf)

    def _reason(self, problem: Exception) -> str:
        """With file and line, where that can be told."""
        return str(policy_files.first_broken(self._enforcer.conf) or problem)


def get_enforcer() -> policy.Enforcer:
    """The rules and the operator's changes to them, as oslo.policy's own commands ask for them."""
    return _enforcer_of(loader.load())


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
        self._decisions: BoundedCache[tuple[object, ...], bool] = BoundedCache(
            MAX_DECISIONS, MAX_DECISION_BYTES, max_key_bytes=LONGEST_CASE
        )

    @property
    def rules(self) -> policy.Rules:
        return self._enforcer.rules

    def come_from(self, enforcer: policy.Enforcer) -> bool:
        return enforcer.rules is self._origin

    def allow(self, rule: str, caller: Caller, target: Target | None) -> bool:
        if rule not in self._steady:
            return self._decide(rule, caller, target)
        case = (rule, caller, None if target is None else tuple(target.items()))
        verdict = self._decisions.get(case)
        if verdict is None:
            verdict = self._decide(rule, caller, target)
            self._decisions.put(case, verdict)
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
        return all(
            type(part).__module__ == policy.RuleCheck.__module__
            and (not isinstance(part, policy.RuleCheck) or self._is_steady(part.match, seen))
            for part in policy_files.parts(check)
        )
