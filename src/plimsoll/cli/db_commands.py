# SPDX-License-Identifier: Apache-2.0

"""The database commands that Placement has too, for `plimsoll db` and for `placement-manage db`.

They print the same texts as Placement's and return the same exit status. Errors are raised as click.ClickException.
"""

from __future__ import annotations

import logging

import click
from oslo_config import cfg

from plimsoll.cli import tables
from plimsoll.cli.settings import database
from plimsoll.storage.maintenance import data_migrations, foreign_writes
from plimsoll.storage.schema import migrate

LOG = logging.getLogger(__name__)

BATCH = 50

DONE, MORE_TO_DO, FAILED, BAD_COUNT = 0, 1, 2, 127


def sync(conf: cfg.ConfigOpts) -> None:
    with database(conf) as opened:
        foreign_writes.take_over(opened)


def print_version(conf: cfg.ConfigOpts) -> None:
    with database(conf) as opened:
        click.echo(str(migrate.version(opened)))


def stamp(conf: cfg.ConfigOpts, revision: str) -> None:
    with database(conf) as opened:
        migrate.stamp(opened, revision)


def migrate_data(conf: cfg.ConfigOpts, max_count: str | None) -> int:
    """Migrate in batches until all is done, or one batch of `max_count` rows."""
    if max_count is None:
        click.echo(f"Running batches of {BATCH} until complete")
        return _migrate(conf, BATCH, until_complete=True)
    try:
        limit = int(max_count)
    except ValueError:
        limit = 0
    if limit < 1:
        click.echo("Must supply a positive value for max_count")
        return BAD_COUNT
    return _migrate(conf, limit, until_complete=False)


def _migrate(conf: cfg.ConfigOpts, limit: int, *, until_complete: bool) -> int:
    settings = data_migrations.MigrationSettings(
        conf.placement.incomplete_consumer_project_id, conf.placement.incomplete_consumer_user_id
    )
    totals: dict[str, data_migrations.MigrationCount] = {}
    with database(conf) as opened:
        while True:
            batch = data_migrations.run_batch(opened, limit, settings)
            for name, failure in batch.failures.items():
                click.echo(f"Error attempting to run {name}")
                LOG.error("Error attempting to run %s", name, exc_info=failure)
            for name, outcome in batch.outcomes.items():
                if outcome.found:
                    click.echo(f"{outcome.found} rows matched query {name}, {outcome.done} migrated")
                totals[name] = totals.get(name, data_migrations.MigrationCount()) + outcome
            ran = sum(outcome.done for outcome in batch.outcomes.values())
            if not (until_complete and ran):
                break
    rows = [(name, total.found, total.done) for name, total in totals.items()]
    click.echo(tables.centred(("Migration", "Total Found", "Completed"), rows))
    if batch.failures and not ran:
        click.echo("Some migrations failed unexpectedly. Check log for details.")
        return FAILED
    return MORE_TO_DO if ran else DONE
