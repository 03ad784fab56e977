# SPDX-License-Identifier: Apache-2.0

"""Logged values cannot start a new line, with any formatter and handler."""

import json
import logging
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from plimsoll.config.log_records import EscapedLogRecord, escaped

FORGED = "a\n2026-01-01 00:00:00.000 1 INFO forged\r\x1b[2J\u2028\x85b"


def record(message: object, *args: object) -> logging.LogRecord:
    return EscapedLogRecord("somewhere", logging.INFO, __file__, 1, message, args, None)


@pytest.mark.parametrize(
    "message",
    [
        record("%s", FORGED),
        record("%s", ValueError(FORGED)),
        record("%r", ValueError(FORGED)),
        record("%(path)s", {"path": FORGED}),
        record("%s", [FORGED]),
        record(ValueError(FORGED)),
    ],
)
def test_control_characters_in_values_are_escaped(message: logging.LogRecord) -> None:
    assert message.getMessage().isprintable()
    assert "forged" in message.getMessage()


def test_numbers_are_formatted_as_numbers_and_our_own_text_is_unchanged() -> None:
    assert record("%d of %5.2f\n%s %s", 1, 2.5, True, None).getMessage() == "1 of  2.50\nTrue None"
    assert record("100 %").getMessage() == "100 %"


def test_printable_text_is_not_changed() -> None:
    assert escaped("caf\xe9 \u2603 %20") == "caf\xe9 \u2603 %20"


LOGGING = """
    import logging, sys
    from oslo_config import cfg
    from oslo_log import log
    from plimsoll.config import loader, logging_setup
    conf = loader.load([sys.argv[1]])
    logging_setup.set_up(conf)
    forged = {forged!r}
    LOG = logging.getLogger("plimsoll.test")
    LOG.info("info %s", forged)
    LOG.warning("warning %s", forged)
    try:
        try:
            raise KeyError(forged)
        except KeyError as error:
            raise RuntimeError(forged) from error
    except RuntimeError:
        LOG.exception("exception %s", forged)
    log.getLogger("library").error("library %(it)s", {{"it": forged}})
"""
APPENDED = """
[loggers]
keys = root
[handlers]
keys = file
[formatters]
keys = plain
[logger_root]
level = DEBUG
handlers = file
[handler_file]
class = FileHandler
args = ({log!r},)
formatter = plain
[formatter_plain]
format = %(asctime)s %(levelname)s %(message)s
"""


@pytest.mark.parametrize("kind", ["oslo", "json", "appended"])
def test_no_line_of_the_log_is_forged(kind: str, tmp_path: Path) -> None:
    """With oslo.log's text and JSON formatters, and with a formatter of the operator."""
    log, settings = tmp_path / "log", tmp_path / "placement.conf"
    appended = tmp_path / "logging.conf"
    appended.write_text(APPENDED.format(log=str(log)))
    places = {
        "oslo": f"log_file = {log}",
        "json": f"log_file = {log}\nuse_json = true",
        "appended": f"log_config_append = {appended}",
    }
    settings.write_text(
        f"[DEFAULT]\n{places[kind]}\n[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = sqlite://\n"
    )
    program = textwrap.dedent(LOGGING.format(forged=FORGED))
    subprocess.run(
        [sys.executable, "-c", program, str(settings)], check=True, capture_output=True, timeout=60
    )
    text = log.read_text()
    for each in ("info", "warning", "exception", "library"):
        assert f"{each} a" in text
    assert "Traceback" in text
    lines = text.split("\n")
    assert not [line for line in lines if line.startswith("2026-01-01 00:00:00.000 1 INFO forged")]
    for line in lines:
        assert line.isprintable()
    if kind == "json":
        assert all(isinstance(json.loads(line), dict) for line in lines if line)
    else:
        assert sum("forged" in line for line in lines) == {"oslo": 6, "appended": 6}[kind]
