# SPDX-License-Identifier: Apache-2.0

"""`plimsoll serve`: check the settings and the exposure, log what is ignored, print where it listens, serve.

Development authentication is never offered to other machines unless the operator said so, and nothing is
listened on that somebody else already serves.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from dataclasses import fields
from pathlib import Path

import click
from oslo_config import cfg
from rich.console import Console
from rich.markup import escape

import plimsoll
from plimsoll.access.loopback import is_loopback
from plimsoll.cli import config_lint, sd_notify
from plimsoll.cli.settings import Program, check_identity, configured, database, load_policy, plainly_failing
from plimsoll.config import loader, log_destination, logging_setup
from plimsoll.config.database_url import VARIABLE, database_url, open_database
from plimsoll.http.middleware import mount
from plimsoll.server import supervisor
from plimsoll.server.limits import Limits
from plimsoll.server.sockets import Listen

LOG = logging.getLogger(__name__)

_INSECURE = (
    "With auth_strategy = noauth2 anybody who can reach {host} can change everything. Serve on 127.0.0.1, or set"
    " [api]auth_strategy = keystone; or, if that network is yours alone, [plimsoll]allow_insecure_noauth = true."
)
_SET_BY_DEV = ("environment variable OS_API__AUTH_STRATEGY", "environment variable OS_DEFAULT__STATE_PATH")
_TAKEN = "Cannot listen on {host}:{port}: {reason}. Stop what serves there, or choose another --port."


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", default=8778, show_default=True, type=click.IntRange(0, 65535), help="0 takes one that is free."
)
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1), help="Worker processes.")
@click.option("--prefix", metavar="PATH", help="Serve under this path, and nothing beside it.")
@click.option("--dev", is_flag=True, help="Development: a SQLite database under ./var, and noauth2.")
@configured
def serve(program: Program, host: str, port: int, workers: int, prefix: str | None, dev: bool) -> None:
    """Serve the Placement API.

    The database is the one of [placement_database]connection. Prepare it with `plimsoll db sync`, or set
    [placement_database]sync_on_startup. With --dev it is ./var/plimsoll.sqlite, which is created.

    \b
    Examples:
      plimsoll serve --dev
      plimsoll serve --host 10.0.0.5 --workers 4 --config-file /etc/placement/placement.conf
      plimsoll serve --prefix /placement

    SIGTERM and SIGINT let requests finish and end it. SIGHUP has workers read the configuration anew, one
    after the other, and drops no request.
    """
    if dev:
        _choose_development()
    if prefix is not None:
        os.environ["OS_PLIMSOLL__PREFIX"] = prefix
    conf = program.load()
    address, port = _free_address(host, port)
    _check_exposure(conf, address)
    _try_out(conf)
    identity = _check_identity(conf)
    _begin_to_log(conf)
    _log_findings(conf, dev)
    where = _prepare_database(conf)
    if program.config_files:
        os.environ[loader.FILES_VARIABLE] = os.pathsep.join(program.config_files)
    listen = Listen(address, port, workers)
    supervisor.run(
        listen,
        _limits(conf),
        when_ready=lambda: _greet(conf, listen, where, identity),
        read_limits=_Rereading(program, address, conf, dev),
    )
    _settle(conf)


class _Rereading:
    """What SIGHUP begins with: no worker is replaced before the new configuration is known to be good."""

    def __init__(self, program: Program, address: str, conf: cfg.ConfigOpts, dev: bool) -> None:
        self._program = program
        self._dev = dev
        self._address = address
        self._last_good = conf

    def __call__(self) -> Limits:
        conf = self._program.load()
        try:
            _check_exposure(conf, self._address)
            _try_out(conf)
            _check_identity(conf)
            _begin_to_log(conf)
        except click.ClickException:
            with contextlib.suppress(loader.ConfigError):
                logging_setup.set_up(self._last_good)  # so that what is wrong is said where the log has been
            raise
        _log_findings(conf, self._dev)
        self._last_good = conf
        return _limits(conf)


def _limits(conf: cfg.ConfigOpts) -> Limits:
    return Limits(**{field.name: conf.plimsoll[field.name] for field in fields(Limits)})


def _check_exposure(conf: cfg.ConfigOpts, address: str) -> None:
    if _is_exposed(conf, address):
        raise click.ClickException(_INSECURE.format(host=address))


def _choose_development() -> None:
    """Set what --dev stands for. A database or a state_path that the environment names is kept; files are not asked."""
    os.environ["OS_API__AUTH_STRATEGY"] = "noauth2"
    state = os.environ.setdefault("OS_DEFAULT__STATE_PATH", str(Path("var").absolute()))
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = f"sqlite:///{state}/plimsoll.sqlite"
        os.environ["OS_PLACEMENT_DATABASE__SYNC_ON_STARTUP"] = "true"


def _free_address(host: str, port: int) -> tuple[str, int]:
    """The address as numbers, after trying it."""
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
        raise click.ClickException(_TAKEN.format(host=host, port=port, reason=reason)) from error
    return str(bound[0]), int(bound[1])


def _is_exposed(conf: cfg.ConfigOpts, address: str) -> bool:
    """Would strangers be believed without a proof?"""
    if conf.api.auth_strategy != "noauth2" or conf.plimsoll.allow_insecure_noauth:
        return False
    return not is_loopback(address)


def _check_identity(conf: cfg.ConfigOpts) -> str:
    """How callers prove who they are, in words; or the end of the command if the settings for that are wrong."""
    if conf.api.auth_strategy == "noauth2":
        return "noauth2: the token names the user, and nobody checks it"
    with plainly_failing():
        complete = check_identity(conf)
    return (
        "keystone"
        if complete
        else "keystone, but [keystone_authtoken] has no auth_type: no token will be valid"
    )


def _try_out(conf: cfg.ConfigOpts) -> None:
    """Fail here, in one line, on settings that would keep each worker from starting."""
    with plainly_failing():
        open_database(conf).dispose()
        load_policy(conf)
        log_destination.settle(conf)


def _begin_to_log(conf: cfg.ConfigOpts) -> None:
    """Also in this process: what becomes of workers is told by it."""
    with plainly_failing():
        logging_setup.set_up(conf)


def _log_findings(conf: cfg.ConfigOpts, dev: bool) -> None:
    """Log what `plimsoll config check` reports: warnings, such as a misspelt section, and notes."""
    for setting in config_lint.settings(conf):
        if dev and setting.written in _SET_BY_DEV:
            continue
        LOG.log(logging.WARNING if setting.matters else logging.INFO, "Settings: %s", setting)


def _prepare_database(conf: cfg.ConfigOpts) -> str:
    # Imported here because it imports everything, which the other commands need not wait for.
    from plimsoll.bootstrap import prepare_database

    with database(conf, retry=True) as opened:
        prepare_database(conf, opened)
        return opened.where


def _settle(conf: cfg.ConfigOpts) -> None:
    """Workers end without closing anything. Whoever closes an SQLite file last leaves it whole, with no log."""
    if not database_url(conf).startswith("sqlite"):
        return
    with database(conf) as opened, opened.write():
        pass


def _greet(conf: cfg.ConfigOpts, listen: Listen, where: str, identity: str) -> None:
    sd_notify.tell(sd_notify.READY)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    workers = f"{listen.workers}, each with up to {conf.plimsoll.threads} requests at a time"
    durable = "" if conf.placement_database.sqlite_synchronous else ", fast and NOT durable"
    url = listen.url + mount.normal(conf.plimsoll.prefix)
    console.print(f"[bold]Plimsoll {plimsoll.__version__}[/] listens on [bold]{url}[/]")
    console.print(f"  database  {escape(where)}{durable}")
    console.print(f"  workers   {workers}")
    console.print(f"  identity  {escape(identity)}")
    if conf.api.auth_strategy == "noauth2":
        console.print("Try")
        console.print(f"  curl -s -H 'x-auth-token: admin' {url}/resource_providers")
