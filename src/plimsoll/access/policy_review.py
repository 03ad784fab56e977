# SPDX-License-Identifier: Apache-2.0

"""What an operator wants to know of the policy: which check is in force where, who said so, and what looks wrong.

Nothing here decides anything: the checks in force are those of a `Policy`, the files are read a second time for
the lines.
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


class RuleOrigin(enum.Enum):
    """Who said so."""

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
    """File and line, where it is an operator's."""
    operations: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    """Something about a policy file. A `fault` lets nobody do what somebody was meant to."""

    severity: str
    place: str
    what: str


def rules_in_force(loaded: Policy, written: Sequence[Override]) -> list[RuleInForce]:
    """All rules that guard something or that those lean on, then the operator's own."""
    checks = loaded.checks()
    by_name = {override.name: override for override in written}
    known = {rule.name: rule for rule in list_rules()}
    own = [name for name in by_name if name in checks and name not in known and name not in _deprecated()]
    return [
        *(_in_force(rule, checks[name], by_name) for name, rule in known.items()),
        *(
            RuleInForce(name, by_name[name].written, RuleOrigin.FILE, by_name[name].place, (), "Your own.")
            for name in own
        ),
    ]


def review(conf: cfg.ConfigOpts, loaded: Policy, written: Sequence[Override]) -> list[PolicyFinding]:
    """All that looks wrong in files that could be loaded, in the order in which it stands there."""
    return [*_files(conf), *(finding for each in written for finding in _rule(each, conf, loaded, written))]


def similar(name: str) -> str:
    """` Did you mean ...?`, or nothing."""
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
    """Old names, each with those that have come in its place."""
    names: dict[str, list[str]] = {}
    for rule in list_rules():
        if rule.deprecated_rule:
            names.setdefault(rule.deprecated_rule.name, []).append(rule.name)
    return names


def _files(conf: cfg.ConfigOpts) -> Iterator[PolicyFinding]:
    options = conf.oslo_policy
    named = conf.get_location("policy_file", "oslo_policy")
    if (
        named is not None
        and named.location.is_user_controlled
        and conf.find_file(options.policy_file) is None
    ):
        yield PolicyFinding(
            "warning",
            f"[oslo_policy] policy_file = {options.policy_file}",
            "there is no such file: the defaults are in force",
        )
    for file in policy_files.policy_files(conf):
        if file.suffix == ".json":
            yield PolicyFinding(
                "warning",
                str(file),
                "JSON works and is deprecated; convert it with oslopolicy-convert-json-to-yaml --namespace plimsoll",
            )
        elif file.suffix not in (".yaml", ".yml"):
            yield PolicyFinding(
                "warning", str(file), "its name does not end in .yaml, and yet it is in force"
            )


def _rule(
    one: Override, conf: cfg.ConfigOpts, loaded: Policy, written: Sequence[Override]
) -> Iterator[PolicyFinding]:
    def warning(what: str) -> PolicyFinding:
        return PolicyFinding("warning", one.place, what)

    def fault(what: str) -> PolicyFinding:
        return PolicyFinding("fault", one.place, what)

    known = {rule.name: rule for rule in list_rules()}
    checks = loaded.checks()
    later = [each for each in written if each.name == one.name and each is not one]
    if any(each.file == one.file and each.line > one.line for each in later):
        yield warning(f"{one.name} stands in this file again, further down: this one does not count")
        return
    if not one.written:
        yield warning(f'{one.name} has no check, so that everybody may; if that is meant, write "@"')
    if not one.is_understood:
        yield fault(f"{one.name}: {one.written!r} cannot be understood, or a part of it cannot: that denies")
    missing = sorted(name for name in one.references if name not in checks)
    if missing and conf.oslo_policy.policy_default_rule not in checks:
        yield fault(f"{one.name} leans on {', '.join(missing)}, which is defined nowhere, so that it denies")
    if one.name in _reach(one.name, checks):
        yield fault(f"{one.name} leans on itself in the end, so that it denies")
    if one.name in _deprecated():
        instead = ", ".join(_deprecated()[one.name])
        yield warning(f"{one.name} is deprecated and still counts; write these instead: {instead}")
    elif one.name in known:
        if str(one.check) == str(known[one.name].check):
            yield warning(f"{one.name} says what the default says; it can go")
    elif one.name != conf.oslo_policy.policy_default_rule and not any(
        one.name in other.references for other in written
    ):
        yield warning(
            f"{one.name} guards nothing, and no other rule leans on it: it is ignored.{similar(one.name)}"
        )


def _reach(name: str, checks: Mapping[str, object]) -> set[str]:
    """All rules that a rule leans on, and those that they lean on."""
    reached: set[str] = set()
    ahead = [name]
    while ahead:
        for part in policy_files.parts(checks.get(ahead.pop())):
            if isinstance(part, policy.RuleCheck) and part.match not in reached:
                reached.add(part.match)
                ahead.append(part.match)
    return reached
