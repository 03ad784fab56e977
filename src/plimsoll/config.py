# SPDX-License-Identifier: Apache-2.0

"""The settings of the service: their names, defaults and where they come from.

An operator's placement.conf works as it is: groups, names and defaults are Placement's, unknown options are
ignored, and `OS_<GROUP>__<OPTION>` in the environment goes before the file. Our own are in `[plimsoll]`.
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
from plimsoll import origins

FILES_VARIABLE = "PLIMSOLL_CONFIG_FILES"
"""The environment variable by which `plimsoll serve` hands its --config-file options to its workers."""

EMBEDDED_DATABASE = "sqlite:///$state_path/plimsoll.sqlite"
UNKNOWN_OWNER = "00000000-0000-0000-0000-000000000000"

DEFAULT_OPTS = [
    cfg.StrOpt("tempdir", help="Where temporary files go; the system's choice when unset."),
    cfg.StrOpt(
        "pybasedir",
        default=str(Path(plimsoll.__file__).parents[1]),
        sample_default="<Path>",
        help="The directory that holds the Python package. For use in other options; nothing reads it.",
    ),
    cfg.StrOpt(
        "state_path",
        default="/var/lib/plimsoll",
        help="The directory for what the service keeps: the embedded database, unless connection says otherwise.",
    ),
    cfg.BoolOpt("log_options", default=True, help="Log the value of every option at start, at level DEBUG."),
]

API_OPTS = [
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=("keystone", "noauth2"),
        deprecated_group="DEFAULT",
        help="How callers prove who they are. noauth2 believes everyone and is for tests and development only.",
    ),
]

PLACEMENT_OPTS = [
    cfg.BoolOpt(
        "randomize_allocation_candidates",
        default=False,
        help="Return the candidates of one request in random order, so that a limit takes a random sample.",
    ),
    cfg.StrOpt(
        "incomplete_consumer_project_id",
        default=UNKNOWN_OWNER,
        help="The project of consumers written by clients too old to name one.",
    ),
    cfg.StrOpt(
        "incomplete_consumer_user_id",
        default=UNKNOWN_OWNER,
        help="The user of consumers written by clients too old to name one.",
    ),
    cfg.IntOpt(
        "allocation_conflict_retry_count",
        default=10,
        help="Accepted and not used: claims are decided one after the other, so there is nothing to retry.",
    ),
    cfg.IntOpt(
        "max_allocation_candidates",
        default=-1,
        help="The most candidates one request can get, whatever limit it asks for; -1 for no such bound.",
    ),
    cfg.StrOpt(
        "allocation_candidates_generation_strategy",
        default="depth-first",
        choices=("depth-first", "breadth-first"),
        help="Which candidates come first: all of one tree before the next tree, or one of each tree in turn.",
    ),
]

DATABASE_OPTS = [
    cfg.StrOpt(
        "connection",
        default=EMBEDDED_DATABASE,
        secret=True,
        help="The database as an SQLAlchemy URL. By default an embedded SQLite file under state_path.",
    ),
    cfg.StrOpt("connection_parameters", default="", help="Added to the URL: param1=value1&param2=value2."),
    cfg.BoolOpt(
        "sqlite_synchronous",
        default=True,
        help="SQLite: an answered write survives a power failure. False is faster and does not.",
    ),
    cfg.StrOpt(
        "slave_connection", secret=True, help="Accepted and not used: reads are answered from memory."
    ),
    cfg.StrOpt("mysql_sql_mode", default="TRADITIONAL", help="MySQL: the SQL mode of each session."),
    cfg.IntOpt("connection_recycle_time", default=3600, help="Seconds after which a connection is renewed."),
    cfg.IntOpt("max_pool_size", help="The most connections kept open in a process."),
    cfg.IntOpt("max_retries", default=10, help="Attempts to reach the database at start; -1 for no end."),
    cfg.IntOpt("retry_interval", default=10, help="Seconds between two attempts."),
    cfg.IntOpt("max_overflow", help="Connections beyond max_pool_size when all are in use."),
    cfg.IntOpt("connection_debug", default=0, help="How much SQL to log: 0 is nothing, 100 is everything."),
    cfg.BoolOpt("connection_trace", default=False, help="Add the Python stack to SQL as comments."),
    cfg.IntOpt("pool_timeout", help="Seconds to wait for a free connection."),
    cfg.BoolOpt(
        "sync_on_startup",
        default=False,
        help="Bring the schema up to date when the service starts. The embedded database always is.",
    ),
]

WORKAROUNDS_OPTS = [
    cfg.BoolOpt(
        "optimize_for_wide_provider_trees",
        default=False,
        help="Accepted and not used: searches are always pruned.",
    ),
]

PLIMSOLL_OPTS = [
    cfg.IntOpt(
        "max_body_bytes",
        default=10 * 1024 * 1024,
        min=1024,
        help="The longest request body that is read, in bytes. A longer one is answered 413.",
    ),
    cfg.IntOpt(
        "change_log_keep",
        default=100_000,
        min=1,
        help="How many changes the change log keeps. A worker that fell further behind reloads everything.",
    ),
    cfg.BoolOpt(
        "causal_reads",
        default=True,
        help="Galera: a read through one node waits until the node has every write that was committed before it"
        " through any other. False is faster, for workers whose connections all go to one node.",
    ),
    cfg.IntOpt(
        "verify_interval",
        default=300,
        min=0,
        help="Seconds between two checks that memory equals the database; 0 for never.",
    ),
    cfg.StrOpt(
        "prefix",
        default="",
        help="Serve under this path, /placement for instance, and nothing beside it: for a proxy that passes"
        " paths on as they came.",
    ),
    cfg.BoolOpt(
        "allow_insecure_noauth",
        default=False,
        help="Serve noauth2 on an address that others can reach, and believe them. They can then change everything.",
    ),
    cfg.IntOpt(
        "threads",
        default=16,
        min=1,
        help="Requests that one worker process handles at a time. Writes that wait together share a commit.",
    ),
]

OUR_OPTS: tuple[tuple[str | None, Sequence[cfg.Opt]], ...] = (
    (None, DEFAULT_OPTS),
    ("api", API_OPTS),
    ("placement", PLACEMENT_OPTS),
    ("placement_database", DATABASE_OPTS),
    ("workarounds", WORKAROUNDS_OPTS),
    ("plimsoll", PLIMSOLL_OPTS),
)

NAMESPACES = (
    "plimsoll",
    "keystonemiddleware.auth_token",
    "oslo.log",
    "oslo.middleware.cors",
    "oslo.middleware.http_proxy_to_wsgi",
    "oslo.policy",
)
"""Those of oslo-config-generator that together give a file with every option."""

CORS_DEFAULTS = {
    "allow_headers": [
        "X-Auth-Token",
        "X-Openstack-Request-Id",
        "X-Identity-Status",
        "X-Roles",
        "X-Service-Catalog",
        "X-User-Id",
        "X-Tenant-Id",
        "OpenStack-API-Version",
    ],
    "expose_headers": [
        "X-Auth-Token",
        "X-Openstack-Request-Id",
        "X-Subject-Token",
        "X-Service-Token",
        "OpenStack-API-Version",
    ],
    "allow_methods": ["GET", "PUT", "POST", "DELETE", "PATCH"],
}


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


def database_url(conf: cfg.ConfigOpts) -> str:
    """The URL of the database: the embedded one when a configuration prepared by others names none."""
    url = conf.placement_database.connection
    return str(url) if url else _embedded_url(conf)


def names_database(conf: cfg.ConfigOpts) -> bool:
    """Does anybody say which database it is, be it the one that would be taken anyway?"""
    found = conf.get_location("connection", "placement_database")
    return found is not None and found.location is not cfg.Locations.opt_default


def is_embedded(conf: cfg.ConfigOpts) -> bool:
    """Does the service bring its own database, which it then creates and keeps up to date by itself?"""
    return database_url(conf) == _embedded_url(conf)


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


def _embedded_url(conf: cfg.ConfigOpts) -> str:
    return EMBEDDED_DATABASE.replace("$state_path", str(conf.state_path))


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
