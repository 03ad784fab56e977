# SPDX-License-Identifier: Apache-2.0

"""Options of the commands that send requests to a running service, and the exit statuses of these commands."""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable
from typing import Any

import click

from plimsoll.client import ClientFailure, NoService, RefusedRequest, Target

FAILED, USAGE, NOT_NOW, NEVER = 1, 2, 3, 4
STATUS_OF_VERDICT = {"found": 0, "not now": NOT_NOW, "never": NEVER}

_OPTIONS = (
    click.option("--url", metavar="URL", help="The service's address, instead of that in the catalog."),
    click.option("--token", metavar="TOKEN", help="With --url: a token that you have. [OS_TOKEN]"),
    click.option("--os-cloud", "cloud", metavar="NAME", help="A cloud of clouds.yaml. [OS_CLOUD]"),
    click.option("--os-region-name", "region", metavar="NAME", help="[OS_REGION_NAME]"),
    click.option(
        "--os-interface", "interface", metavar="NAME", help="public, internal or admin. [OS_INTERFACE]"
    ),
    click.option(
        "--os-cacert",
        "cacert",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="Authorities whose certificates are trusted. [OS_CACERT]",
    ),
    click.option("--insecure", is_flag=True, default=None, help="Do not verify certificates. [OS_INSECURE]"),
    click.option(
        "--timeout",
        "timeout_seconds",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=60.0,
        show_default=True,
        help="The longest wait for a response.",
    ),
)


class _UsageFailure(click.ClickException):
    """A failure that another command line avoids."""

    exit_code = USAGE


def with_service_options(command: Callable[..., int]) -> Callable[..., None]:
    """Decorate a command: add the options of the service, pass it the Target, exit with its return value.

    A failure ends the command with one line on stderr: status 2 for a query that the service refuses, otherwise 1.
    """

    @functools.wraps(command)
    def wrapped(**options: Any) -> None:
        names = ("url", "token", "cloud", "region", "interface", "cacert", "insecure", "timeout_seconds")
        target = Target(**{name: options.pop(name) for name in names})
        context = click.get_current_context()
        context.exit(_run(command, target, options))

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def _run(command: Callable[..., int], target: Target, options: dict[str, Any]) -> int:
    # The library logs each retry, and warns of each request that is not verified; the last failure is printed below.
    logging.getLogger("keystoneauth").addHandler(logging.NullHandler())
    warnings.filterwarnings("ignore", message="Unverified HTTPS request")
    try:
        return command(target, **options)
    except NoService as error:
        raise _UsageFailure(str(error)) from error
    except RefusedRequest as error:
        kind = _UsageFailure if error.status == 400 else click.ClickException
        raise kind(str(error)) from error
    except ClientFailure as error:
        raise click.ClickException(str(error)) from error
