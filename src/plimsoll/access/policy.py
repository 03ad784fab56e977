# SPDX-License-Identifier: Apache-2.0

"""Authorization by oslo.policy, with a cache of decisions.

oslo.policy decides from the defaults in `policy_rules` and the operator's policy file. The file is checked at most once
a second. When it has changed, the cache is dropped; while it cannot be read, the last valid rules stay in force; when
it is deleted, the defaults are in force. A check that fails with an error denies.
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

RELOAD_INTERVAL = 1.0
"""Seconds between two checks of the policy file."""

MAX_DECISIONS = 10_000
"""Decisions in the cache: enough for 300 callers times about 30 rules."""
MAX_DECISION_BYTES = 32 << 20
MAX_CASE_BYTES = 4096
"""Bytes of a rule, its caller and its target. Longer ones are not cached; most take about 2,000."""

Target = Mapping[str, str | None]


class PolicyError(Exception):
    """The policy file cannot be used; the service must not start with it."""


class Policy:
    def __init__(
        self, conf: cfg.ConfigOpts, *, cache: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._cache = cache
        self._clock = clock
        self._enforcer = _enforcer_of(conf)
        self._loading = threading.Lock()
        self._last_error: str | None = None
        self._checked_at = clock()
        try:
            self._enforcer.load_rules()
        except Exception as problem:
            raise PolicyError(
                f"The policy cannot be used: {self._reason(problem)}. Correct it, or correct"
                " [oslo_policy]policy_file and policy_dirs in the configuration."
            ) from problem
        self._rules_in_force = _RulesInForce(self._enforcer, cache=self._cache)

    def allows(self, rule: str, caller: Caller, target: Target | None = None) -> bool:
        """Return True if the rule permits this caller to act on this target (by default the caller's own project)."""
        if self._clock() - self._checked_at >= RELOAD_INTERVAL:
            self._reload_if_changed()
        return self._rules_in_force.allow(rule, caller, target)

    def checks(self) -> dict[str, object]:
        """The check in force for each rule, including rules that only the operator's file defines."""
        return dict(self._rules_in_force.rules)

    def _reload_if_changed(self) -> None:
        # One thread reloads; the others continue with the rules in force instead of waiting.
        if not self._loading.acquire(blocking=False):
            return
        try:
            self._checked_at = self._clock()
            self._reset_if_file_is_gone()
            # After a failure oslo.policy treats the file as read: force it to read the file again.
            self._enforcer.load_rules(force_reload=self._last_error is not None)
        except Exception as problem:
            if str(problem) != self._last_error:
                LOG.error("The policy is not reloaded, its file cannot be used: %s", self._reason(problem))
            self._last_error = str(problem)
        else:
            self._last_error = None
            if self._rules_in_force.origin is not self._enforcer.rules:
                LOG.info("The policy was reloaded")
                self._rules_in_force = _RulesInForce(self._enforcer, cache=self._cache)
        finally:
            self._loading.release()

    def _reset_if_file_is_gone(self) -> None:
        """Return to the defaults if the file was deleted: oslo.policy would log an error and reload at every check."""
        path = self._enforcer.policy_path
        if path and not Path(path).exists():
            LOG.warning("The policy file %s was deleted: the defaults are in force", path)
            self._enforcer = _enforcer_of(self._enforcer.conf)

    def _reason(self, problem: Exception) -> str:
        """The problem, with file and line where they can be determined."""
        return str(policy_files.find_broken_file(self._enforcer.conf) or problem)


def get_enforcer() -> policy.Enforcer:
    """Return the rules with the operator's overrides. Entry point for the commands of oslo.policy."""
    return _enforcer_of(loader.load())


def _enforcer_of(conf: cfg.ConfigOpts) -> policy.Enforcer:
    enforcer = policy.Enforcer(conf)
    # The defaults changed years ago upstream; a warning per rule at each start is useless.
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults(list_rules())
    return enforcer


class _RulesInForce:
    """One state of the rules, and the cache of its decisions.

    A reload fills the enforcer's rules step by step, and a thread that decides meanwhile would find half of them. So
    decisions use a copy that is never reloaded.
    """

    def __init__(self, loaded: policy.Enforcer, *, cache: bool) -> None:
        self.origin = loaded.rules
        self.rules = policy.Rules(dict(loaded.rules), loaded.rules.default_rule)
        self._enforcer = copy.copy(loaded)
        self._enforcer.rules = self.rules
        self._enforcer.use_conf = False
        rules = loaded.registered_rules if cache else ()
        self._cacheable = {name for name in rules if self._is_cacheable(name, set())}
        self._decisions: BoundedCache[tuple[object, ...], bool] = BoundedCache(
            MAX_DECISIONS, MAX_DECISION_BYTES, max_key_bytes=MAX_CASE_BYTES
        )

    def allow(self, rule: str, caller: Caller, target: Target | None) -> bool:
        if rule not in self._cacheable:
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

    def _is_cacheable(self, rule: str, visited: set[str]) -> bool:
        """Return True if decisions depend on the arguments only. A check of a plugin may query another server."""
        if rule in visited:
            return True
        visited.add(rule)
        try:
            check = self.rules[rule]
        except KeyError:
            return True
        return all(
            type(part).__module__ == policy.RuleCheck.__module__
            and (not isinstance(part, policy.RuleCheck) or self._is_cacheable(part.match, visited))
            for part in policy_files.parts(check)
        )
