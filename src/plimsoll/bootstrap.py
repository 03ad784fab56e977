# SPDX-License-Identifier: Apache-2.0

"""Wires it all: from a configuration to a service that answers. Nothing else knows all the layers."""

from __future__ import annotations

from wsgiref.types import WSGIApplication

from oslo_config import cfg

from plimsoll import config
from plimsoll.access.policy import Policy
from plimsoll.ledger.audit import Audit
from plimsoll.ledger.ledger import Ledger
from plimsoll.search.request import Order
from plimsoll.service import standards
from plimsoll.service.placement import Placement, Settings
from plimsoll.storage import checks, migrate, outsiders
from plimsoll.storage.checks import Finding
from plimsoll.storage.engine import Database, DatabaseOptions
from plimsoll.tracing import traced
from plimsoll.wire.app import make_app


def open_database(conf: cfg.ConfigOpts) -> Database:
    return Database(
        config.database_url(conf), DatabaseOptions.from_sections(conf.placement_database, conf.plimsoll)
    )


def prepare_database(conf: cfg.ConfigOpts, database: Database) -> None:
    """Brings the schema up to date where that is ours to do, and refuses to start on any other that is not."""
    if conf.placement_database.sync_on_startup or config.is_embedded(conf):
        outsiders.take_over(database)
    elif not migrate.is_current(database):
        raise migrate.SchemaError(
            f"The database {database.where} is not ready for this release. Run `plimsoll db sync`, or set"
            " [placement_database]sync_on_startup."
        )


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
            strategy=options.allocation_candidates_generation_strategy,
        ),
        shuffle=options.randomize_allocation_candidates,
    )


def make_application(conf: cfg.ConfigOpts) -> WSGIApplication:
    """The service as a WSGI application. `conf` may come from others: what they lack is registered."""
    config.register(conf)
    return traced(make_app(open_placement(conf), Policy(conf), conf), conf)


def verify(conf: cfg.ConfigOpts) -> list[Finding]:
    """What `plimsoll db verify` finds: rows that disagree with each other, or from which no world can be made.

    What a running service has in memory is compared by the service itself, see `ledger.audit`.
    """
    database = open_database(conf)
    try:
        with database.read() as conn:
            findings = checks.verify(conn)
        Ledger(database)  # reads everything: what a service could not start from fails here
    finally:
        database.dispose()
    return findings
