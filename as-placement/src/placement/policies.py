# SPDX-License-Identifier: Apache-2.0

"""The policy rules, for `oslopolicy-sample-generator --namespace placement` and other programs that import them."""

from __future__ import annotations

from plimsoll.access.policy_rules import list_rules

__all__ = ["list_rules"]
