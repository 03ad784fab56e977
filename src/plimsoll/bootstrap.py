# SPDX-License-Identifier: Apache-2.0

"""Wires it all: from a configuration to a service that answers. Nothing else knows all the layers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from wsgiref.types import WSGIApplication

from oslo_config import cfg

from plimsoll.access.policy import Policy
from plimsoll.api.app import Application, make_app
from plimsoll.config import loader
from plimsoll.config.database_url import open_database
from plimsoll.ledger.audit import Audit
from plimsoll.ledger.ledger import Ledger
from plimsoll.search.request import Order
from plimsoll.service import standards
from plimsoll.service.placement import Placement, Settings
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance import foreign_writes, integrity
from plimsoll.storage.maintenance.integrity import IntegrityFinding
from plimsoll.storage.schema import migrate
from plimsoll.tracing import traced


def prepare_database(conf: cfg.ConfigOpts, database: Database) -> None:
    """Bring the schema up to date if sync_on_startup is set, else raise SchemaError unless it is current."""
    if conf.placement_database.sync_on_startup:
        foreign_writes.take_over(database)
    else:
        migrate.require_current(database)


def open_placement(conf: cfg.ConfigOpts) -> Placement:
    database = open_database(conf)
    try:
        prepare_database(conf, database)
        ledger = Ledger(database, change_log_keep=conf.plimsoll.change_log_keep)
        placement = Placement(ledger, settings_from(conf))
        standards.synchronise(placement)
    except BaseException:
        database.dispose()  # whoever tries again opens another
        raise
    if conf.plimsoll.verify_interval:
        Audit(ledger, conf.plimsoll.verify_interval).start()
    return placement


def settings_from(conf: cfg.ConfigOpts) -> Settings:
    options = conf.placement
    most = options.max_allocation_candidates
    return Settings(
        incomplete_project=options.incomplete_consumer_project_id,
        incomplete_user=options.incomplete_consumer_user_id,
        order=Order(
            # 0 has always meant one: the bound is looked at after a candidate is made.
            most=None if most < 0 else max(most, 1),
            most_without_limit=conf.plimsoll.max_candidates_without_limit,
            strategy=options.allocation_candidates_generation_strategy,
        ),
        shuffle=options.randomize_allocation_candidates,
        search_budget=conf.plimsoll.search_budget,
    )


def make_application(conf: cfg.ConfigOpts) -> Application:
    """The service as a WSGI application. `conf` may come from others: what they lack is registered."""
    loader.register(conf)
    return _application(open_placement(conf), conf)


@contextlib.contextmanager
def passing_application(conf: cfg.ConfigOpts) -> Iterator[WSGIApplication]:
    """The same for a while, within a process that goes on: what it has opened is closed."""
    loader.register(conf)
    placement = open_placement(conf)
    try:
        yield _application(placement, conf)
    finally:
        placement.ledger.database.dispose()


def _application(placement: Placement, conf: cfg.ConfigOpts) -> Application:
    return make_app(placement, Policy(conf), conf, outermost=lambda app: traced(app, conf))


def verify(conf: cfg.ConfigOpts) -> list[IntegrityFinding]:
    """What `plimsoll db verify` finds: rows that disagree with each other, or from which no world can be made.

    What a running service has in memory is compared by the service itself, see `ledger.audit`.
    """
    database = open_database(conf, retry=False)
    try:
        with database.read() as conn:
            findings = integrity.verify(conn)
        Ledger(database)  # reads everything: what a service could not start from fails here
    finally:
        database.dispose()
    return findings
