# SPDX-License-Identifier: Apache-2.0

"""The rules of the policy, for `oslopolicy-sample-generator --namespace placement` and whoever asks for them here."""

from __future__ import annotations

from plimsoll.access.policy_rules import list_rules

__all__ = ["list_rules"]
