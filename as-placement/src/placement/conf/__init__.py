# SPDX-License-Identifier: Apache-2.0

"""The options, for programs that prepare a configuration themselves, mostly tests of other services."""

from __future__ import annotations

from oslo_config import cfg
from oslo_log import log

from plimsoll.config import loader

__all__ = ["register_opts"]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register every option with `conf`, those of oslo.log also as command line options."""
    log.register_options(conf)
    loader.register(conf)
