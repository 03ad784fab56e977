# SPDX-License-Identifier: Apache-2.0

"""The settings of the service: how they are read, and what is wrong with them.

An operator's placement.conf works as it is: the options are Placement's and some more, unknown ones are ignored, and
`OS_<GROUP>__<OPTION>` in the environment goes before the file.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
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
"""The environment variable by which `plimsoll serve` hands its --config-file options to its workers."""


class ConfigError(Exception):
    """The configuration cannot be used. Each problem names its place and what is wrong there."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def load(sources: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> cfg.ConfigOpts:
    """The configuration from the files and directories given or, when none is, from where Placement's is found.

    `environ` says where to look for the file; `OS_<GROUP>__<OPTION>` is always read from the process's own
    environment, by oslo.config. Every value is checked here, so that a bad one stops the start and not a request.
    """
    conf = cfg.ConfigOpts()
    register(conf)
    named = [f"--config-{'dir' if os.path.isdir(source) else 'file'}={source}" for source in sources]  # noqa: PTH112  # which never fails
    return parsed(conf, named, "plimsoll", plimsoll.__version__, environ)


def parsed(
    conf: cfg.ConfigOpts,
    arguments: Sequence[str],
    prog: str,
    version: str | None,
    environ: Mapping[str, str] | None = None,
) -> cfg.ConfigOpts:
    """`conf`, whose options are registered, with the values that a command line and the files it names give it."""
    environ = os.environ if environ is None else environ
    directory = environ.get("OS_PLACEMENT_CONFIG_DIR", "").strip()
    try:
        conf(
            list(arguments),
            project="placement",
            prog=prog,
            version=version,
            default_config_files=[str(Path(directory) / "placement.conf")] if directory else None,
        )
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
        raise ConfigError([_no_text(sources, directory)]) from problem
    except OSError as problem:
        raise ConfigError([f"{problem.filename}: {problem.strerror}"]) from problem
    problems = list(_bad_values(conf))
    if problems:
        raise ConfigError(problems)
    return conf


def wrong(conf: cfg.ConfigOpts, group: str, option: str, reason: object) -> ConfigError:
    """What to raise when a value turns out to be of no use, though it is of the right kind."""
    return ConfigError([_named(conf, group, option, reason)])


def register(conf: cfg.ConfigOpts) -> None:
    """Make every option known to `conf`, also to one that others prepared or that was already parsed.

    An option that is already there stays as it is, with its default: whoever registered it had a reason.
    """
    policy_opts.set_defaults(conf)  # its very own options: it registers them again, and they must be the same
    for group, opts in all_opts():
        for name in _register(conf, opts, None if group == "DEFAULT" else group):
            if group == "cors" and name in CORS_DEFAULTS:
                conf.set_default(name, CORS_DEFAULTS[name], group="cors")


def all_opts() -> list[tuple[str, Sequence[cfg.Opt]]]:
    """Every option there is, ours and those of libraries, by group."""
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
    """Our options, as `oslo-config-generator --namespace plimsoll` asks for them."""
    return [(group or "DEFAULT", list(opts)) for group, opts in OUR_OPTS]


def set_library_defaults() -> None:
    """Make libraries show the defaults that hold here, as `oslo-config-generator --namespace plimsoll` asks for them."""
    cors.set_defaults(**CORS_DEFAULTS)


def _log_opts() -> list[tuple[str | None, Sequence[cfg.Opt]]]:
    """oslo.log's options as it publishes them; its own function would make a command line of them."""
    (published,) = entry_points(group="oslo.config.opts", name="oslo.log")
    listed: list[tuple[str | None, Sequence[cfg.Opt]]] = published.load()()
    return listed


def _register(conf: cfg.ConfigOpts, opts: Sequence[cfg.Opt], group: str | None) -> list[str]:
    """Register what is not there yet, and say which that was."""
    known: Container[str] = conf
    if group is not None:
        known = conf[group] if group in conf else ()  # noqa: SIM401  # its get() does not catch what [] raises
    fresh = [opt for opt in opts if opt.dest not in known]
    conf.register_opts(fresh, group=group)
    return [opt.dest for opt in fresh]


def _no_text(sources: Sequence[str], directory: str) -> str:
    """Which file is no text? oslo.config does not tell."""
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
    """oslo.config looks at a value when it is asked for it, so ask for all."""
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
    if not isinstance(problem, ValueError):  # it asks for the value of another option
        return _named(conf, group, option, f"{problem}; write $$ for a dollar sign")
    file = re.search(r"detail='(.*?)'", str(problem))
    reason = str(problem).partition("is not valid: ")[2] or str(problem)
    return _named(conf, group, option, reason, file and file[1])


def _named(conf: cfg.ConfigOpts, group: str, option: str, reason: object, file: str | None = None) -> str:
    return f"{origins.place(conf, group, option, file) or 'default'}: [{group}] {option}: {reason}"
