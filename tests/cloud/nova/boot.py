# SPDX-License-Identifier: Apache-2.0

"""Boot servers in a real nova against the Placement service at a URL: `.venv-nova/bin/python boot.py URL`.

API, scheduler, conductor and two computes with the fake driver run in this process, as in nova's functional tests: SQLite,
RPC in memory, stand-ins for glance, neutron and cinder. The Placement client is nova's own, with [placement] set to the
URL. It prints one line of JSON per boot: the server, the request id of POST /servers, status and fault.
"""

from __future__ import annotations

import json
import os
import sys
import time
import unittest
from pathlib import Path
from typing import Any

os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "true"
import nova.monkey_patch

nova.monkey_patch.patch()  # before any other part of nova is imported

import fixtures  # noqa: E402
from keystoneauth1 import loading  # noqa: E402
from nova import conf, context  # noqa: E402
from nova.tests.functional import fixtures as functional  # noqa: E402
from nova.tests.functional import integrated_helpers  # noqa: E402

IMAGE = "155d900f-4e14-4e4c-a73d-069cbf4541e6"
URL = sys.argv.pop()
HOSTS = ("host-1", "host-2")
"""The driver reports 2 VCPU, 8192 MEMORY_MB and 1028 DISK_GB for each."""


class PlacementAtUrl(fixtures.Fixture):
    """Sets [placement] to the URL. Nova's own fixture starts OpenStack Placement in this process."""

    api = None

    def _setUp(self) -> None:
        self._set("api_paste_config", str(Path(sys.prefix) / "etc" / "nova" / "api-paste.ini"), "wsgi")
        loading.register_auth_conf_options(conf.CONF, "placement")
        conf.CONF.register_opts(loading.get_auth_plugin_conf_options("admin_token"), "placement")
        self._set("auth_type", "admin_token", "placement")
        self._set("token", "admin", "placement")
        self._set("endpoint", URL, "placement")
        self._set("endpoint_override", URL, "placement")

    def _set(self, name: str, value: str, group: str) -> None:
        conf.CONF.set_override(name, value, group)
        self.addCleanup(conf.CONF.clear_override, name, group)


functional.PlacementFixture = PlacementAtUrl


def context_of(environ: dict[str, Any], **fields: Any) -> context.RequestContext:
    """Return nova's own context, from the headers that keystonemiddleware would set."""
    environ["HTTP_X_USER_ID"] = environ["HTTP_X_AUTH_USER"]
    environ["HTTP_X_PROJECT_ID"] = environ["HTTP_X_AUTH_PROJECT_ID"]
    return context.RequestContext.from_environ(environ, **fields)


class Boot(integrated_helpers.ProviderUsageBaseTestCase):  # type: ignore[misc]
    compute_driver = "fake.SmallFakeDriver"

    def setUp(self) -> None:
        super().setUp()
        # Nova's stub of the token check makes a context with a request id of its own; the service uses the response's.
        self.stub_out("nova.api.auth.NovaKeystoneContext._create_context", context_of)

    def test_boots(self) -> None:
        for host in HOSTS:
            self._start_compute(host)
        self.boot("small", memory_mb=512)
        self.boot("large", memory_mb=16384)
        self.boot("avx512", memory_mb=512, extra_spec={"trait:HW_CPU_X86_AVX512F": "required"})
        for name in ("first", "second", "third"):
            self.boot(name, memory_mb=6144)

    def boot(self, name: str, memory_mb: int, **fields: Any) -> None:
        flavor = self._create_flavor(name=name, vcpu=1, memory_mb=memory_mb, disk=1, ephemeral=0, **fields)
        server = {"name": name, "imageRef": IMAGE, "flavorRef": flavor, "networks": "none"}
        accepted = self.api.api_post("/servers", {"server": server})
        found = self._wait_for_end(accepted.body["server"]["id"])
        outcome = {
            "name": name,
            "server": found["id"],
            "request_id": accepted.headers["x-openstack-request-id"],
            "status": found["status"],
            "fault": found.get("fault", {}).get("message"),
        }
        assert sys.__stdout__ is not None
        sys.__stdout__.write(json.dumps(outcome) + "\n")
        sys.__stdout__.flush()

    def _wait_for_end(self, server: str) -> dict[str, Any]:
        """Return the server when it is active or has a fault, which nova writes after the status."""
        for _ in range(120):
            found: dict[str, Any] = self.api.get_server(server)
            if found["status"] == "ACTIVE" or "fault" in found:
                return found
            time.sleep(0.25)
        raise AssertionError(f"{server} has neither booted nor failed: {found}")


if __name__ == "__main__":
    unittest.main()
