# SPDX-License-Identifier: Apache-2.0

"""`plimsoll config`: which settings are in force and who made them, what is wrong or ignored, and a sample file."""

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
from plimsoll.cli.settings import Broken, Program, check_identity, configured, load_policy
from plimsoll.config import loader as settings
from plimsoll.config import log_destination, origins
from plimsoll.config.database_url import open_database
from plimsoll.config.options import NAMESPACES

FINE, WARNINGS, BROKEN = 0, 1, Broken.exit_code
HIDDEN = "***"


@click.group()
def config() -> None:
    """Look at the settings.

    \b
    Example:
      plimsoll config check
    """


@config.command(short_help="Show the settings in force.")
@click.option("--all", "everything", is_flag=True, help="Also those that nobody made: the defaults.")
@click.option("--json", "in_json", is_flag=True, help="Print JSON.")
@configured
def show(program: Program, everything: bool, in_json: bool) -> None:
    """Show the settings in force and where each of them was made. Secrets are not shown.

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
        click.echo("No settings are made: the defaults are in force.")


@config.command(short_help="Look for what is wrong or ignored.")
@configured
def check(program: Program) -> int:
    """Look for settings that are wrong, that are ignored, or that mean something else here than to Placement.

    Policy files and the plugin of [keystone_authtoken] are loaded as the service does; the database is not asked.
    Exits 0 if all is well (what is ignored is only a note), 1 on a warning, 2 if the service would not start.

    \b
    Example:
      plimsoll config check --config-file /etc/placement/placement.conf
    """
    try:
        conf = program.load()
    except click.ClickException as error:
        _say("fault", "red", error.message)
        return BROKEN
    faults = [fault for trial in _TRIALS for fault in _faults(trial, conf)]
    for fault in faults:
        _say("fault", "red", fault)
    found = config_lint.settings(conf)
    for setting in found:
        _say(*(("warning", "yellow") if setting.matters else ("note", "dim")), str(setting))
    if not faults and not found:
        click.echo("Nothing is wrong, and nothing is ignored.")
    return BROKEN if faults else WARNINGS if any(setting.matters for setting in found) else FINE


@config.command(short_help="Print a file to start from.")
@configured
def sample(program: Program) -> None:
    """Print a placement.conf with every option and its default, all of it commented out.

    \b
    Example:
      plimsoll config sample > placement.conf
    """
    click.echo(sample_text(), nl=False)


def sample_text() -> str:
    """What oslo-config-generator gives for all our namespaces."""
    settings.set_library_defaults()
    conf = cfg.ConfigOpts()
    generator.register_cli_opts(conf)
    conf([f"--namespace={namespace}" for namespace in NAMESPACES], default_config_files=[])
    written = io.StringIO()
    generator.generate(conf, written)
    return "".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines())


def _in_force(conf: cfg.ConfigOpts) -> Iterator[dict[str, str]]:
    known = settings.all_opts()
    with contextlib.suppress(settings.ConfigError):
        known.append(authplugin.register(conf))
    shown: set[tuple[str, str]] = set()
    for group, opts in known:
        for opt in opts:
            if (group, opt.dest) in shown:
                continue
            shown.add((group, opt.dest))
            place = conf.get_location(opt.dest, None if group == "DEFAULT" else group)
            made = place is not None and place.location.is_user_controlled
            value = (conf if group == "DEFAULT" else conf[group])[opt.dest]
            yield {
                "group": group,
                "option": opt.dest,
                "value": HIDDEN if opt.secret and value else _text(value),
                "from": (origins.place(conf, group, opt.dest, place.detail) if made and place else None)
                or "default",
            }


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def _faults(trial: Callable[[cfg.ConfigOpts], object], conf: cfg.ConfigOpts) -> Iterator[str]:
    try:
        trial(conf)
    except settings.ConfigError as error:
        yield from error.problems
    except (IdentityError, PolicyError) as error:
        yield str(error)


def _try_database(conf: cfg.ConfigOpts) -> None:
    open_database(conf).dispose()  # which connects to nothing


def _try_identity(conf: cfg.ConfigOpts) -> None:
    if conf.api.auth_strategy == "keystone":
        check_identity(conf)


_TRIALS: tuple[Callable[[cfg.ConfigOpts], object], ...] = (
    _try_database,
    _try_identity,
    log_destination.settle,
    load_policy,
)


def _say(severity: str, colour: str, what: str) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for line in what.splitlines():
        console.print(f"[bold {colour}]{severity:7}[/]  {escape(line)}")
