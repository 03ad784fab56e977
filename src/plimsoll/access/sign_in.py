# SPDX-License-Identifier: Apache-2.0

"""Sign in to Keystone with a user's password, for the web console: limited in number, in time and in attempts.

The password is passed on to Keystone and stored nowhere; exceptions and log lines do not contain it.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from keystoneauth1 import exceptions
from keystoneauth1.access import AccessInfo
from keystoneauth1.identity.generic import Password
from keystoneauth1.session import Session
from keystonemiddleware import auth_token
from oslo_config import cfg
from requests import Session as Connections

from plimsoll.access import authplugin
from plimsoll.access.validations import DeadlineAdapter, Validations
from plimsoll.bounded_cache import BoundedCache
from plimsoll.runtime.base import Runtime

LOG = logging.getLogger(__name__)

MAX_RUNNING = 4
"""Sign-ins of one process at a time."""
ATTEMPTS, WINDOW_SECONDS = 5, 60.0
"""Failed attempts of one user within this time, in one process; then the user must wait."""
_IS_ID = re.compile(r"[0-9a-f]{32}|default")


@dataclass(frozen=True, slots=True)
class Credentials:
    user: str
    password: str = field(repr=False)
    user_domain: str
    project: str | None
    project_domain: str


@dataclass(frozen=True, slots=True)
class SignedIn:
    token: str = field(repr=False)
    expires_at: datetime
    user: tuple[str, str]
    """Id and name."""
    project: tuple[str, str] | None
    roles: tuple[str, ...]


class SignInRefused(Exception):
    """Keystone refused user, password, domain or project."""


class SignInUnavailable(Exception):
    """Keystone did not respond, or not as it should."""


class TooManyAttempts(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too many failed attempts for this user. Try again in {seconds:.0f} seconds.")
        self.seconds = seconds


class KeystoneSignIn:
    """Requests tokens from the Keystone of `[keystone_authtoken]`."""

    def __init__(
        self, conf: cfg.ConfigOpts, runtime: Runtime, clock: Callable[[], float] = time.monotonic
    ) -> None:
        section, _ = authplugin.register(conf)
        options, own = conf[authplugin.SECTION], conf[section]
        self._auth_url: str | None = getattr(own, "auth_url", None) or options.www_authenticate_uri
        connections = Connections()
        for scheme in ("https://", "http://"):
            connections.mount(scheme, DeadlineAdapter(pool_maxsize=MAX_RUNNING))
        certificate = (options.certfile, options.keyfile) if options.certfile and options.keyfile else None
        self._session = Session(
            session=connections,
            verify=False if options.insecure else options.cafile or True,
            cert=certificate,
            timeout=conf.plimsoll.token_validation_timeout,
            user_agent="plimsoll",
        )
        self._running = Validations(MAX_RUNNING, conf.plimsoll.token_validation_timeout, runtime)
        self._failed: BoundedCache[tuple[str, str], tuple[float, ...]] = BoundedCache(10_000, 2 << 20)
        self._lock = threading.Lock()
        self._clock = clock

    def sign_in(self, credentials: Credentials) -> SignedIn:
        """Return a token of Keystone. Raises SignInRefused, SignInUnavailable or TooManyAttempts."""
        if not self._auth_url:
            raise SignInUnavailable("No address of Keystone is configured ([keystone_authtoken]auth_url).")
        key = _attempts_key(credentials.user), _attempts_key(credentials.user_domain)
        began = self._begin_attempt(key)
        has_failed = False
        try:
            access = self._running.run(object(), lambda: self._access(credentials))
        except (exceptions.Unauthorized, exceptions.Forbidden, exceptions.NotFound) as error:
            has_failed = True
            LOG.info("Keystone refused a sign-in to the console (%s)", type(error).__name__)
            raise SignInRefused("Keystone refused this user, password, domain or project.") from None
        except exceptions.BadRequest:
            raise SignInRefused("Keystone refused the request: check user, domain and project.") from None
        except (exceptions.ClientException, auth_token.ServiceError) as error:
            LOG.error("A sign-in to the console failed: %s", type(error).__name__)
            raise SignInUnavailable(
                "Keystone cannot be reached or did not respond in time. Try again."
            ) from None
        finally:
            if not has_failed:
                self._forget_attempt(key, began)
        return _signed_in(access)

    def _access(self, credentials: Credentials) -> AccessInfo:
        plugin = Password(
            self._auth_url or "",
            username=credentials.user,
            password=credentials.password,
            **_named("user_domain", credentials.user_domain),
            **({} if credentials.project is None else _project(credentials)),
            reauthenticate=False,
        )
        return plugin.get_access(self._session)

    def _recent(self, key: tuple[str, str]) -> tuple[float, ...]:
        begin = self._clock() - WINDOW_SECONDS
        return tuple(each for each in self._failed.get(key) or () if each > begin)[-ATTEMPTS:]

    def _begin_attempt(self, key: tuple[str, str]) -> float:
        """Count an attempt as failed until its outcome is known: else many at the same time would not be limited."""
        with self._lock:
            recent, now = self._recent(key), self._clock()
            if len(recent) >= ATTEMPTS:
                raise TooManyAttempts(max(1.0, recent[0] + WINDOW_SECONDS - now))
            self._failed.put(key, (*recent, now))
        return now

    def _forget_attempt(self, key: tuple[str, str], began: float) -> None:
        with self._lock:
            others = list(self._recent(key))
            if began in others:
                others.remove(began)
            self._failed.put(key, tuple(others))


def _attempts_key(name: str) -> str:
    """Return a text that is equal for the spellings of a name that databases of Keystone may compare as equal."""
    plain = unicodedata.normalize("NFKD", name)
    return "".join(each for each in plain if not unicodedata.combining(each)).casefold().strip()[:255]


def _project(credentials: Credentials) -> dict[str, str]:
    assert credentials.project is not None
    if _IS_ID.fullmatch(credentials.project):
        return {"project_id": credentials.project}
    return {"project_name": credentials.project} | _named("project_domain", credentials.project_domain)


def _named(what: str, value: str) -> dict[str, str]:
    """Return an id or a name as the argument of a plugin."""
    return {f"{what}_id" if _IS_ID.fullmatch(value) else f"{what}_name": value}


def _signed_in(access: AccessInfo) -> SignedIn:
    if access.auth_token is None or access.expires is None:
        raise SignInUnavailable("Keystone returned no token.")
    project = None if access.project_id is None else (access.project_id, access.project_name or "")
    return SignedIn(
        access.auth_token,
        access.expires,
        (access.user_id or "", access.username or ""),
        project,
        tuple(access.role_names or ()),
    )
