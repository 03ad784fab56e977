# SPDX-License-Identifier: Apache-2.0

"""What every command starts from: the configuration, the database it names, and failures said in one line.

A configuration or a database that cannot be used ends a command with status 1 and the reason on stderr.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import click
from oslo_config import cfg
from sqlalchemy.exc import SQLAlchemyError

from plimsoll.access import IdentityError, Policy, PolicyError, authplugin, keystone
from plimsoll.config import loader
from plimsoll.config.database_url import open_database
from plimsoll.storage.database import Database, UnusableDatabaseError
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.schema.migrate import SchemaError


class Broken(click.ClickException):
    """Ends a command that checks something: there is nothing to check."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Program:
    """How the command was called: the files and directories named so far."""

    config_files: tuple[str, ...] = ()

    def with_files(self, files: tuple[str, ...]) -> Self:
        return replace(
            self, config_files=(*self.config_files, *(str(Path(file).absolute()) for file in files))
        )

    def load(self) -> cfg.ConfigOpts:
        """The configuration, or the end of the command."""
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
    help="Read settings from here; later files go before earlier ones.",
)
_with_directories = click.option(
    "--config-dir",
    "config_dirs",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Read settings from the *.conf in here, which go before those of files.",
)


def with_config_files(command: Callable[..., None]) -> Callable[..., None]:
    return _with_files(_with_directories(command))


def configured(command: Callable[..., int | None]) -> Callable[..., None]:
    """Give a command --config-file of its own, call it with the Program, and exit with what it returns."""

    @functools.wraps(command)
    def wrapped(config_files: tuple[str, ...], config_dirs: tuple[str, ...], **options: object) -> None:
        context = click.get_current_context()
        program = context.ensure_object(Program).with_files((*config_files, *config_dirs))
        context.exit(command(program, **options) or 0)

    return with_config_files(wrapped)


@contextlib.contextmanager
def database(conf: cfg.ConfigOpts, *, retry: bool = False) -> Iterator[Database]:
    """The configured database for the time of a command; what goes wrong with it becomes the command's end.

    A command at a terminal fails at the first attempt to connect; the service retries.
    """
    with plainly_failing():
        opened = open_database(conf, retry=retry)
        try:
            yield opened
        except DatabaseFault as fault:
            raise click.ClickException(f"{opened.where}: {_in_one_line(fault)}") from fault
        except SQLAlchemyError as error:
            # The first line is the database's own message; the rest quotes SQL and links to a manual.
            reason = str(error).splitlines()[0]
            raise click.ClickException(f"{opened.where}: The database failed: {reason}") from error
        finally:
            opened.dispose()


def check_identity(conf: cfg.ConfigOpts) -> bool:
    """Whether tokens can be validated. What is wrong is named with its place, where that can be told."""
    authplugin.register(conf)
    return keystone.check(conf)


def load_policy(conf: cfg.ConfigOpts) -> Policy:
    with oslo_policy_hushed():
        return Policy(conf)


@contextlib.contextmanager
def plainly_failing() -> Iterator[None]:
    """Say what is wrong with a setting, a policy or a database in one line instead of a traceback."""
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


def _in_one_line(error: Exception) -> str:
    """The message without the line breaks that drivers put into it."""
    return " ".join(str(error).split())


@contextlib.contextmanager
def oslo_policy_hushed() -> Iterator[None]:
    """What oslo.policy logs and warns of is said by others: by workers in the log, by `policy check` with its line."""
    logger = logging.getLogger("oslo_policy")
    before, nowhere = logger.propagate, logging.NullHandler()
    logger.propagate = False
    logger.addHandler(nowhere)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.removeHandler(nowhere)
        logger.propagate = before
