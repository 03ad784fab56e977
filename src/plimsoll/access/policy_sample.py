# SPDX-License-Identifier: Apache-2.0

"""A sample policy file: all default rules, commented out."""

from __future__ import annotations

import textwrap

from oslo_policy import policy

from plimsoll.access.policy_rules import BASE_RULES, OLD_ADMIN_API, RULES, V1_RULES

_HEADER = """\
# Which callers may do what. Every rule here is commented out and shows the default: uncomment a line and change it; you
# can delete the others. Changes take effect within a second. Name this file policy.yaml and put it in the directory of
# placement.conf, or set [oslo_policy]policy_file to its path. `plimsoll policy check` finds mistakes in it.
#
#   role:operator              callers with the role operator in their project
#   project_id:%(project_id)s  callers whose project is the one that the request is about
#   rule:admin_api             callers that this rule allows
#   @   !                      all callers, no callers
#
# Combine checks with and, or, not and parentheses.
"""
_WIDTH = 100


def sample() -> str:
    """Return the text of the file."""
    return "\n".join(
        [
            _HEADER,
            "# Groups of callers, which the rules below refer to.\n",
            *map(_block, BASE_RULES),
            _deprecated(),
            "# The rule of each operation.\n",
            *map(_block, RULES),
            "# The rules of the Plimsoll API.\n",
            *map(_block, V1_RULES),
        ]
    )


def _block(rule: policy.RuleDefault) -> str:
    operations = [f"#   {each['method']} {each['path']}" for each in getattr(rule, "operations", ())]
    return "\n".join([f"# {rule.description}", *operations, f'#"{rule.name}": "{rule.check_str}"', ""])


def _deprecated() -> str:
    instead = ", ".join(rule.name for rule in BASE_RULES if rule.deprecated_rule)
    text = (
        f'Deprecated: "{OLD_ADMIN_API.name}": "{OLD_ADMIN_API.check_str}". {OLD_ADMIN_API.deprecated_reason} An override of'
        f" it still applies to the rules that replace it, where they have no override of their own: {instead}."
    )
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, _WIDTH))
