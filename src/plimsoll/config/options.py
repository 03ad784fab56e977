# SPDX-License-Identifier: Apache-2.0

"""All options: names, defaults and help texts.

Groups, names and defaults are Placement's; our own options are in `[plimsoll]`. Libraries define their own options.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from oslo_config import cfg, types

import plimsoll
from plimsoll import fast_paths
from plimsoll.config.metrics_options import METRICS_OPTS

UNKNOWN_OWNER = "00000000-0000-0000-0000-000000000000"

DEFAULT_OPTS = [
    cfg.StrOpt("tempdir", help="The directory for temporary files; by default the system's."),
    cfg.StrOpt(
        "pybasedir",
        default=str(Path(plimsoll.__file__).parents[1]),
        sample_default="<Path>",
        help="The directory that holds the Python package. For use in other options; nothing reads it.",
    ),
    cfg.StrOpt(
        "state_path",
        default="/var/lib/plimsoll",
        help="A directory for use in other options: connection = sqlite:///$state_path/plimsoll.sqlite.",
    ),
    cfg.BoolOpt("log_options", default=True, help="Log the value of every option at start, at level DEBUG."),
]

API_OPTS = [
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=("keystone", "noauth2"),
        deprecated_group="DEFAULT",
        help="How callers are authenticated. noauth2 verifies no tokens and is for tests and development only.",
    )
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
        help="The most candidates that one request can get, also with a larger limit; -1 for no bound.",
    ),
    cfg.StrOpt(
        "allocation_candidates_generation_strategy",
        default="depth-first",
        choices=("depth-first", "breadth-first"),
        help="The order of candidates in a response without a limit: all of one tree before the next tree, or one of each"
        " tree alternately. With a limit they always alternate.",
    ),
]

DATABASE_OPTS = [
    cfg.StrOpt(
        "connection",
        secret=True,
        help="The database as an SQLAlchemy URL. Required; only `plimsoll serve --dev` has a default.",
    ),
    cfg.StrOpt("connection_parameters", default="", help="Added to the URL: param1=value1&param2=value2."),
    cfg.BoolOpt(
        "sqlite_synchronous",
        default=True,
        help="SQLite: a write whose response was sent survives a power failure. False is faster and does not.",
    ),
    cfg.StrOpt("slave_connection", secret=True, help="Accepted and not used: reads are served from memory."),
    cfg.StrOpt("mysql_sql_mode", default="TRADITIONAL", help="MySQL: the SQL mode of each session."),
    cfg.IntOpt("connection_recycle_time", default=3600, help="Seconds after which a connection is renewed."),
    cfg.IntOpt("max_pool_size", help="The most connections kept open in a process."),
    cfg.IntOpt(
        "max_retries",
        default=10,
        help="Retries while the service cannot reach the database at start; -1 for no end. Commands never retry.",
    ),
    cfg.IntOpt("retry_interval", default=10, help="Seconds between two such attempts."),
    cfg.IntOpt("max_overflow", help="Connections beyond max_pool_size when all are in use."),
    cfg.IntOpt("connection_debug", default=0, help="How much SQL to log: 0 is nothing, 100 is everything."),
    cfg.BoolOpt("connection_trace", default=False, help="Add the Python stack to SQL as comments."),
    cfg.IntOpt("pool_timeout", help="Seconds to wait for a free connection."),
    cfg.BoolOpt(
        "sync_on_startup", default=False, help="Bring the schema up to date when the service starts."
    ),
]

WORKAROUNDS_OPTS = [
    cfg.BoolOpt(
        "optimize_for_wide_provider_trees",
        default=False,
        help="Accepted and not used: searches are always pruned.",
    )
]

PLIMSOLL_OPTS = [
    cfg.IntOpt(
        "max_body_bytes",
        default=10 * 1024 * 1024,
        min=1024,
        help="The longest request body that is read, in bytes. A request with a longer one gets a 413.",
    ),
    cfg.IntOpt(
        "change_log_keep",
        default=100_000,
        min=1,
        help="How many changes the change log keeps, for /plimsoll/v1/changes and for workers that follow it. A worker that"
        " is further behind reloads everything.",
    ),
    cfg.FloatOpt(
        "change_log_keep_days",
        default=0,
        min=0,
        max=36_500,
        help="Changes that are older than so many days are removed from the change log; 0 for no such limit. The newest"
        " 1000 changes stay.",
    ),
    cfg.IntOpt(
        "max_subscribers",
        default=2_000,
        min=0,
        help="Clients that wait for changes, by `wait` or as a stream of /plimsoll/v1/changes, at one worker process at the"
        " same time. More get a 503.",
    ),
    cfg.IntOpt(
        "history_max_changes",
        default=100_000,
        min=0,
        help="How many changes of the log are undone at most to show the cloud as of an earlier revision (`at` in the"
        " Plimsoll API). Undoing 10,000 of them takes about a second.",
    ),
    cfg.IntOpt(
        "history_cache_bytes",
        default=128 << 20,
        min=0,
        help="Memory in each worker for the cloud as of earlier revisions. A state of 10,000 providers counts as 60 MB.",
    ),
    cfg.IntOpt(
        "unplaced_keep",
        default=1_000,
        min=0,
        max=100_000,
        help="How many different searches without allocation candidates are kept for /plimsoll/v1/unplaced; 0 for none."
        " The same query of the same project counts once.",
    ),
    cfg.IntOpt(
        "unplaced_keep_requests",
        default=20_000,
        min=1,
        max=1_000_000,
        help="How many single searches without candidates can be found by a request id.",
    ),
    cfg.FloatOpt(
        "unplaced_keep_days",
        default=7,
        min=0.01,
        max=3650,
        help="Days after which a search without candidates is deleted, counted from its last repetition.",
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
        help="Serve under this path only, /placement for instance: for a proxy that forwards paths"
        " unchanged.",
    ),
    cfg.BoolOpt(
        "allow_insecure_noauth",
        default=False,
        help="Accept noauth2 requests from other machines. Every client that can reach the service can then change"
        " everything.",
    ),
    cfg.IntOpt(
        "max_token_validations",
        default=16,
        min=1,
        help="Tokens that one process validates with Keystone at a time. Further ones wait, within"
        " token_validation_timeout.",
    ),
    cfg.FloatOpt(
        "token_validation_timeout",
        default=5.0,
        min=0.1,
        help="Seconds in which Keystone must have validated a token, retries included. After that the request gets"
        " a 503.",
    ),
    cfg.IntOpt(
        "threads",
        default=16,
        min=1,
        help="Requests that one worker process handles at a time. Writes that wait together share a commit.",
    ),
    cfg.FloatOpt(
        "search_budget",
        default=10.0,
        min=0.1,
        help="Seconds that one search for allocation candidates may take. Then the response has the candidates found"
        " so far; if there are none, it is a 503.",
    ),
    cfg.IntOpt(
        "max_candidates_without_limit",
        default=100_000,
        min=1,
        help="The most allocation candidates that a request without a limit can get.",
    ),
    cfg.FloatOpt(
        "queue_timeout",
        default=30,
        min=0.1,
        help="Seconds that a request waits while a worker handles `threads` others. Then it gets a 503.",
    ),
    cfg.IntOpt(
        "max_buffered_bytes",
        default=32 * 1024 * 1024,
        min=1024 * 1024,
        help="Bytes that a worker holds of request bodies that are incomplete, and as many of responses that wait for"
        " slow clients. Beyond that the connection that holds most is closed.",
    ),
    cfg.FloatOpt(
        "keep_alive_timeout",
        default=75,
        min=1,
        help="Seconds after which a connection without a request is closed. Nova's hosts send one each minute.",
    ),
    cfg.FloatOpt(
        "request_timeout",
        default=60,
        min=1,
        help="Seconds in which a request must arrive, from its first byte to its last. Else it gets a 408.",
    ),
    cfg.IntOpt(
        "min_transfer_rate",
        default=1024,
        min=0,
        help="Bytes per second that a client must send of a request, and receive of a response, on average after the"
        " first five seconds. Else its connection is closed.",
    ),
    cfg.FloatOpt(
        "worker_timeout",
        default=30,
        min=0,
        help="Seconds without a heartbeat after which a worker process is killed and replaced, and its stack logged;"
        " 0 for never.",
    ),
    cfg.BoolOpt(
        "log_request_duration",
        default=False,
        help="Add the seconds until the response was ready to the log line of each request: duration: 0.001234.",
    ),
    cfg.ListOpt(
        "disable_fast_paths",
        default=[],
        item_type=types.String(choices=fast_paths.NAMES),
        help="Code that exists only for speed and is replaced by its plain form, to measure it or to rule it out as the"
        " cause of a fault. docs/internals/fast-paths.md describes each.",
    ),
    cfg.FloatOpt(
        "slow_request_seconds",
        default=5.0,
        min=0,
        help="A request that takes longer until its response is ready gets a WARNING in the log with the time of each"
        " step; 0 for never.",
    ),
    cfg.BoolOpt(
        "console",
        default=True,
        help="Serve the web console at /console/. Its files need no token; it shows what the viewer's own token allows.",
    ),
    cfg.StrOpt("console_name", default="", help="A name for this cloud, which the web console shows."),
    *METRICS_OPTS,
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
"""The namespaces with which oslo-config-generator writes a file with every option."""

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
