# SPDX-License-Identifier: Apache-2.0

"""The options, for `oslo-config-generator --namespace placement.conf`."""

from __future__ import annotations

from oslo_config import cfg
from oslo_policy import opts as policy_opts

from plimsoll.config.loader import list_opts

__all__ = ["list_opts", "set_lib_defaults"]


def set_lib_defaults() -> None:
    """Set the defaults that library options have in this service."""
    policy_opts.set_defaults(cfg.CONF)
