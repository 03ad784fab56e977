# SPDX-License-Identifier: Apache-2.0

"""A report on the policy: the check in force for each rule, where it is defined, and likely mistakes.

Nothing here authorizes requests. The checks in force come from a `Policy`; the files are read a second time for the
line numbers.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from oslo_config import cfg
from oslo_policy import policy

from plimsoll.access import policy_files
from plimsoll.access.policy import Policy
from plimsoll.access.policy_files import Override
from plimsoll.access.policy_rules import list_rules
from plimsoll.config import origins

_JSON = (
    "JSON is deprecated, but still read; convert it with oslopolicy-convert-json-to-yaml --namespace plimsoll"
)


class RuleOrigin(enum.StrEnum):
    """Where the check in force is defined."""

    DEFAULT = "default"
    FILE = "file"
    DEPRECATED = "deprecated override"
    OLD_DEFAULT = "default, old one too"


@dataclass(frozen=True, slots=True)
class RuleInForce:
    name: str
    check: str
    origin: RuleOrigin
    place: str | None
    """File and line of an operator's rule."""
    operations: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    """A likely mistake in a policy file. A `fault` denies more than the operator intended."""

    severity: str
    place: str
    message: str


def rules_in_force(loaded: Policy, written: Sequence[Override]) -> list[RuleInForce]:
    """Return all rules of the API and the rules that they refer to, then the operator's own rules."""
    checks = loaded.checks()
    by_name = {override.name: override for override in written}
    known = {rule.name: rule for rule in list_rules()}
    own = [name for name in by_name if name in checks and name not in known and name not in _deprecated()]
    return [
        *(_in_force(rule, checks[name], by_name) for name, rule in known.items()),
        *(
            RuleInForce(each.name, each.written, RuleOrigin.FILE, each.place, (), "Your own rule.")
            for each in map(by_name.__getitem__, own)
        ),
    ]


def review(conf: cfg.ConfigOpts, loaded: Policy, written: Sequence[Override]) -> list[PolicyFinding]:
    """Return the likely mistakes in files that could be loaded, in the order of their lines."""
    found = ((each.place, *finding) for each in written for finding in _rule(each, conf, loaded, written))
    return [*_files(conf), *(PolicyFinding(severity, place, message) for place, severity, message in found)]


def suggest_rule(name: str) -> str:
    """Return ` Did you mean ...?` with the most similar rule name, or an empty text."""
    near = difflib.get_close_matches(name, [rule.name for rule in list_rules()], 1)
    return f" Did you mean {near[0]}?" if near else ""


def _in_force(rule: policy.RuleDefault, check: object, by_name: Mapping[str, Override]) -> RuleInForce:
    operations = tuple(f"{each['method']} {each['path']}" for each in getattr(rule, "operations", ()))

    def found(check: str, origin: RuleOrigin, place: str | None = None) -> RuleInForce:
        return RuleInForce(rule.name, check, origin, place, operations, rule.description or "")

    if rule.name in by_name:
        override = by_name[rule.name]
        return found(override.written, RuleOrigin.FILE, override.place)
    if str(check) == str(rule.check):
        return found(rule.check_str, RuleOrigin.DEFAULT)
    old = by_name.get(rule.deprecated_rule.name) if rule.deprecated_rule else None
    if old is not None and str(check) == str(old.check):
        return found(old.written, RuleOrigin.DEPRECATED, old.place)
    return found(str(check), RuleOrigin.OLD_DEFAULT)


def _deprecated() -> dict[str, list[str]]:
    """Deprecated rule names, each with the rules that replace it."""
    names: dict[str, list[str]] = {}
    for rule in list_rules():
        if rule.deprecated_rule:
            names.setdefault(rule.deprecated_rule.name, []).append(rule.name)
    return names


def _files(conf: cfg.ConfigOpts) -> Iterator[PolicyFinding]:
    named = conf.oslo_policy.policy_file
    if origins.is_set(conf, "oslo_policy", "policy_file") and conf.find_file(named) is None:
        place, message = (
            f"[oslo_policy] policy_file = {named}",
            "there is no such file: the defaults are in force",
        )
        yield PolicyFinding("warning", place, message)
    for file in policy_files.policy_files(conf):
        if file.suffix == ".json":
            yield PolicyFinding("warning", str(file), _JSON)
        elif file.suffix not in (".yaml", ".yml"):
            yield PolicyFinding("warning", str(file), "its name does not end in .yaml, but it is in force")


def _rule(
    override: Override, conf: cfg.ConfigOpts, loaded: Policy, written: Sequence[Override]
) -> Iterator[tuple[str, str]]:
    """Yield severity and message of each likely mistake in a rule."""
    name, checks, default_rule = override.name, loaded.checks(), conf.oslo_policy.policy_default_rule
    known = {rule.name: rule for rule in list_rules()}
    same_name = [each for each in written if each.name == name and each.file == override.file]
    if any(each.line > override.line for each in same_name):
        yield "warning", f"{name} is defined again further down in this file: this line is ignored"
        return
    if not override.written:
        yield "warning", f'{name} has no check, so it allows every caller; if that is intended, write "@"'
    if not override.is_fully_parsed:
        yield "fault", f"{name}: {override.written!r}, or a part of it, cannot be parsed: that part denies"
    missing = sorted(each for each in override.references if each not in checks)
    if missing and default_rule not in checks:
        yield "fault", f"{name} refers to {', '.join(missing)}, which is not defined, so it denies"
    if name in _reachable_rules(name, checks):
        yield "fault", f"{name} refers to itself, directly or indirectly, so it denies"
    if name in _deprecated():
        instead = ", ".join(_deprecated()[name])
        yield "warning", f"{name} is deprecated, but still in force; use these instead: {instead}"
    elif name in known:
        if str(override.check) == str(known[name].check):
            yield "warning", f"{name} equals the default; it can be removed"
    elif name != default_rule and not any(name in other.references for other in written):
        unused = "is no rule of the API, and no other rule refers to it: it is ignored."
        yield "warning", f"{name} {unused}{suggest_rule(name)}"


def _reachable_rules(name: str, checks: Mapping[str, object]) -> set[str]:
    """Return all rules that a rule refers to, directly or through other rules."""
    reached: set[str] = set()
    pending = [name]
    while pending:
        for part in policy_files.parts(checks.get(pending.pop())):
            if isinstance(part, policy.RuleCheck) and part.match not in reached:
                reached.add(part.match)
                pending.append(part.match)
    return reached
