# SPDX-License-Identifier: Apache-2.0

"""The policy with the operator's overrides, for `oslopolicy-list-redundant --namespace placement` and similar commands."""

from __future__ import annotations

from plimsoll.access.policy import get_enforcer

__all__ = ["get_enforcer"]
