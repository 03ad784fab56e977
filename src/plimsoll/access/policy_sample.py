# SPDX-License-Identifier: Apache-2.0

"""A sample policy file: all default rules, commented out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from oslo_policy import policy

from plimsoll.access.policy_rules import BASE_RULES, RULES

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
    blocks = [
        _HEADER,
        "# Groups of callers, which the rules below refer to.\n",
        *map(_block, BASE_RULES),
        _deprecated(),
        "# The rule of each operation.\n",
        *map(_block, RULES),
    ]
    return "\n".join(blocks)


def _block(rule: policy.RuleDefault) -> str:
    return "\n".join([*_comment(rule), f'#"{rule.name}": "{rule.check_str}"', ""])


def _comment(rule: policy.RuleDefault) -> Iterator[str]:
    yield f"# {rule.description}"
    for operation in getattr(rule, "operations", ()):
        yield f"#   {operation['method']} {operation['path']}"


def _deprecated() -> str:
    olds = {rule.deprecated_rule.name: rule.deprecated_rule for rule in BASE_RULES if rule.deprecated_rule}
    blocks = []
    for name, old in olds.items():
        instead = ", ".join(
            rule.name for rule in BASE_RULES if rule.deprecated_rule and rule.deprecated_rule.name == name
        )
        text = (
            f'Deprecated: "{name}": "{old.check_str}". {old.deprecated_reason} An override of it still applies to the'
            f" rules that replace it, where they have no override of their own: {instead}."
        )
        blocks.append("\n".join(f"# {line}" for line in textwrap.wrap(text, _WIDTH)) + "\n")
    return "\n".join(blocks)
