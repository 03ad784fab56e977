# SPDX-License-Identifier: Apache-2.0

"""Where the log goes, and whether it can: found out before a worker starts and fails in the middle of a line."""

from __future__ import annotations

import configparser
import os
from pathlib import Path

from oslo_config import cfg

from plimsoll.config import loader

FILE_IN_DIRECTORY = "placement-api.log"
"""In a `log_dir` without a `log_file`. oslo.log would name it after whatever program the worker is."""

_SECTIONS = ("loggers", "handlers", "formatters")


def settle(conf: cfg.ConfigOpts) -> None:
    """Make the settings of the log such as oslo.log can follow, or raise a ConfigError that names the one in the way."""
    if conf.log_config_append:
        _check_configuration(conf, Path(conf.log_config_append))
        return
    if conf.log_dir and not conf.log_file:
        conf.set_default("log_file", FILE_IN_DIRECTORY)
    if conf.log_file:
        option = "log_dir" if conf.log_dir else "log_file"
        _check_writable(conf, option, Path(conf.log_dir or "", conf.log_file))


def _check_configuration(conf: cfg.ConfigOpts, file: Path) -> None:
    def wrong(reason: object) -> loader.ConfigError:
        return loader.wrong(conf, "DEFAULT", "log_config_append", f"{file}: {reason}")

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(file.read_text(), str(file))
    except OSError as error:
        raise wrong(error.strerror) from error
    except (configparser.Error, UnicodeDecodeError) as error:
        raise wrong(" ".join(str(error).split())) from error
    missing = [section for section in _SECTIONS if section not in parser]
    if missing:
        raise wrong(f"this is no configuration of Python's logging, it has no section [{missing[0]}]")


def _check_writable(conf: cfg.ConfigOpts, option: str, file: Path) -> None:
    existing = file if file.exists() else file.parent
    if not existing.exists():
        raise loader.wrong(conf, "DEFAULT", option, f"{existing}: there is no such directory")
    if file.is_dir():
        raise loader.wrong(conf, "DEFAULT", option, f"{file}: this is a directory")
    if not os.access(existing, os.W_OK):
        raise loader.wrong(conf, "DEFAULT", option, f"{existing}: may not be written")
