# SPDX-License-Identifier: Apache-2.0

"""The rules with the operator's changes, for `oslopolicy-list-redundant --namespace placement` and its like."""

from __future__ import annotations

from plimsoll.access.policy import get_enforcer

__all__ = ["get_enforcer"]
