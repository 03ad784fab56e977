# SPDX-License-Identifier: Apache-2.0

"""What every command starts from: the configuration, the database it names, and failures said in one line.

A configuration or a database that cannot be used ends a command with status 1 and the reason on stderr.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import click
from oslo_config import cfg
from sqlalchemy.exc import SQLAlchemyError

from plimsoll import config
from plimsoll.storage.engine import Database, DatabaseOptions, UnusableDatabaseError
from plimsoll.storage.faults import DatabaseFault
from plimsoll.storage.migrate import SchemaError


@dataclass(frozen=True, slots=True)
class Program:
    """How the command was called: the files named so far."""

    config_files: tuple[str, ...] = ()

    def with_files(self, files: tuple[str, ...]) -> Self:
        return replace(
            self, config_files=(*self.config_files, *(str(Path(file).absolute()) for file in files))
        )

    def load(self) -> cfg.ConfigOpts:
        """The configuration, or the end of the command."""
        try:
            return config.load(self.config_files)
        except config.ConfigError as error:
            raise click.ClickException(str(error)) from error


with_config_files = click.option(
    "--config-file",
    "config_files",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Read settings from here; later files go before earlier ones.",
)


def configured(command: Callable[..., int | None]) -> Callable[..., None]:
    """Give a command --config-file of its own, call it with the Program, and exit with what it returns."""

    @functools.wraps(command)
    def wrapped(config_files: tuple[str, ...], **options: object) -> None:
        context = click.get_current_context()
        context.exit(command(context.ensure_object(Program).with_files(config_files), **options) or 0)

    return with_config_files(wrapped)


@contextlib.contextmanager
def database(conf: cfg.ConfigOpts) -> Iterator[Database]:
    """The configured database for the time of a command; what goes wrong with it becomes the command's end."""
    with plainly_failing():
        options = DatabaseOptions.from_sections(conf.placement_database, conf.plimsoll)
        opened = Database(config.database_url(conf), options)
        try:
            yield opened
        finally:
            opened.dispose()


@contextlib.contextmanager
def plainly_failing() -> Iterator[None]:
    """Say what is wrong with a database in one line instead of a traceback."""
    try:
        yield
    except (UnusableDatabaseError, SchemaError, DatabaseFault) as error:
        raise click.ClickException(str(error)) from error
    except SQLAlchemyError as error:
        # The first line is the database's own message; the rest quotes SQL and links to a manual.
        raise click.ClickException(f"The database failed: {str(error).splitlines()[0]}") from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
