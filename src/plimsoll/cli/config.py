# SPDX-License-Identifier: Apache-2.0

"""`plimsoll config`: show the settings in force and their places, check them, print a sample file."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator

import click
from oslo_config import cfg, generator
from rich.console import Console
from rich.markup import escape

from plimsoll.access import IdentityError, PolicyError, authplugin
from plimsoll.cli import config_lint
from plimsoll.cli.settings import CheckImpossible, Program, check_identity, configured, load_policy
from plimsoll.config import loader as settings
from plimsoll.config import log_destination, origins
from plimsoll.config.database_url import open_database
from plimsoll.config.options import NAMESPACES

FINE, WARNINGS, BROKEN = 0, 1, CheckImpossible.exit_code
HIDDEN = "***"


@click.group()
def config() -> None:
    """Show and check the settings.

    \b
    Example:
      plimsoll config check
    """


@config.command(short_help="Show the settings in force.")
@click.option("--all", "everything", is_flag=True, help="Also show the defaults.")
@click.option("--json", "in_json", is_flag=True, help="Print JSON.")
@configured
def show(program: Program, everything: bool, in_json: bool) -> None:
    """Show the settings in force and the place where each is set. Secrets are not shown.

    \b
    Example:
      plimsoll config show --all --config-file /etc/placement/placement.conf
    """
    conf = program.load()
    found = [each for each in _in_force(conf) if everything or each["from"] != "default"]
    found.sort(key=lambda each: (each["group"] != "DEFAULT", each["group"]))
    if in_json:
        click.echo(json.dumps(found, indent=2))
        return
    for each in found:
        click.echo(f"[{each['group']}] {each['option']} = {each['value']}  ({each['from']})")
    if not found:
        click.echo("Nothing is set: the defaults are in force.")


@config.command(short_help="Find settings that are wrong or ignored.")
@configured
def check(program: Program) -> int:
    """Find settings that are wrong, that are ignored, or that have another effect than in Placement.

    Policy files and the plugin of [keystone_authtoken] are loaded as in the service; the database is not contacted.
    Exits 0 if nothing is wrong (an ignored setting is only a note), 1 on a warning, 2 if the service would not start.

    \b
    Example:
      plimsoll config check --config-file /etc/placement/placement.conf
    """
    try:
        conf = program.load()
    except click.ClickException as error:
        _print_finding("fault", "red", error.message)
        return BROKEN
    checks = (_check_database, _check_authentication, log_destination.prepare, load_policy)
    faults = [fault for check in checks for fault in _faults(check, conf)]
    for fault in faults:
        _print_finding("fault", "red", fault)
    found = config_lint.lint(conf)
    for setting in found:
        _print_finding(*(("warning", "yellow") if setting.is_warning else ("note", "dim")), str(setting))
    if not faults and not found:
        click.echo("Nothing is wrong, and nothing is ignored.")
    return BROKEN if faults else WARNINGS if any(setting.is_warning for setting in found) else FINE


@config.command(short_help="Print a sample file.")
@configured
def sample(program: Program) -> None:
    """Print a placement.conf with every option and its default, all of it commented out.

    \b
    Example:
      plimsoll config sample > placement.conf
    """
    click.echo(sample_text(), nl=False)


def sample_text() -> str:
    """Return the output of oslo-config-generator for all our namespaces."""
    settings.set_library_defaults()
    conf = cfg.ConfigOpts()
    generator.register_cli_opts(conf)
    conf([f"--namespace={namespace}" for namespace in NAMESPACES], default_config_files=[])
    written = io.StringIO()
    generator.generate(conf, written)
    return "".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines())


def _in_force(conf: cfg.ConfigOpts) -> Iterator[dict[str, str]]:
    registered = settings.all_opts()
    with contextlib.suppress(settings.ConfigError):
        registered.append(authplugin.register(conf))
    shown: set[tuple[str, str]] = set()
    for group, opts in registered:
        for opt in opts:
            if (group, opt.dest) in shown:
                continue
            shown.add((group, opt.dest))
            value = (conf if group == "DEFAULT" else conf[group])[opt.dest]
            text = HIDDEN if opt.secret and value else _text(value)
            place = origins.place_in_force(conf, group, opt.dest) or "default"
            yield {"group": group, "option": opt.dest, "value": text, "from": place}


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def _faults(check: Callable[[cfg.ConfigOpts], object], conf: cfg.ConfigOpts) -> Iterator[str]:
    try:
        check(conf)
    except settings.ConfigError as error:
        yield from error.problems
    except (IdentityError, PolicyError) as error:
        yield str(error)


def _check_database(conf: cfg.ConfigOpts) -> None:
    open_database(conf).dispose()  # checks the URL, does not connect


def _check_authentication(conf: cfg.ConfigOpts) -> None:
    if conf.api.auth_strategy == "keystone":
        check_identity(conf)


def _print_finding(severity: str, colour: str, message: str) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for line in message.splitlines():
        console.print(f"[bold {colour}]{severity:7}[/]  {escape(line)}")
