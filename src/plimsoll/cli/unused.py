# SPDX-License-Identifier: Apache-2.0

"""Settings of a placement.conf that mean something else here than to Placement, or nothing at all.

Sections of libraries are left to the libraries: which options [keystone_authtoken] has, only its plugin knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oslo_config import cfg

from plimsoll import config

_OURS = "plimsoll"
_EMBEDDED = "is not set, so that Plimsoll uses an embedded database of its own (Placement would not start)"
_DIFFERENT: dict[tuple[str, str], str] = {
    ("DEFAULT", "tempdir"): "not used",
    ("DEFAULT", "pybasedir"): "not used",
    ("DEFAULT", "state_path"): "only the embedded database is there, and connection names another",
    ("placement", "allocation_conflict_retry_count"): "not used, there is nothing to retry",
    ("placement_database", "slave_connection"): "not used, reads are answered from memory",
    ("placement_database", "connection_trace"): "not used",
    ("workarounds", "optimize_for_wide_provider_trees"): "not used, searches are always pruned",
}
_NOAUTH = "everybody is believed; Plimsoll serves that to other hosts only if [plimsoll]allow_insecure_noauth is set"
_UNKNOWN = "no such option"
_NO_SECTION = "no such section"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, what becomes of it, and whether an operator had better do something about it."""

    place: str
    meaning: str
    matters: bool = False


def settings(conf: cfg.ConfigOpts) -> list[Setting]:
    return [*_known(conf), *_unknown(conf)]


def _known(conf: cfg.ConfigOpts) -> Iterator[Setting]:
    if config.is_embedded(conf):
        yield Setting("[placement_database] connection", _EMBEDDED)
    for (group, option), meaning in _DIFFERENT.items():
        if _is_set(conf, group, option) and not (option == "state_path" and config.is_embedded(conf)):
            yield Setting(f"[{group}] {option}", meaning)
    if conf.api.auth_strategy == "noauth2" and not conf.plimsoll.allow_insecure_noauth:
        yield Setting("[api] auth_strategy = noauth2", _NOAUTH, matters=True)


def _is_set(conf: cfg.ConfigOpts, group: str, option: str) -> bool:
    found = conf.get_location(option, None if group == "DEFAULT" else group)
    return found is not None and found.location.is_user_controlled


def _unknown(conf: cfg.ConfigOpts) -> Iterator[Setting]:
    own = {group for group, _ in config.list_opts()}
    for section, options in _written(conf).items():
        if section not in conf and section != "DEFAULT":
            yield Setting(f"[{section}]", _NO_SECTION, matters=section.startswith(_OURS))
        elif section in own:
            known = conf if section == "DEFAULT" else conf[section]
            for option in options:
                if option.replace("-", "_") not in known:
                    yield Setting(f"[{section}] {option}", _UNKNOWN, matters=section == _OURS)


def _written(conf: cfg.ConfigOpts) -> dict[str, dict[str, object]]:
    """All that the files say, whether anybody knows it or not."""
    sections: dict[str, dict[str, object]] = {}
    files = [Path(file) for file in conf.config_file or ()]
    for directory in conf.config_dir or ():
        files += sorted(Path(directory).glob("*.conf"))
    for file in files:
        if file.exists():
            cfg.ConfigParser(str(file), sections).parse()
    return sections
