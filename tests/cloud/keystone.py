# SPDX-License-Identifier: Apache-2.0

"""A real Keystone: its own processes, a port of 127.0.0.1, SQLite and Fernet keys in a directory of its own.

It is bootstrapped as by an operator, has a service user for `[keystone_authtoken]`, and creates projects, users and
tokens on demand. It can be stopped, paused, and started again with its data.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.support.servers.places import free_port, make_directory
from tests.support.servers.processes import Guard, kill_process_tree, signal_all, stop_process_tree
from tests.support.servers.server import ServerFailed

BIN = Path(__file__).resolve().parents[2] / ".venv-cloud" / "bin"
PASSWORD = "secret"
REGION = "RegionOne"
SERVICE_USER, SERVICE_PROJECT = "placement", "service"
START_SECONDS = 60

SETTINGS = """\
[DEFAULT]
log_file = {directory}/keystone.log
[database]
connection = sqlite:///{directory}/keystone.sqlite
[token]
provider = fernet
expiration = 3600
[fernet_tokens]
key_repository = {directory}/fernet
[fernet_receipts]
key_repository = {directory}/receipts
[credential]
key_repository = {directory}/credential
[identity]
password_hash_rounds = 4
"""

SERVER_SETTINGS = """\
wsgi_app = "keystone.wsgi.api:application"
workers = 1
worker_class = "gthread"
threads = 4
keepalive = 75
control_socket_disable = True
accesslog = "access.log"
"""


def missing() -> str | None:
    """Return the reason if no Keystone can be started on this machine."""
    return None if (BIN / "keystone-manage").exists() else ".venv-cloud is missing, `make cloud` makes it"


class Refused(Exception):
    """Keystone responded with an unexpected status."""


@dataclass(frozen=True, slots=True)
class User:
    """A user of Keystone; `project` is the default project of its tokens."""

    name: str
    id: str
    project: str | None = None


ADMIN = User("admin", "", "admin")


class Keystone:
    def __init__(self) -> None:
        self.directory = make_directory(in_memory=True)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        self._paused: list[int] = []
        self._ids: dict[tuple[str, str], str] = {}
        self._administrator = ""

    # The server.

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v3"

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self) -> Self:
        """Start with the existing data, and wait until it serves."""
        if not (self.directory / "keystone.conf").exists():
            self._bootstrap()
        self._process = self._serve(self.port)
        self._guard = Guard(self._process.pid, self.directory)
        _wait(self._process, self.port, self.log)
        return self

    def stop(self) -> None:
        if self._process is None:
            return
        self.resume()
        kill_process_tree(self._process.pid)
        self._process.wait(START_SECONDS)
        self._process = None
        assert self._guard is not None
        self._guard.dismiss()

    def pause(self) -> None:
        """Make it hang: connections are accepted, but get no response until `resume`."""
        assert self._process is not None
        self._paused = stop_process_tree(self._process.pid)

    def resume(self) -> None:
        signal_all(self._paused[::-1], signal.SIGCONT)
        self._paused = []

    def __enter__(self) -> Self:
        try:
            self.start()
            self.project(SERVICE_PROJECT)
            self.user(SERVICE_USER, SERVICE_PROJECT, "service")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def validations(self) -> int:
        """Return the number of token validations. A request is logged shortly after its response."""
        log, counted = self.directory / "access.log", -1
        while True:
            before, counted = counted, log.read_text().count('"GET /v3/auth/tokens')
            if counted == before:
                return counted
            time.sleep(0.5)

    def log(self) -> str:
        logs = (self.directory / "keystone.log", self.directory / "server.log")
        return "".join(log.read_text(errors="replace") for log in logs if log.exists())

    # Its data.

    def project(self, name: str) -> str:
        """Return the id of the project of this name, which is created if needed."""
        return self._get_or_create("project", name, {"name": name, "domain_id": "default"})

    def role(self, name: str) -> str:
        return self._get_or_create("role", name, {"name": name})

    def user(self, name: str, project: str | None = None, *roles: str) -> User:
        """Return a user with the password PASSWORD and these roles in the project, created if needed."""
        user = User(
            name,
            self._get_or_create("user", name, {"name": name, "domain_id": "default", "password": PASSWORD}),
            project,
        )
        for role in roles:
            assert project is not None, "a role is a role in a project"
            self.grant(user, role, project)
        return user

    def grant(self, user: User, role: str, project: str | None = None) -> None:
        """Grant a role in the project or, without one, in the system."""
        where = f"/projects/{self.project(project)}" if project else "/system"
        self.call("PUT", f"{where}/users/{user.id}/roles/{self.role(role)}")

    def endpoint(self, service_type: str, url: str, region: str = REGION) -> None:
        """Set the only URL of the service in the region in the catalog."""
        service = self._get_or_create("service", service_type, {"name": service_type, "type": service_type})
        if region not in {known["id"] for known in self.call("GET", "/regions")["regions"]}:
            self.call("POST", "/regions", {"region": {"id": region}})
        for known in self.call("GET", f"/endpoints?service_id={service}&region_id={region}")["endpoints"]:
            self.call("DELETE", f"/endpoints/{known['id']}")
        for interface in ("public", "internal", "admin"):
            endpoint = {"service_id": service, "interface": interface, "url": url, "region_id": region}
            self.call("POST", "/endpoints", {"endpoint": endpoint})

    # Tokens.

    def token(self, user: User = ADMIN, project: str | None = None, *, system: bool = False) -> str:
        """Return a token for the user's project, for another one, or for the system."""
        return self._token(self.port, user, project, system=system)

    def revoke(self, token: str) -> None:
        self.call("DELETE", "/auth/tokens", headers={"x-subject-token": token})

    @contextmanager
    def issuing_for(self, seconds: int) -> Iterator[int]:
        """Run another server of the same Keystone, whose tokens are valid this long. Yield its port, for `token_from`."""
        port = free_port()
        process = self._serve(port, OS_TOKEN__EXPIRATION=str(seconds))
        try:
            _wait(process, port, self.log)
            yield port
        finally:
            kill_process_tree(process.pid)
            process.wait(START_SECONDS)

    def token_from(self, port: int, user: User = ADMIN) -> str:
        return self._token(port, user, None, system=False)

    def restricted_token(self, user: User, *rules: tuple[str, str]) -> str:
        """Return a token for these methods and paths of placement only: of an application credential with access rules."""
        token = self.token(user)
        headers = {"x-auth-token": token}
        who = _ask(self.port, "GET", "/auth/tokens", headers=headers | {"x-subject-token": token})[0]
        allowed = [{"service": "placement", "method": method, "path": path} for method, path in rules]
        body = {"name": f"application-{time.time_ns()}", "secret": PASSWORD, "access_rules": allowed}
        path = f"/users/{who['token']['user']['id']}/application_credentials"
        made = _ask(self.port, "POST", path, {"application_credential": body}, headers)[0]
        proof = {"id": made["application_credential"]["id"], "secret": PASSWORD}
        identity = {"methods": ["application_credential"], "application_credential": proof}
        return _ask(self.port, "POST", "/auth/tokens", {"auth": {"identity": identity}})[1]["x-subject-token"]

    # Settings of its clients.

    def authtoken(self, **more: object) -> str:
        """Return the section `[keystone_authtoken]` of a placement.conf."""
        options = {
            "www_authenticate_uri": self.url,
            "auth_url": self.url,
            "auth_type": "password",
            "username": SERVICE_USER,
            "password": PASSWORD,
            "project_name": SERVICE_PROJECT,
            "user_domain_name": "Default",
            "project_domain_name": "Default",
            "service_token_roles": "service",
            "service_token_roles_required": True,
            **more,
        }
        return "\n".join(
            ["[keystone_authtoken]", *(f"{name} = {value}" for name, value in options.items()), ""]
        )

    def environment(self, user: User = ADMIN) -> dict[str, str]:
        """Return the variables of an openrc file, for the `openstack` command and openstacksdk."""
        return {
            "OS_AUTH_URL": self.url,
            "OS_USERNAME": user.name,
            "OS_PASSWORD": PASSWORD,
            "OS_PROJECT_NAME": user.project or "",
            "OS_USER_DOMAIN_NAME": "Default",
            "OS_PROJECT_DOMAIN_NAME": "Default",
            "OS_REGION_NAME": REGION,
            "OS_IDENTITY_API_VERSION": "3",
        }

    def call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Send a request to Keystone as its administrator."""
        self._administrator = self._administrator or self.token(system=True)
        token = {"x-auth-token": self._administrator}
        return _ask(self.port, method, path, body, token | (headers or {}))[0]

    # Internals.

    def _get_or_create(self, kind: str, name: str, body: dict[str, Any]) -> str:
        if (kind, name) not in self._ids:
            asked = "type" if kind == "service" else "name"
            known = self.call("GET", f"/{kind}s?{asked}={name}")[f"{kind}s"]
            (found,) = known or [self.call("POST", f"/{kind}s", {kind: body})[kind]]
            self._ids[kind, name] = found["id"]
        return self._ids[kind, name]

    def _token(self, port: int, user: User, project: str | None, *, system: bool) -> str:
        domain = {"domain": {"id": "default"}}
        who = {"name": user.name, "password": PASSWORD} | domain
        where = (
            {"system": {"all": True}} if system else {"project": {"name": project or user.project} | domain}
        )
        auth = {"identity": {"methods": ["password"], "password": {"user": who}}, "scope": where}
        _, headers = _ask(port, "POST", "/auth/tokens", {"auth": auth})
        return headers["x-subject-token"]

    def _bootstrap(self) -> None:
        (self.directory / "keystone.conf").write_text(SETTINGS.format(directory=self.directory))
        keys = self._manage(
            "fernet_setup", "--keystone-user", str(os.geteuid()), "--keystone-group", str(os.getegid())
        )
        tables = self._manage("db_sync")
        _finished(keys)
        _finished(tables)
        address = ["--bootstrap-password", PASSWORD, "--bootstrap-region-id", REGION]
        for interface in ("public", "internal", "admin"):
            address += [f"--bootstrap-{interface}-url", self.url]
        _finished(self._manage("bootstrap", *address))

    def _manage(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [BIN / "keystone-manage", "--config-dir", self.directory, *words],
            env=self._environ(),
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _serve(self, port: int, **settings: str) -> subprocess.Popen[bytes]:
        # Keystone parses the arguments of the process as its own, so Gunicorn gets none.
        (self.directory / "gunicorn.conf.py").write_text(SERVER_SETTINGS)
        settings["GUNICORN_CMD_ARGS"] = f"--bind 127.0.0.1:{port}"
        with (self.directory / "server.log").open("ab") as log:
            return subprocess.Popen(
                [BIN / "gunicorn"],
                env=self._environ() | {"OS_KEYSTONE_CONFIG_DIR": str(self.directory)} | settings,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _environ(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))}


def _ask(
    port: int, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Send a request; return the body, and the headers by their names in lower case."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        content = None if body is None else json.dumps(body)
        connection.request(
            method, f"/v3{path}", content, {"content-type": "application/json", **(headers or {})}
        )
        response = connection.getresponse()
        read = response.read()
    finally:
        connection.close()
    if response.status >= 300:
        raise Refused(f"{method} {path}: {response.status} {read.decode(errors='replace')}")
    return json.loads(read) if read else {}, {name.lower(): value for name, value in response.getheaders()}


def _wait(process: subprocess.Popen[bytes], port: int, log: Any) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            _ask(port, "GET", "")
        except (OSError, http.client.HTTPException):
            pass
        else:
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise ServerFailed(f"Keystone did not start:\n{log()[-4000:]}")
        time.sleep(0.05)


def _finished(process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate(timeout=START_SECONDS)
    if process.returncode:
        raise ServerFailed(f"{process.args!r} failed:\n{output[-4000:]}")
