# SPDX-License-Identifier: Apache-2.0

"""`plimsoll db`: create the schema, print its revision, complete old rows, and find contradictions."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape

from plimsoll.cli import db_commands
from plimsoll.cli.settings import Program, configured, database
from plimsoll.storage.maintenance import integrity
from plimsoll.storage.schema import migrate


@click.group()
def db() -> None:
    """Create the database, migrate and check it.

    \b
    Example:
      plimsoll db sync && plimsoll db version
    """


@db.command(short_help="Create or upgrade the tables.")
@configured
def sync(program: Program) -> None:
    """Create or upgrade the tables that this release needs.

    An empty database gets every table. A database of openstack-placement, Stein or later, is upgraded to the schema
    of release 16.0.0 and gets Plimsoll's own tables in addition; no row is changed. `plimsoll status upgrade check`
    prints the steps. If nothing is missing, nothing is changed. After an interruption, run it again.

    \b
    Example:
      OS_PLACEMENT_DATABASE__CONNECTION=sqlite:////var/lib/placement/placement.sqlite plimsoll db sync
    """
    db_commands.sync(program.load())


@db.command(short_help="Print the schema's revision.")
@configured
def version(program: Program) -> None:
    """Print the revision of the Placement schema, or None if there is none.

    \b
    Example:
      plimsoll db version
    """
    db_commands.print_version(program.load())


@db.command(short_help="Record a revision.")
@click.argument("revision")
@configured
def stamp(program: Program, revision: str) -> None:
    """Record that the database is at REVISION of the Placement schema, without changing any table.

    REVISION may be abbreviated; `head` is the newest, `base` is none.

    \b
    Example:
      plimsoll db stamp head
    """
    db_commands.stamp(program.load(), revision)


@db.command("online_data_migrations", short_help="Complete old rows.")
@click.option("--max-count", metavar="N", help="Migrate at most N rows, in one batch.")
@configured
def online_data_migrations(program: Program, max_count: str | None) -> int:
    """Complete rows that older releases of Placement left incomplete. The service may run meanwhile.

    Exits 0 when nothing is left to do, 1 when there may be more after --max-count rows, 2 when a migration failed,
    127 when N is not a positive number.

    \b
    Example:
      plimsoll db online_data_migrations --max-count 100
    """
    return db_commands.migrate_data(program.load(), max_count)


@db.command(short_help="Find contradictions.")
@configured
def verify(program: Program) -> int:
    """Find rows that contradict each other, and rows that a service cannot load.

    Exits 1 if there is a fault. A note, such as an inventory with more used than its capacity, is not a fault by
    itself; the remedy printed with it names the causes. The service may run meanwhile.

    \b
    Example:
      plimsoll db verify
    """
    conf = program.load()
    with database(conf) as opened:
        if not migrate.has_reference_tables(opened):
            raise click.ClickException(f"{opened.where} has no Placement tables yet. Run `plimsoll db sync`.")
        if migrate.is_current(opened):
            # Imported here because it imports all layers, which takes time and which other commands do not need.
            from plimsoll.bootstrap import verify as verify_all

            findings = verify_all(conf)
        else:
            with opened.read() as connection:
                findings = integrity.verify(connection)
        _print(findings, opened.where)
    return 1 if any(finding.severity == "fault" for finding in findings) else 0


def _print(findings: list[integrity.IntegrityFinding], where: str) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for finding in findings:
        colour = "red" if finding.severity == "fault" else "yellow"
        times = f" ({finding.count} times)" if finding.count > 1 else ""
        console.print(f"[bold {colour}]{finding.severity:5}[/]  {escape(finding.problem)}{times}")
        for place in finding.where:
            console.print(f"       {escape(place)}")
        if finding.count > len(finding.where) > 0:
            console.print(f"       and {finding.count - len(finding.where)} more")
        console.print(f"       [dim]{escape(finding.remedy)}[/]")
    faults = sum(finding.severity == "fault" for finding in findings)
    notes = len(findings) - faults
    console.print(f"{escape(where)}: {_counted(faults, 'fault')}, {_counted(notes, 'note')}")


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
