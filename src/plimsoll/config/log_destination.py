# SPDX-License-Identifier: Apache-2.0

"""Check before workers start that the log's destination can be written."""

from __future__ import annotations

import configparser
import os
from pathlib import Path

from oslo_config import cfg

from plimsoll.config import loader

FILE_IN_DIRECTORY = "placement-api.log"
"""The file in `log_dir` if `log_file` is not set. oslo.log would name it after the worker's program."""

_SECTIONS = ("loggers", "handlers", "formatters")


def prepare(conf: cfg.ConfigOpts) -> None:
    """Set the default of `log_file`, and raise ConfigError if a log file or logging configuration cannot be used."""
    if conf.log_config_append:
        _check_configuration(conf, Path(conf.log_config_append))
        return
    if conf.log_dir and not conf.log_file:
        conf.set_default("log_file", FILE_IN_DIRECTORY)
    if conf.log_file:
        option = "log_dir" if conf.log_dir else "log_file"
        _check_writable(conf, option, Path(conf.log_dir or "", conf.log_file))


def _check_configuration(conf: cfg.ConfigOpts, file: Path) -> None:
    def option_error(reason: object) -> loader.ConfigError:
        return loader.option_error(conf, "DEFAULT", "log_config_append", f"{file}: {reason}")

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(file.read_text(), str(file))
    except OSError as error:
        raise option_error(error.strerror) from error
    except (configparser.Error, UnicodeDecodeError) as error:
        raise option_error(" ".join(str(error).split())) from error
    missing = [section for section in _SECTIONS if section not in parser]
    if missing:
        raise option_error(f"not a configuration of Python's logging, it has no section [{missing[0]}]")


def _check_writable(conf: cfg.ConfigOpts, option: str, file: Path) -> None:
    existing = file if file.exists() else file.parent
    if not existing.exists():
        raise loader.option_error(conf, "DEFAULT", option, f"{existing}: there is no such directory")
    if file.is_dir():
        raise loader.option_error(conf, "DEFAULT", option, f"{file}: this is a directory")
    if not os.access(existing, os.W_OK):
        raise loader.option_error(conf, "DEFAULT", option, f"{existing}: no permission to write")
