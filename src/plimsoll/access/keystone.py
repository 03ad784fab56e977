# SPDX-License-Identifier: Apache-2.0

"""Authentication by Keystone: keystonemiddleware validates the token and sets the identity headers.

It is configured from the `[keystone_authtoken]` section of the given configuration, and reads no other file. The
version document needs no token. keystonemiddleware decides for each request whether its token is valid. Skipped are two
of its steps that nothing here needs: the header with the service catalog, and the processing of responses.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar
from functools import lru_cache
from importlib.util import find_spec
from typing import Any
from wsgiref.types import WSGIApplication, WSGIEnvironment

import webob.exc
from keystoneauth1 import exceptions, loading
from keystonemiddleware import auth_token
from oslo_config import cfg

from plimsoll.access.authenticate import IdentityUnavailable
from plimsoll.access.authplugin import SECTION
from plimsoll.access.tokens import NO_TOKEN_CACHE, TokenCache, TokenData, token_hash
from plimsoll.access.validations import DeadlineAdapter, Validations, retries_within
from plimsoll.permit import UNLIMITED, Permit, permit_of
from plimsoll.runtime.base import Runtime

LOG = logging.getLogger(__name__)

_CACHE_KEY = "plimsoll.tokens"


class IdentityError(Exception):
    """`[keystone_authtoken]` cannot be used; the service must not start with it."""


class Keystone:
    def __init__(self, conf: cfg.ConfigOpts, runtime: Runtime) -> None:
        if not check(conf):
            LOG.error("No token can be validated: [%s] has no auth_type. All requests get a 503.", SECTION)
        options = conf[SECTION]
        timeout = conf.plimsoll.token_validation_timeout
        protocol_options: dict[str, Any] = {
            "oslo_config_config": conf,
            # No request passes without a valid token, even if the operator has set this option.
            "delay_auth_decision": False,
            "http_request_max_retries": min(options.http_request_max_retries, retries_within(timeout)),
        }
        local_cache = NO_TOKEN_CACHE
        if not (options.memcached_servers or options.cache):
            protocol_options["cache"] = _CACHE_KEY
            local_cache = TokenCache(options.token_cache_time)
        validations = Validations(conf.plimsoll.max_token_validations, timeout, runtime)
        self._protocol = _Protocol(protocol_options, local_cache, validations)

    def __call__(self, environ: WSGIEnvironment) -> WSGIApplication | None:
        refusal: WSGIApplication | None
        try:
            refusal = self._protocol.process_request(_Request(environ))
        except webob.exc.HTTPServiceUnavailable as fault:
            raise IdentityUnavailable from fault  # keystonemiddleware has logged the reason
        except webob.exc.HTTPException as response:
            refusal = response
        except (exceptions.ClientException, auth_token.ServiceError) as fault:
            LOG.error("Keystone could not validate a token: %s", fault)
            raise IdentityUnavailable from fault
        except Exception as fault:
            LOG.exception("The validation of a token failed")
            raise IdentityUnavailable from fault
        return refusal


class _Protocol(auth_token.AuthProtocol):  # type: ignore[misc]  # keystonemiddleware carries no types
    """keystonemiddleware with our token cache, and with validations limited by `Validations`.

    A request releases its permit while it waits for memcached or Keystone.
    """

    def __init__(self, options: dict[str, Any], local_cache: TokenCache, validations: Validations) -> None:
        self._local_cache = local_cache
        self._validations = validations
        super().__init__(None, options)

    def _create_session(self, **options: Any) -> Any:
        session = super()._create_session(**options)
        adapter = DeadlineAdapter(pool_maxsize=self._validations.max_running)
        for scheme in ("https://", "http://"):
            session.session.mount(scheme, adapter)
        return session

    def _create_identity_server(self) -> _IdentityServer:
        return _IdentityServer(super()._create_identity_server(), self._local_cache, self._validations)

    def process_request(self, request: Any) -> Any:
        request.environ[_CACHE_KEY] = _NULL_CACHE
        previous = _PERMIT.set(permit_of(request.environ))
        try:
            return super().process_request(request)
        finally:
            _PERMIT.reset(previous)

    def fetch_token(self, token: str, **options: Any) -> TokenData:
        token_data = self._local_cache.get(token)
        if token_data is None:
            with _PERMIT.get().released():
                token_data = super().fetch_token(token, **options)
        return token_data

    @property
    def www_authenticate_uri(self) -> Any:
        if self._www_authenticate_uri:
            return self._www_authenticate_uri
        with _PERMIT.get().released():  # without the setting, it requests Keystone's version document
            return super().www_authenticate_uri


_PERMIT: ContextVar[Permit] = ContextVar("permit of the request that is authenticated", default=UNLIMITED)


class _IdentityServer:
    """Keystone, as keystonemiddleware calls it: equal tokens share a validation, and its result is cached."""

    def __init__(self, server: Any, local_cache: TokenCache, validations: Validations) -> None:
        self._server = server
        self._local_cache = local_cache
        self._validations = validations

    def verify_token(self, token: str, allow_expired: bool = False) -> TokenData:
        def verify() -> TokenData:
            token_data = self._local_cache.get(token)  # stored since this request read the cache
            if token_data is None:
                token_data = self._server.verify_token(token, allow_expired=allow_expired)
                self._local_cache.put(token, token_data)
            return token_data

        return self._validations.run((token_hash(token), allow_expired), verify)

    @property
    def www_authenticate_uri(self) -> Any:
        return self._validations.run("www_authenticate_uri", lambda: self._server.www_authenticate_uri)

    def invalidate(self) -> Any:
        return self._server.invalidate()


class _NullCache:
    """A cache that stores nothing, so that keystonemiddleware creates none of its own."""

    def get(self, _key: str) -> None:
        return None

    def set(self, _key: str, _value: object, **_: object) -> None:
        return None


_NULL_CACHE = _NullCache()


class _Headers:
    """The headers of a request by name. keystonemiddleware reads about 70 per request; WebOb's take five times as long."""

    __slots__ = ("_environ",)

    def __init__(self, environ: WSGIEnvironment) -> None:
        self._environ = environ

    def __getitem__(self, name: str) -> Any:
        return self._environ[_environ_key(name)]

    def __setitem__(self, name: str, value: Any) -> None:
        self._environ[_environ_key(name)] = value

    def get(self, name: str, default: Any = None) -> Any:
        return self._environ.get(_environ_key(name), default)

    def pop(self, name: str, default: Any = None) -> Any:
        return self._environ.pop(_environ_key(name), default)


