# SPDX-License-Identifier: Apache-2.0

"""Find the service and the credentials: a URL, clouds.yaml, or the OS_* variables of the `openstack` command.

Without a URL the endpoint is that of the type `placement` in Keystone's catalog.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keystoneauth1 import exceptions, loading
from keystoneauth1.adapter import Adapter
from keystoneauth1.plugin import BaseAuthPlugin
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

import plimsoll
from plimsoll.client.errors import ClientFailure, one_line
from plimsoll.client.v1_client import V1Client

SERVICE_TYPE = "placement"
DEVELOPMENT_TOKEN = "admin"  # noqa: S105 - the user's name, which `plimsoll serve --dev` does not verify
CONNECT_RETRIES = 2
STATUS_RETRIES = 2
RETRIED = [502, 503, 504]
"""Statuses of a proxy, or of a service that has too much to do: a later attempt may succeed."""
FIRST_DELAY_SECONDS = 0.5
"""It doubles with each attempt."""


class NoService(ClientFailure):
    """Neither options nor variables name a service, or they cannot be used."""


@dataclass(frozen=True, slots=True)
class Target:
    """The options that choose a service. An option that is None is read from the environment."""

    url: str | None = None
    token: str | None = None
    cloud: str | None = None
    region: str | None = None
    interface: str | None = None
    cacert: str | None = None
    insecure: bool | None = None
    timeout_seconds: float = 60.0

    def is_chosen(self, environ: Mapping[str, str] = os.environ) -> bool:
        """Whether the options or the environment name a service."""
        return bool(self.url or self.cloud or environ.get("OS_CLOUD") or environ.get("OS_AUTH_URL"))


def connect(target: Target, environ: Mapping[str, str] = os.environ) -> V1Client:
    """Return a client of the service. Nothing is sent before its first request."""
    token = target.token or (environ.get("OS_TOKEN") if target.url else None)
    cloud = target.cloud or environ.get("OS_CLOUD")
    if token:
        if not target.url:
            raise NoService("A token needs the URL of the service: give --url too.")
        return _client(target, Token(target.url, token), environ, target.url)
    if cloud:
        return _client_of_cloud(target, cloud)
    if environ.get("OS_AUTH_URL"):
        return _client(target, _plugin(environ), environ, target.url)
    if target.url:
        return _client(target, Token(target.url, DEVELOPMENT_TOKEN), environ, target.url)
    raise NoService(
        "No service is chosen. Give --url URL or --os-cloud NAME, or set OS_CLOUD or OS_AUTH_URL and its variables."
    )


def _plugin(environ: Mapping[str, str]) -> BaseAuthPlugin:
    """Return the authentication of the OS_* variables. OS_AUTH_TYPE is `password` by default."""
    kind = environ.get("OS_AUTH_TYPE") or "password"

    def value(option: loading.Opt) -> str | None:
        names = [option.dest, *(each.dest for each in option.deprecated)]
        return next((found for name in names if (found := environ.get(f"OS_{name.upper()}"))), None)

    if kind in ("password", "v3password"):
        if not environ.get("OS_PASSWORD"):
            raise NoService("OS_AUTH_URL is set, but OS_PASSWORD is not.")
        if not (environ.get("OS_USERNAME") or environ.get("OS_USER_ID")):
            raise NoService("OS_AUTH_URL is set, but neither OS_USERNAME nor OS_USER_ID is.")
    try:
        loader: loading.BaseLoader[Any] = loading.get_plugin_loader(kind)
        plugin: BaseAuthPlugin = loader.load_from_options_getter(value)
    except exceptions.NoMatchingPlugin as error:
        raise NoService(f"OS_AUTH_TYPE={kind}: no such plugin is installed.") from error
    except exceptions.ClientException as error:
        raise NoService(f"The OS_* variables cannot be used: {one_line(str(error))}") from error
    return plugin


def _client(target: Target, plugin: BaseAuthPlugin, environ: Mapping[str, str], url: str | None) -> V1Client:
    certificate = environ.get("OS_CERT")
    key = environ.get("OS_KEY")
    session = Session(
        auth=plugin,
        verify=_verification(target, environ),
        cert=(certificate, key) if certificate and key else certificate,
        timeout=target.timeout_seconds,
    )
    interface = target.interface or environ.get("OS_INTERFACE") or environ.get("OS_ENDPOINT_TYPE") or "public"
    region = target.region or environ.get("OS_REGION_NAME")
    return _client_of_session(session, interface.removesuffix("URL"), region, url)


def _verification(target: Target, environ: Mapping[str, str]) -> bool | str:
    """Return requests' `verify`: False for no verification, or the file of authorities, or True for the system's."""
    insecure = target.insecure
    if insecure is None:
        insecure = environ.get("OS_INSECURE", "").lower() in ("1", "true", "yes", "on")
    return False if insecure else target.cacert or environ.get("OS_CACERT") or True


def _client_of_cloud(target: Target, name: str) -> V1Client:
    """Return a client for a cloud of clouds.yaml. The library that reads it also reads the OS_* variables."""
    try:
        import openstack.config
        from openstack.exceptions import ConfigException
    except ImportError as error:
        raise NoService(
            "clouds.yaml needs openstacksdk: pip install 'plimsoll-placement[client]'. Or set OS_AUTH_URL and its"
            " variables instead of a cloud."
        ) from error
    options: dict[str, Any] = {
        "region_name": target.region,
        "interface": target.interface,
        "cacert": target.cacert,
        "verify": False if target.insecure else None,
        "api_timeout": target.timeout_seconds,
    }
    given = {option: value for option, value in options.items() if value is not None}
    try:
        region = openstack.config.OpenStackConfig().get_one(cloud=name, **given)
        session: Session = region.get_session()
    except (ConfigException, exceptions.ClientException) as error:
        raise NoService(f"The cloud {name} cannot be used: {one_line(str(error))}") from error
    interface = region.get_interface(SERVICE_TYPE) or "public"
    endpoint = target.url or region.get_endpoint(SERVICE_TYPE)
    return _client_of_session(session, interface, region.get_region_name(SERVICE_TYPE), endpoint)


def _client_of_session(session: Session, interface: str, region: str | None, url: str | None) -> V1Client:
    adapter = Adapter(
        session,
        service_type=SERVICE_TYPE,
        interface=interface,
        region_name=region,
        endpoint_override=url.rstrip("/") if url else None,
        client_name="plimsoll",
        client_version=plimsoll.__version__,
        connect_retries=CONNECT_RETRIES,
        connect_retry_delay=FIRST_DELAY_SECONDS,
        status_code_retries=STATUS_RETRIES,
        status_code_retry_delay=FIRST_DELAY_SECONDS,
        retriable_status_codes=RETRIED,
        raise_exc=False,
    )
    return V1Client(adapter)
