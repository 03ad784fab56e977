# SPDX-License-Identifier: Apache-2.0

"""A policy file that says what holds by default, all of it commented out: a place to start from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from oslo_policy import policy

from plimsoll.access.policy_rules import BASIS, RULES

_HEADER = """\
# Who may do what. Everything here is commented out and says what holds without it: uncomment a line, change it, and
# leave out the others. It takes effect within a second. Name this file policy.yaml and put it beside placement.conf,
# or name it in [oslo_policy]policy_file; `plimsoll policy check` looks for mistakes in it.
#
#   role:operator              the role operator, in the caller's project
#   project_id:%(project_id)s  the caller's project is the one that is asked about
#   rule:admin_api             whoever that rule allows
#   @   !                      everybody, nobody
#
# They are put together with and, or, not and parentheses.
"""
_WIDTH = 100


def sample() -> str:
    """The text of the file."""
    blocks = [
        _HEADER,
        "# Groups of people, which the rules below lean on.\n",
        *map(_block, BASIS),
        _deprecated(),
        "# What each operation asks for.\n",
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
    olds = {rule.deprecated_rule.name: rule.deprecated_rule for rule in BASIS if rule.deprecated_rule}
    blocks = []
    for name, old in olds.items():
        instead = ", ".join(
            rule.name for rule in BASIS if rule.deprecated_rule and rule.deprecated_rule.name == name
        )
        text = (
            f'Deprecated: "{name}": "{old.check_str}". {old.deprecated_reason} An override of it still counts for the'
            f" rules that came in its place and have no override of their own: {instead}."
        )
        blocks.append("\n".join(f"# {line}" for line in textwrap.wrap(text, _WIDTH)) + "\n")
    return "\n".join(blocks)