class _Request(auth_token.AuthProtocol.__call__.RequestClass):  # type: ignore[misc]
    """The request that keystonemiddleware processes, with faster headers and without the service catalog."""

    @property
    def headers(self) -> _Headers:
        return _Headers(self.environ)

    def set_service_catalog_headers(self, _: object) -> None:
        """Do nothing: writing the catalog into a header takes longer than all other steps, and nothing reads it."""


# The names come from keystonemiddleware, none from clients.
@lru_cache(maxsize=1024)
def _environ_key(name: str) -> str:
    return f"HTTP_{name.upper().replace('-', '_')}"


def check(conf: cfg.ConfigOpts) -> bool:
    """Return True if tokens can be validated with these settings. Raise IdentityError if a setting is wrong."""
    try:
        loading.register_auth_conf_options(conf, SECTION)
        plugin = loading.load_auth_from_conf_options(conf, SECTION)
    except (exceptions.NoMatchingPlugin, exceptions.MissingRequiredOptions, ValueError) as problem:
        raise IdentityError(f"[{SECTION}] cannot be used: {problem}") from problem
    options = conf[SECTION]
    if options.memcache_security_strategy.upper() != "NONE" and not options.memcache_secret_key:
        raise IdentityError(
            f"[{SECTION}] memcache_security_strategy needs memcache_secret_key, which is not set"
        )
    # Modules that keystonemiddleware imports when a setting needs them, and that its package does not require.
    encrypts = options.memcache_security_strategy.upper() == "ENCRYPT"
    for is_needed, module, setting in (
        (True, "memcache", "memcached_servers"),
        (encrypts, "cryptography", "memcache_security_strategy = ENCRYPT"),
        (options.memcache_sasl_enabled, "bmemcached", "memcache_sasl_enabled"),
        (options.memcache_tls_enabled, "bmemcached", "memcache_tls_enabled"),
    ):
        if options.memcached_servers and is_needed and find_spec(module) is None:
            raise IdentityError(
                f"[{SECTION}] {setting} needs the Python module {module}, which is not installed:"
                " `pip install 'plimsoll-placement[memcached]'` installs it."
            )
    return plugin is not None
