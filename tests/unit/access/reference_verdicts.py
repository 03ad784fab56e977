# SPDX-License-Identifier: Apache-2.0

"""Compute the decisions of the reference; run by the Python in whose environment it is installed.

Reads scenarios as JSON on standard input and writes, for each, the callers and the rules that the reference allows them.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from oslo_config import cfg
from placement import conf as placement_conf
from placement import context, policies, policy


def verdicts(scenario: dict[str, Any]) -> dict[str, dict[str, bool]]:
    conf = cfg.ConfigOpts()
    placement_conf.register_opts(conf)
    conf.set_override("connection", "sqlite://", group="placement_database")
    conf([], default_config_files=[])
    conf.set_override("enforce_new_defaults", scenario["enforce_new_defaults"], group="oslo_policy")
    conf.set_override("policy_file", scenario["policy_file"], group="oslo_policy")
    policy.reset()
    policy.init(conf, suppress_deprecation_warnings=True)
    decisions = {}
    for name, environ in scenario["callers"].items():
        ctx = context.RequestContext.from_environ(environ)
        decisions[name] = {
            f"{rule} on {target_name}": bool(ctx.can(rule, target, fatal=False))
            for rule in scenario["rules"]
            for target_name, target in scenario["targets"].items()
        }
    return decisions


def rules() -> dict[str, Any]:
    return {
        rule.name: {
            "check": rule.check_str,
            "scopes": rule.scope_types,
            "deprecated": rule.deprecated_rule
            and [
                rule.deprecated_rule.name,
                rule.deprecated_rule.check_str,
                rule.deprecated_rule.deprecated_since,
            ],
            "operations": sorted(
                f"{each['method']} {each['path']}" for each in getattr(rule, "operations", ())
            ),
        }
        for rule in policies.list_rules()
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    scenarios = json.load(sys.stdin)
    json.dump({"rules": rules(), "verdicts": [verdicts(scenario) for scenario in scenarios]}, sys.stdout)
