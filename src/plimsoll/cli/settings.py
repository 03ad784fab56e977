# SPDX-License-Identifier: Apache-2.0

"""Parts shared by all commands: the configuration, its database, and errors in one line.

A configuration or a database that cannot be used ends a command with status 1 and the reason on stderr.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from oslo_config import cfg
from sqlalchemy.exc import SQLAlchemyError

from plimsoll.access import IdentityError, Policy, PolicyError, authplugin, keystone
from plimsoll.config import loader
from plimsoll.config.database_url import open_database
from plimsoll.storage.database import Database, UnusableDatabaseError
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.schema.migrate import SchemaError


class CheckImpossible(click.ClickException):
    """Ends a command that checks something with status 2: the check cannot run."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Program:
    """The configuration files and directories named on the command line."""

    config_files: tuple[str, ...] = ()

    def with_files(self, files: tuple[str, ...]) -> Program:
        return Program((*self.config_files, *(str(Path(file).absolute()) for file in files)))

    def load(self) -> cfg.ConfigOpts:
        """Return the configuration, or end the command with an error."""
        try:
            return loader.load(self.config_files)
        except loader.ConfigError as error:
            raise click.ClickException(str(error)) from error


_with_files = click.option(
    "--config-file",
    "config_files",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Read settings from this file; later files override earlier ones.",
)
_with_directories = click.option(
    "--config-dir",
    "config_dirs",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Read settings from the *.conf files in this directory; they override those of --config-file.",
)


def with_config_files(command: Callable[..., None]) -> Callable[..., None]:
    return _with_files(_with_directories(command))


def configured(command: Callable[..., int | None]) -> Callable[..., None]:
    """Decorate a command: add --config-file and --config-dir, pass it the Program, exit with its return value."""

    @functools.wraps(command)
    def wrapped(config_files: tuple[str, ...], config_dirs: tuple[str, ...], **options: object) -> None:
        context = click.get_current_context()
        program = context.ensure_object(Program).with_files((*config_files, *config_dirs))
        context.exit(command(program, **options) or 0)

    return with_config_files(wrapped)


@contextlib.contextmanager
def database(conf: cfg.ConfigOpts, *, retry: bool = False) -> Iterator[Database]:
    """Open the configured database during a command; errors of the database end the command.

    A command fails at the first failed connection; the service retries.
    """
    with one_line_errors():
        opened = open_database(conf, retry=retry)
        try:
            yield opened
        except DatabaseFault as fault:
            # Drivers insert line breaks.
            raise click.ClickException(f"{opened.where}: {' '.join(str(fault).split())}") from fault
        except SQLAlchemyError as error:
            # The first line is the database's own message; the rest quotes SQL and links to a manual.
            reason = str(error).splitlines()[0]
            raise click.ClickException(f"{opened.where}: The database failed: {reason}") from error
        finally:
            opened.dispose()


def check_identity(conf: cfg.ConfigOpts) -> bool:
    """Return True if tokens can be validated. Raise an error, with its place if possible, if a setting is wrong."""
    authplugin.register(conf)
    return keystone.check(conf)


def load_policy(conf: cfg.ConfigOpts) -> Policy:
    with silence_oslo_policy():
        return Policy(conf)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Report errors of settings, policy or database in one line instead of a traceback."""
    try:
        yield
    except (
        loader.ConfigError,
        IdentityError,
        PolicyError,
        UnusableDatabaseError,
        SchemaError,
        DatabaseFault,
    ) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error


@contextlib.contextmanager
def silence_oslo_policy() -> Iterator[None]:
    """Suppress the log lines and warnings of oslo.policy: workers log them, and `policy check` prints its own."""
    logger = logging.getLogger("oslo_policy")
    before, null_handler = logger.propagate, logging.NullHandler()
    logger.propagate = False
    logger.addHandler(null_handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.removeHandler(null_handler)
        logger.propagate = before
