# SPDX-License-Identifier: Apache-2.0

"""`plimsoll serve`: check the settings and the address, log ignored settings, print the address, serve.

It refuses noauth2 on an address that other machines can reach unless the operator allows it, and a port that is in use.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from dataclasses import fields

import click
from oslo_config import cfg
from rich.console import Console
from rich.markup import escape

import plimsoll
from plimsoll.access.loopback import is_loopback
from plimsoll.api.console.files import INDEX, STATIC
from plimsoll.cli import config_lint, sd_notify
from plimsoll.cli.development import set_development_defaults
from plimsoll.cli.metrics_directory import metrics_directory
from plimsoll.cli.settings import Program, check_identity, configured, database, load_policy, one_line_errors
from plimsoll.config import loader, log_destination, logging_setup
from plimsoll.config.database_url import database_url, open_database
from plimsoll.http.middleware import mount
from plimsoll.server import supervisor
from plimsoll.server.limits import Limits
from plimsoll.server.sockets import Listen

LOG = logging.getLogger(__name__)

_INSECURE = (
    "With auth_strategy = noauth2 every client that can reach {host} can change everything. Serve on 127.0.0.1, or set"
    " [api]auth_strategy = keystone; or, if only you can use that network, [plimsoll]allow_insecure_noauth = true."
)
_SET_BY_DEV = ("environment variable OS_API__AUTH_STRATEGY", "environment variable OS_DEFAULT__STATE_PATH")
_NO_AUTH_TYPE = "keystone, but [keystone_authtoken] has no auth_type: no token will be valid"
_CANNOT_LISTEN = (
    "Cannot listen on {host}:{port}: {reason}. Stop the program that uses it, or choose another --port."
)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", default=8778, show_default=True, type=click.IntRange(0, 65535), help="0 for any free port."
)
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1), help="Worker processes.")
@click.option("--prefix", metavar="PATH", help="Serve under this path only.")
@click.option("--dev", is_flag=True, help="Development: a SQLite database under ./var, and noauth2.")
@configured
def serve(program: Program, host: str, port: int, workers: int, prefix: str | None, dev: bool) -> None:
    """Serve the Placement API.

    The database is [placement_database]connection. Create its tables with `plimsoll db sync`, or set
    [placement_database]sync_on_startup. With --dev it is ./var/plimsoll.sqlite, which is created.

    \b
    Examples:
      plimsoll serve --dev
      plimsoll serve --host 10.0.0.5 --workers 2 --config-file /etc/placement/placement.conf
      plimsoll serve --prefix /placement

    SIGTERM and SIGINT stop the service after its requests have finished. SIGHUP replaces the workers, one after
    the other, by workers that read the configuration again; no request is dropped.
    """
    if dev:
        set_development_defaults()
    if prefix is not None:
        os.environ["OS_PLIMSOLL__PREFIX"] = prefix
    conf = program.load()
    address, port = _free_address(host, port)
    identity = _check_and_log(conf, address, dev)
    where = _prepare_database(conf)
    if program.config_files:
        os.environ[loader.FILES_VARIABLE] = os.pathsep.join(program.config_files)
    listen = Listen(address, port, workers)
    with metrics_directory(conf.plimsoll.metrics_directory):
        supervisor.run(
            listen,
            _limits(conf),
            when_ready=lambda: _print_banner(conf, listen, where, identity),
            read_limits=_ConfigurationReload(program, address, conf, dev),
        )
    _checkpoint_sqlite(conf)


class _ConfigurationReload:
    """Reads and checks the configuration on SIGHUP, before a worker is replaced."""

    def __init__(self, program: Program, address: str, conf: cfg.ConfigOpts, dev: bool) -> None:
        self._program = program
        self._dev = dev
        self._address = address
        self._last_good = conf

    def __call__(self) -> Limits:
        conf = self._program.load()
        try:
            _check_and_log(conf, self._address, self._dev)
        except click.ClickException:
            with contextlib.suppress(loader.ConfigError):
                logging_setup.set_up(self._last_good)  # the error is logged to the previous destination
            raise
        self._last_good = conf
        return _limits(conf)


def _limits(conf: cfg.ConfigOpts) -> Limits:
    return Limits(**{field.name: conf.plimsoll[field.name] for field in fields(Limits)})


def _free_address(host: str, port: int) -> tuple[str, int]:
    """Return the address and port as numbers, after checking that they can be bound."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
            bound = trial.getsockname()
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.ClickException(_CANNOT_LISTEN.format(host=host, port=port, reason=reason)) from error
    return str(bound[0]), int(bound[1])


def _check_and_log(conf: cfg.ConfigOpts, address: str, dev: bool) -> str:
    """Exit with a one-line error on settings with which no worker could start. Return a description of the identity.

    Then log the findings of `plimsoll config check`: warnings, such as a misspelt section, and notes.
    """
    is_noauth = conf.api.auth_strategy == "noauth2"
    # Other machines could send requests with tokens that are not verified.
    if is_noauth and not conf.plimsoll.allow_insecure_noauth and not is_loopback(address):
        raise click.ClickException(_INSECURE.format(host=address))
    with one_line_errors():
        open_database(conf).dispose()
        load_policy(conf)
        log_destination.prepare(conf)
        if is_noauth:
            identity = "noauth2: the token is the user's name and is not verified"
        else:
            identity = "keystone" if check_identity(conf) else _NO_AUTH_TYPE
        logging_setup.set_up(conf)  # in this process too: the supervisor logs starts and ends of workers
    for setting in config_lint.lint(conf):
        if not (dev and setting.written in _SET_BY_DEV):
            LOG.log(logging.WARNING if setting.is_warning else logging.INFO, "Settings: %s", setting)
    return identity


def _prepare_database(conf: cfg.ConfigOpts) -> str:
    # Imported here because it imports all layers, which takes time and which other commands do not need.
    from plimsoll.bootstrap import prepare_database

    with database(conf, retry=True) as opened:
        prepare_database(conf, opened)
        return opened.where


def _checkpoint_sqlite(conf: cfg.ConfigOpts) -> None:
    """Open and close an SQLite database: the last connection that closes merges its write-ahead log into the file.

    Workers exit without closing their connections.
    """
    if database_url(conf).startswith("sqlite"):
        with database(conf) as opened, opened.transaction() as transaction:
            transaction.begin()


def _print_banner(conf: cfg.ConfigOpts, listen: Listen, where: str, identity: str) -> None:
    sd_notify.notify(sd_notify.READY)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    workers = f"{listen.workers}, each with up to {conf.plimsoll.threads} requests at a time"
    durable = "" if conf.placement_database.sqlite_synchronous else ", fast and NOT durable"
    url = listen.url + mount.normalize_prefix(conf.plimsoll.prefix)
    console.print(f"[bold]Plimsoll {plimsoll.__version__}[/] listens on [bold]{url}[/]")
    console.print(f"  database  {escape(where)}{durable}")
    console.print(f"  workers   {workers}")
    console.print(f"  identity  {escape(identity)}")
    if conf.plimsoll.console:
        is_built = (STATIC / INDEX).is_file()
        console.print(f"  console   {url}/console/" + ("" if is_built else " (not built: `make console`)"))
    if conf.api.auth_strategy == "noauth2":
        console.print("Try")
        console.print(f"  curl -s -H 'x-auth-token: admin' {url}/resource_providers")
