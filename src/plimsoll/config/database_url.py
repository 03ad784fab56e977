# SPDX-License-Identifier: Apache-2.0

"""The configured database. There is no default: with one, a misspelt section would serve an empty database."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace

from oslo_config import cfg

from plimsoll.config import loader, origins
from plimsoll.fast_paths import FastPaths
from plimsoll.metrics import NO_METRICS, Metrics
from plimsoll.runtime.base import Runtime
from plimsoll.storage.database import Database, DatabaseOptions, UnusableDatabaseError

SECTION, OPTION = "placement_database", "connection"
VARIABLE = f"OS_{SECTION}__{OPTION}".upper()

# Lower than elsewhere: the setting is missing, so a less similar name is probably meant for it.
_SIMILAR = 0.6

_NO_FILE = (
    "No configuration file was found, and [placement_database] connection is required. placement.conf is searched for in"
    " ~/.placement, ~, /etc/placement and /etc, or in the directory OS_PLACEMENT_CONFIG_DIR."
)
_REMEDY = f"Set connection = mysql+pymysql://user:password@host/placement there, or {VARIABLE}."


def database_url(conf: cfg.ConfigOpts) -> str:
    """Return the URL of the database. Raise ConfigError if it is not set, with the files read and likely misspellings."""
    url = conf.placement_database.connection
    if not url:
        raise loader.ConfigError([_missing(conf)])
    return str(url)


def open_database(
    conf: cfg.ConfigOpts, *, retry: bool = True, runtime: Runtime | None = None, metrics: Metrics = NO_METRICS
) -> Database:
    """Open the configured database without connecting yet.

    With `retry`, failed connections are retried [placement_database]max_retries times; without it, the first failure
    is raised.
    """
    url = database_url(conf)
    options = DatabaseOptions.from_sections(conf.placement_database, conf.plimsoll)
    if not retry:
        options = replace(options, max_retries=0)
    try:
        fast_paths = FastPaths.without(conf.plimsoll.disable_fast_paths)
        return Database(url, options, runtime=runtime, fast_paths=fast_paths, metrics=metrics)
    except UnusableDatabaseError as error:
        raise loader.option_error(conf, SECTION, OPTION, error) from error


def _missing(conf: cfg.ConfigOpts) -> str:
    files = origins.files(conf)
    stated = f"{', '.join(map(str, files))}: [{SECTION}] {OPTION} is required, and" if files else _NO_FILE
    if not files:
        return " ".join((stated, *_similar_variables(conf), _REMEDY))
    sections = origins.sections(conf)
    ours = [line for line in origins.lines(conf) if line.section.lower() == SECTION]
    if SECTION not in map(str.lower, sections):
        stated += f" there is no section [{SECTION}]."
        similar = difflib.get_close_matches(SECTION, sections, 1, _SIMILAR)
        hints = [f"{sections[name]}: did you mean [{SECTION}] by [{name}]?" for name in similar]
    elif any(line.option == OPTION for line in ours):
        stated, hints = f"{stated} its value is empty.", []
    else:
        stated += " the section does not set it."
        similar = difflib.get_close_matches(OPTION, [line.option for line in ours], 1, _SIMILAR)
        hints = [
            f"{line.place}: did you mean {OPTION} by {line.option}?"
            for line in ours
            if line.option in similar and line.option not in conf.placement_database
        ]
    return " ".join((stated, *hints, *_similar_variables(conf), _REMEDY))


def _similar_variables(conf: cfg.ConfigOpts) -> list[str]:
    """Environment variables whose names look like a misspelling, such as one with a single underscore."""
    known = {f"OS_{SECTION}__{option}".upper() for option in conf.placement_database}
    similar = difflib.get_close_matches(VARIABLE, [name for name in os.environ if name not in known], 1, 0.85)
    return [f"Did you mean {VARIABLE} by the environment variable {name}?" for name in similar]
