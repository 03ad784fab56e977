# SPDX-License-Identifier: Apache-2.0

"""The place of each setting: file and line, or environment variable.

oslo.config reports the file of a setting, but not the line. The files are read a second time for the lines, and for
settings that are not registered as options.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oslo_config import cfg

_VARIABLE = re.compile(r"OS_([A-Z0-9_]+?)__([A-Z0-9_]+)")


@dataclass(frozen=True, slots=True)
class Line:
    """A setting in a file, whether it is a known option or not."""

    section: str
    option: str
    file: Path
    number: int

    @property
    def place(self) -> str:
        return f"{self.file}:{self.number}"


def lines(conf: cfg.ConfigOpts) -> list[Line]:
    """Return all settings in all files, in the order in which they are read: the last of equal names is in force."""
    return [
        Line(section, option, file, number)
        for file in files(conf)
        for number, section, option in _read(file)
        if option
    ]


def files(conf: cfg.ConfigOpts) -> list[Path]:
    """Return the files that were read, in order. A configuration that another program made may have none."""
    if "config_file" not in conf:
        return []
    found = [Path(file) for file in conf.config_file or ()]
    for directory in conf.config_dir or ():
        found += sorted(Path(directory).glob("*.conf"))
    return [file for file in found if file.is_file()]


def place(conf: cfg.ConfigOpts, group: str, option: str, file: str | None = None) -> str | None:
    """Return the place where an option is set, or None. `file` is returned if only a deprecated name is set."""
    variable = f"OS_{group}__{option}".upper()
    if variable in os.environ:
        return f"environment variable {variable}"
    sought = group.lower(), option
    found = [line for line in lines(conf) if (line.section.lower(), line.option) == sought]
    return found[-1].place if found else file


def is_set(conf: cfg.ConfigOpts, group: str, option: str) -> bool:
    return _location(conf, group, option) is not None


def place_in_force(conf: cfg.ConfigOpts, group: str, option: str) -> str | None:
    """Return the place where an option is set, by its name or by a deprecated one; None for a default."""
    found = _location(conf, group, option)
    return None if found is None else place(conf, group, option, found.detail)


def _location(conf: cfg.ConfigOpts, group: str, option: str) -> cfg.LocationInfo | None:
    found = conf.get_location(option, None if group == "DEFAULT" else group)
    return found if found is not None and found.location.is_user_controlled else None


def variables() -> Iterator[tuple[str, str, str]]:
    """Yield the environment variables named like settings, each with its group and option."""
    for name in sorted(os.environ):
        named = _VARIABLE.fullmatch(name)
        if named:
            group = named[1].lower()
            yield name, "DEFAULT" if group == "default" else group, named[2].lower()


def sections(conf: cfg.ConfigOpts) -> dict[str, str]:
    """Return the sections in all files, also empty ones, each with the place where it first begins."""
    found: dict[str, str] = {}
    for file in files(conf):
        for number, section, option in _read(file):
            if option is None:
                found.setdefault(section, f"{file}:{number}")
    return found


def _read(file: Path) -> Iterator[tuple[int, str, str | None]]:
    """Yield number, section and option of each line that begins a section (option None) or sets an option."""
    section = ""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if not line.strip() or line[0] in " \t#;":  # empty, a continuation of the line before, or a comment
            continue
        if line.startswith("["):
            section = line.strip()[1:-1]
            yield number, section, None
        else:
            yield number, section, re.split("[:=]", line, maxsplit=1)[0].strip().replace("-", "_")
