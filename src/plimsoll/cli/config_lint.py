# SPDX-License-Identifier: Apache-2.0

"""Find settings of a placement.conf that have another effect here than in Placement, or none.

Unknown settings are ignored, as in Placement; likely misspellings are warnings.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from oslo_config import cfg

from plimsoll.access import authplugin
from plimsoll.config import loader, origins

_OURS = "plimsoll"
_DIFFERENT: dict[tuple[str, str], str] = {
    ("DEFAULT", "tempdir"): "not used",
    ("DEFAULT", "pybasedir"): "not used",
    ("DEFAULT", "state_path"): "used only by other options that contain $state_path",
    ("placement", "allocation_conflict_retry_count"): "not used, there is nothing to retry",
    ("placement_database", "slave_connection"): "not used, reads are served from memory",
    ("placement_database", "connection_trace"): "not used",
    ("workarounds", "optimize_for_wide_provider_trees"): "not used, searches are always pruned",
}
_NOAUTH = "tokens are not verified; Plimsoll accepts requests from other machines only if [plimsoll]allow_insecure_noauth is set"
_MIN_SIMILARITY = 0.9


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting and its effect. A warning means that the operator should change it."""

    place: str
    meaning: str
    is_warning: bool = False
    written: str | None = None
    """File and line, or the environment variable."""

    def __str__(self) -> str:
        where = f"{self.written}: " if self.written else ""
        return f"{where}{self.place}: {self.meaning}"


def lint(conf: cfg.ConfigOpts) -> list[Setting]:
    return [*_different(conf), *_unknown(conf)]


def _different(conf: cfg.ConfigOpts) -> Iterator[Setting]:
    for (group, option), meaning in _DIFFERENT.items():
        if origins.is_set(conf, group, option):
            yield Setting(f"[{group}] {option}", meaning, written=origins.place(conf, group, option))
    if conf.api.auth_strategy == "noauth2" and not conf.plimsoll.allow_insecure_noauth:
        place = origins.place(conf, "api", "auth_strategy")
        yield Setting("[api] auth_strategy = noauth2", _NOAUTH, True, place)


def _unknown(conf: cfg.ConfigOpts) -> Iterator[Setting]:
    unchecked = () if _plugin_is_known(conf) else (authplugin.SECTION,)
    sections: set[str] = set()
    for line in origins.lines(conf):
        if not _is_section(conf, line.section):
            if line.section not in sections:
                yield _no_section(conf, line)
            sections.add(line.section)
        elif line.section not in unchecked and not _is_option(conf, line.section, line.option):
            yield _no_option(conf, line.section, line.option, line.place)
    for variable, group, option in origins.variables():
        if _is_section(conf, group) and group not in unchecked and not _is_option(conf, group, option):
            yield _no_option(conf, group, option, variable)


def _plugin_is_known(conf: cfg.ConfigOpts) -> bool:
    """Return True if the options of the auth plugin are known: if it is set and installed."""
    try:
        section, _ = authplugin.register(conf)
    except loader.ConfigError:
        return False
    return bool(conf[section].auth_type)


def _is_section(conf: cfg.ConfigOpts, section: str) -> bool:
    return section == "DEFAULT" or section.lower() in _sections(conf)


def _is_option(conf: cfg.ConfigOpts, section: str, option: str) -> bool:
    return option in _options(conf, section) or (section.lower(), option) in _old_names()


def _sections(conf: cfg.ConfigOpts) -> set[str]:
    return {name for name in conf if isinstance(conf[name], cfg.ConfigOpts.GroupAttr)}


def _options(conf: cfg.ConfigOpts, section: str) -> set[str]:
    return set(conf) - _sections(conf) if section == "DEFAULT" else set(conf[section.lower()])


@functools.cache
def _old_names() -> frozenset[tuple[str, str]]:
    return frozenset(
        ((old.group or group).lower(), (old.name or opt.name).replace("-", "_"))
        for group, opts in loader.all_opts()
        for opt in opts
        for old in opt.deprecated_opts
    )


def _no_section(conf: cfg.ConfigOpts, line: origins.Line) -> Setting:
    similar = difflib.get_close_matches(line.section.lower(), _sections(conf), 1, _MIN_SIMILARITY)
    meaning = f"no such section, did you mean [{similar[0]}]?" if similar else "no such section"
    return Setting(f"[{line.section}]", meaning, bool(similar) or line.section.startswith(_OURS), line.place)


def _no_option(conf: cfg.ConfigOpts, section: str, option: str, place: str) -> Setting:
    similar = difflib.get_close_matches(option, _options(conf, section), 1, _MIN_SIMILARITY)
    meaning = f"no such option, did you mean {similar[0]}?" if similar else "no such option"
    return Setting(f"[{section}] {option}", meaning, bool(similar) or section == _OURS, place)
