# SPDX-License-Identifier: Apache-2.0

"""Read and validate the settings of the service.

An operator's placement.conf works unchanged: the options are Placement's and some of our own, unknown ones are ignored,
and `OS_<GROUP>__<OPTION>` in the environment overrides the file.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Container, Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from keystonemiddleware import opts as keystone_opts
from oslo_config import cfg
from oslo_middleware import cors, http_proxy_to_wsgi
from oslo_policy import opts as policy_opts

import plimsoll
from plimsoll.config import origins
from plimsoll.config.options import CORS_DEFAULTS, OUR_OPTS

FILES_VARIABLE = "PLIMSOLL_CONFIG_FILES"
"""The environment variable with which `plimsoll serve` passes its --config-file options to its workers."""


class ConfigError(Exception):
    """The configuration cannot be used. Each problem has its place and the reason."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def load(sources: Sequence[str] = ()) -> cfg.ConfigOpts:
    """Return the configuration from the given files and directories, by default from where Placement's file is found.

    Every value is checked here, so that an invalid one fails the start and not a request.
    """
    conf = cfg.ConfigOpts()
    register(conf)
    named = [f"--config-{'dir' if os.path.isdir(source) else 'file'}={source}" for source in sources]  # noqa: PTH112  # which never fails
    return parse_config(conf, named, "plimsoll", plimsoll.__version__)


def parse_config(
    conf: cfg.ConfigOpts, arguments: Sequence[str], prog: str, version: str | None
) -> cfg.ConfigOpts:
    """Parse a command line and the files it names into `conf`, whose options are registered. Return `conf`."""
    directory = os.environ.get("OS_PLACEMENT_CONFIG_DIR", "").strip()
    files = [str(Path(directory) / "placement.conf")] if directory else None
    try:
        conf(list(arguments), project="placement", prog=prog, version=version, default_config_files=files)
    except cfg.ConfigFilesNotFoundError as problem:
        raise ConfigError([f"{file}: there is no such file" for file in problem.config_files]) from problem
    except cfg.ConfigFilesPermissionDeniedError as problem:
        raise ConfigError([f"{file}: Permission denied" for file in problem.config_files]) from problem
    except cfg.ConfigFileParseError as problem:
        raise ConfigError([str(problem.msg).removeprefix("at ").replace(", ", ": ", 1)]) from problem
    except cfg.Error as problem:
        raise ConfigError([str(problem)]) from problem
    except UnicodeDecodeError as problem:
        sources = [argument.partition("=")[2] or argument for argument in arguments]
        raise ConfigError([_find_non_text_file(sources, directory)]) from problem
    except OSError as problem:
        raise ConfigError([f"{problem.filename}: {problem.strerror}"]) from problem
    problems = list(_bad_values(conf))
    if problems:
        raise ConfigError(problems)
    return conf


def option_error(conf: cfg.ConfigOpts, group: str, option: str, reason: object) -> ConfigError:
    """Return the exception for a value that has the right type but cannot be used."""
    return ConfigError([_format_problem(conf, group, option, reason)])


def register(conf: cfg.ConfigOpts) -> None:
    """Register every option with `conf`, which another program may have prepared or already parsed.

    An option that is already registered stays as it is, with its default.
    """
    policy_opts.set_defaults(conf)  # oslo.policy registers its options again later, and they must be equal
    for group, opts in all_opts():
        for name in _register(conf, opts, None if group == "DEFAULT" else group):
            if group == "cors" and name in CORS_DEFAULTS:
                conf.set_default(name, CORS_DEFAULTS[name], group="cors")


def all_opts() -> list[tuple[str, Sequence[cfg.Opt]]]:
    """Return all options, ours and those of libraries, by group."""
    listed: list[tuple[str | None, Sequence[cfg.Opt]]] = [
        *OUR_OPTS,
        *_log_opts(),
        *policy_opts.list_opts(),
        ("cors", cors.CORS_OPTS),
        ("oslo_middleware", http_proxy_to_wsgi.OPTS),
        *keystone_opts.list_auth_token_opts(),
        *_profiler_opts(),
    ]
    return [(group or "DEFAULT", opts) for group, opts in listed]


def _profiler_opts() -> Sequence[tuple[str, Sequence[cfg.Opt]]]:
    if importlib.util.find_spec("osprofiler") is None:
        return ()
    listed: Sequence[tuple[str, Sequence[cfg.Opt]]] = importlib.import_module("osprofiler.opts").list_opts()
    return listed


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return our options. Entry point for `oslo-config-generator --namespace plimsoll`."""
    return [(group or "DEFAULT", list(opts)) for group, opts in OUR_OPTS]


def set_library_defaults() -> None:
    """Set our defaults of library options. Entry point for `oslo-config-generator --namespace plimsoll`."""
    cors.set_defaults(**CORS_DEFAULTS)


def _log_opts() -> list[tuple[str | None, Sequence[cfg.Opt]]]:
    """Return oslo.log's options from its entry point: its own function would also register command line options."""
    (published,) = entry_points(group="oslo.config.opts", name="oslo.log")
    listed: list[tuple[str | None, Sequence[cfg.Opt]]] = published.load()()
    return listed


def _register(conf: cfg.ConfigOpts, opts: Sequence[cfg.Opt], group: str | None) -> list[str]:
    """Register the options that are not registered yet, and return their names."""
    registered: Container[str] = conf
    if group is not None:
        registered = conf[group] if group in conf else ()  # noqa: SIM401  # its get() does not catch what [] raises
    missing = [opt for opt in opts if opt.dest not in registered]
    conf.register_opts(missing, group=group)
    return [opt.dest for opt in missing]


def _find_non_text_file(sources: Sequence[str], directory: str) -> str:
    """Return a message with the file that is not UTF-8: oslo.config's exception does not name it."""
    if not sources:
        sources = [directory] if directory else cfg.find_config_files("placement", "plimsoll")
    for source in map(Path, sources):
        for file in sorted(source.glob("*.conf")) if source.is_dir() else [source]:
            try:
                file.read_text()
            except UnicodeDecodeError as problem:
                return f"{file}: not a text in UTF-8, at byte {problem.start}"
            except OSError:
                continue
    return "A configuration file is not a text in UTF-8"


def _bad_values(conf: cfg.ConfigOpts) -> Iterator[str]:
    """Yield a message for each invalid value. oslo.config validates a value when it is read, so this reads all."""
    for name in conf:
        try:
            value = conf[name]
        except (ValueError, cfg.Error) as problem:
            yield _problem(conf, "DEFAULT", name, problem)
            continue
        if isinstance(value, cfg.ConfigOpts.GroupAttr):
            for option in value:
                try:
                    value[option]
                except (ValueError, cfg.Error) as problem:
                    yield _problem(conf, name, option, problem)


def _problem(conf: cfg.ConfigOpts, group: str, option: str, problem: Exception) -> str:
    if not isinstance(problem, ValueError):  # the value refers to another option as $name
        return _format_problem(conf, group, option, f"{problem}; write $$ for a dollar sign")
    file = re.search(r"detail='(.*?)'", str(problem))
    reason = str(problem).partition("is not valid: ")[2] or str(problem)
    return _format_problem(conf, group, option, reason, file and file[1])


def _format_problem(
    conf: cfg.ConfigOpts, group: str, option: str, reason: object, file: str | None = None
) -> str:
    return f"{origins.place(conf, group, option, file) or 'default'}: [{group}] {option}: {reason}"
