# SPDX-License-Identifier: Apache-2.0

"""Build the service from a configuration. The only module that imports all layers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from wsgiref.types import WSGIApplication

from oslo_config import cfg

from plimsoll.access import Policy, with_authentication
from plimsoll.access.sign_in import KeystoneSignIn
from plimsoll.access.trusted_networks import TrustedNetworks
from plimsoll.api.app import Application, Console, make_app
from plimsoll.api.console.files import load_files
from plimsoll.api.metrics import Counters, MetricsPage, ScrapeSettings
from plimsoll.config import loader
from plimsoll.config.database_url import open_database
from plimsoll.fast_paths import FastPaths
from plimsoll.ledger.audit import Audit
from plimsoll.ledger.history import HistoryLimits
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.pruner import Retention
from plimsoll.ledger.unplaced_writer import UnplacedLimits, UnplacedWriter
from plimsoll.metrics import DIRECTORY_VARIABLE, NO_METRICS, Metrics
from plimsoll.monitoring.counters import PrometheusMetrics
from plimsoll.runtime.base import Runtime
from plimsoll.runtime.threads import Threads
from plimsoll.search.request import Order
from plimsoll.service import standards, unplaced
from plimsoll.service.placement import Placement, Settings
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance import foreign_writes, integrity
from plimsoll.storage.maintenance.integrity import IntegrityFinding
from plimsoll.storage.schema import migrate
from plimsoll.tracing import with_tracing


def prepare_database(conf: cfg.ConfigOpts, database: Database) -> None:
    """Bring the schema up to date if sync_on_startup is set, else raise SchemaError unless it is current."""
    if conf.placement_database.sync_on_startup:
        foreign_writes.take_over(database)
    else:
        migrate.require_current(database)


def open_placement(
    conf: cfg.ConfigOpts, runtime: Runtime | None = None, metrics: Metrics = NO_METRICS
) -> Placement:
    runtime = runtime or Threads()
    database = open_database(conf, runtime=runtime, metrics=metrics)
    try:
        prepare_database(conf, database)
        settings = settings_from(conf)
        ledger = Ledger(
            database,
            runtime=runtime,
            fast_paths=settings.fast_paths,
            retention=_retention(conf),
            max_subscribers=conf.plimsoll.max_subscribers,
            history_limits=_history_limits(conf),
            metrics=metrics,
        )
        placement = Placement(ledger, settings, unplaced=_unplaced_writer(conf, database), metrics=metrics)
        standards.synchronise(placement)
    except BaseException:
        database.dispose()  # a retry opens another one
        raise
    if conf.plimsoll.verify_interval:
        Audit(ledger, conf.plimsoll.verify_interval, metrics).start()
    return placement


def _history_limits(conf: cfg.ConfigOpts) -> HistoryLimits:
    return HistoryLimits(conf.plimsoll.history_max_changes, conf.plimsoll.history_cache_bytes)


def _retention(conf: cfg.ConfigOpts) -> Retention:
    days = conf.plimsoll.change_log_keep_days
    return Retention(conf.plimsoll.change_log_keep, timedelta(days=days) if days else None)


def _unplaced_writer(conf: cfg.ConfigOpts, database: Database) -> UnplacedWriter | None:
    options = conf.plimsoll
    if not options.unplaced_keep:
        return None
    limits = UnplacedLimits(options.unplaced_keep, options.unplaced_keep_requests, options.unplaced_keep_days)
    return UnplacedWriter(database, partial(unplaced.explain, pause=database.runtime.yield_now), limits)


def settings_from(conf: cfg.ConfigOpts) -> Settings:
    options = conf.placement
    max_candidates = options.max_allocation_candidates
    return Settings(
        incomplete_project=options.incomplete_consumer_project_id,
        incomplete_user=options.incomplete_consumer_user_id,
        order=Order(
            # 0 means 1, as in the reference, which checks the bound after it has added a candidate.
            max_candidates=None if max_candidates < 0 else max(max_candidates, 1),
            max_candidates_without_limit=conf.plimsoll.max_candidates_without_limit,
            strategy=options.allocation_candidates_generation_strategy,
        ),
        shuffle=options.randomize_allocation_candidates,
        search_budget=conf.plimsoll.search_budget,
        fast_paths=FastPaths.without(conf.plimsoll.disable_fast_paths),
    )


def make_application(
    conf: cfg.ConfigOpts, runtime: Runtime | None = None, worker: int | None = None
) -> Application:
    """Return the service as a WSGI application. Options that `conf` lacks are registered: other programs may pass it.

    Without a runtime, requests run in threads. `worker` is the number of this process among the workers of a service.
    """
    loader.register(conf)
    runtime = runtime or Threads()
    metrics = _metrics(conf, worker)
    placement = open_placement(conf, runtime, metrics or NO_METRICS)
    return _application(placement, conf, runtime, metrics)


@contextlib.contextmanager
def temporary_application(conf: cfg.ConfigOpts) -> Iterator[WSGIApplication]:
    """The same as a context manager, which closes the database at its end: for a process that continues without it."""
    loader.register(conf)
    runtime = Threads()
    metrics = _metrics(conf)
    placement = open_placement(conf, runtime, metrics or NO_METRICS)
    try:
        yield _application(placement, conf, runtime, metrics)
    finally:
        placement.close()


def _metrics(conf: cfg.ConfigOpts, worker: int | None = None) -> PrometheusMetrics | None:
    if not conf.plimsoll.metrics:
        return None
    try:
        return PrometheusMetrics(worker)
    except OSError as error:
        raise loader.ConfigError(
            [f"The directory for metrics, {DIRECTORY_VARIABLE}, cannot be used: {error}"]
        ) from error


def _application(
    placement: Placement, conf: cfg.ConfigOpts, runtime: Runtime, metrics: PrometheusMetrics | None
) -> Application:
    policy = Policy(conf, cache=placement.settings.fast_paths.policy_cache)
    return make_app(
        placement,
        policy,
        conf,
        authenticate=lambda app: with_authentication(app, conf, runtime),
        metrics_page=None if metrics is None else _metrics_page(placement, policy, conf, runtime, metrics),
        console=_console(conf, runtime),
        outermost=lambda app: with_tracing(app, conf),
    )


def _console(conf: cfg.ConfigOpts, runtime: Runtime) -> Console | None:
    if not conf.plimsoll.console:
        return None
    sign_in = None if conf.api.auth_strategy == "noauth2" else KeystoneSignIn(conf, runtime)
    return Console(load_files(), sign_in, conf.plimsoll.console_name or None)


def _metrics_page(
    placement: Placement, policy: Policy, conf: cfg.ConfigOpts, runtime: Runtime, metrics: PrometheusMetrics
) -> MetricsPage:
    options = conf.plimsoll
    settings = ScrapeSettings(
        networks=TrustedNetworks(options.metrics_networks),
        per_aggregate=options.metrics_aggregates,
        providers=options.metrics_providers,
    )
    # The files of many workers take some 10 ms to read, without a pause for other requests.
    collect = partial(runtime.offload, metrics.collect) if metrics.is_shared else metrics.collect
    return MetricsPage(placement, policy, Counters(collect, metrics.is_shared), settings)


def verify(conf: cfg.ConfigOpts) -> list[IntegrityFinding]:
    """Return the findings of `plimsoll db verify`: contradictions between rows. Raise if a snapshot cannot be loaded.

    A running service compares its own memory with the database, see `ledger.audit`.
    """
    database = open_database(conf, retry=False)
    try:
        with database.read() as conn:
            findings = integrity.verify(conn)
        Ledger(database)  # loads everything, so rows that would keep a service from starting fail here
    finally:
        database.dispose()
    return findings
