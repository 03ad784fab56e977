# SPDX-License-Identifier: Apache-2.0

"""The settings, for those who prepare a configuration themselves: tests of other services, mostly."""

from __future__ import annotations

from oslo_config import cfg
from oslo_log import log

from plimsoll.config import loader

__all__ = ["register_opts"]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Make every option known to `conf`, those of the log as options of a command line too."""
    log.register_options(conf)
    loader.register(conf)
