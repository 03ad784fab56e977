# SPDX-License-Identifier: Apache-2.0

"""Options come before variables, a URL before the catalog; what is missing is named. TLS is verified."""

from __future__ import annotations

import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.client import NoService, Target, UnreachableService, connect
from tests.unit.client.scripted_server import Scripted, ScriptedServer

KEYSTONE = {"OS_AUTH_URL": "http://127.0.0.1:9/v3", "OS_USERNAME": "ada", "OS_PASSWORD": "s"}
ANSWER = Scripted(200, {"verdict": "found"})


def token_sent(target: Target, environ: dict[str, str], server: ScriptedServer) -> str | None:
    connect(target, environ).explain_document("resources=VCPU:1")
    return server.requests[-1][1].get("x-auth-token")


def test_a_url_alone_is_a_development_service() -> None:
    with ScriptedServer(ANSWER) as server:
        assert token_sent(Target(url=server.url), {}, server) == "admin"
        assert token_sent(Target(url=server.url, token="mine"), {}, server) == "mine"
        assert token_sent(Target(url=server.url), {"OS_TOKEN": "theirs"}, server) == "theirs"
        assert token_sent(Target(url=server.url, token="mine"), KEYSTONE, server) == "mine"


@pytest.mark.parametrize(
    ("target", "environ", "text"),
    [
        (Target(), {}, "--url"),
        (Target(token="t"), {}, "--url"),
        (Target(), {"OS_AUTH_URL": "http://k/v3"}, "OS_PASSWORD"),
        (Target(), {"OS_AUTH_URL": "http://k/v3", "OS_PASSWORD": "s"}, "OS_USERNAME"),
        (Target(), {"OS_AUTH_URL": "http://k/v3", "OS_AUTH_TYPE": "magic"}, "OS_AUTH_TYPE=magic"),
    ],
)
def test_what_is_missing_is_named(target: Target, environ: dict[str, str], text: str) -> None:
    with pytest.raises(NoService, match=text) as raised:
        connect(target, environ)
    assert "\n" not in str(raised.value)


def test_variables_of_keystone_come_before_the_token_of_development() -> None:
    with ScriptedServer(ANSWER) as server, pytest.raises(UnreachableService, match=r"127.0.0.1:9/v3"):
        connect(Target(url=server.url), KEYSTONE).explain_document("resources=VCPU:1")
    assert server.requests == []


def test_a_cloud_without_the_library_has_a_message_with_the_remedy() -> None:
    program = (
        "import sys; sys.modules['openstack'] = None\n"
        "from plimsoll.client import *\n"
        "try: connect(Target(cloud='prod'), {})\n"
        "except NoService as error: print(error)\n"
    )
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert "pip install 'plimsoll-placement[client]'" in printed


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate that signs itself, for 127.0.0.1, with its key in the same file."""
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=127.0.0.1",
            ),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(file), "-out", f"{file}.cert"),
        ],
        check=True,
        capture_output=True,
    )
    file.write_text(file.read_text() + Path(f"{file}.cert").read_text())
    return file


def tls_server(certificate: Path) -> ScriptedServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return ScriptedServer(ANSWER, context=context)


def test_a_certificate_of_an_unknown_authority_is_refused(certificate: Path) -> None:
    with tls_server(certificate) as server, pytest.raises(UnreachableService, match=r"(?i)certificate"):
        token_sent(Target(url=server.url), {}, server)


def test_the_authority_is_given_by_option_or_variable(certificate: Path) -> None:
    authority = f"{certificate}.cert"
    with tls_server(certificate) as server:
        assert token_sent(Target(url=server.url, cacert=authority), {}, server)
        assert token_sent(Target(url=server.url), {"OS_CACERT": authority}, server)


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_verification_can_be_turned_off(certificate: Path) -> None:
    with tls_server(certificate) as server:
        assert token_sent(Target(url=server.url, insecure=True), {}, server)
        assert token_sent(Target(url=server.url), {"OS_INSECURE": "true"}, server)
