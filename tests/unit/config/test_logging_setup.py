# SPDX-License-Identifier: Apache-2.0

"""Log lines are identical to oslo.log's, in order, and written within the flush interval."""

import json
import logging
import os
import shutil
import time
from collections.abc import Iterator
from logging.handlers import WatchedFileHandler
from pathlib import Path

import pytest
from oslo_config import cfg
from oslo_context import context
from oslo_log import log
from oslo_log.formatters import ContextFormatter, JSONFormatter

from plimsoll.bounded_cache import deep_size
from plimsoll.config import loader
from plimsoll.config.logging_setup import (
    FLUSH_INTERVAL,
    CachingFormatter,
    DeferredHandler,
    JSONLineFormatter,
    LineFormatter,
    _escaping_formatter,
)
from plimsoll.http.middleware.request_log import _SHARED_ATTRIBUTES, LoggedRequest, _RequestRecord

FACTS = ("REMOTE_ADDR", "REQUEST_METHOD", "REQUEST_URI", "status", "bytes", "microversion")
FORMATS = (
    None,
    "%(asctime)s %(name)s %(levelname)s [%(request_id)s %(user)s %(project)s] %(color)s%(message)s",
    "%(isotime)s %(message)s %(user_identity)s",
    "%(process)d %(msecs)03d %(resource)s|%(instance)s|%(user_name)s %(message)s",
)


@pytest.fixture(params=FORMATS)
def conf(request: pytest.FixtureRequest) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    conf([])
    if request.param:
        conf.set_override("logging_context_format_string", request.param)
    return conf


@pytest.fixture
def _in_a_request() -> Iterator[None]:
    LoggedRequest({"HTTP_X_USER_ID": "ann", "HTTP_X_PROJECT_ID": "red"}, "req-1", None)
    yield
    context._request_store.context = None


def line(text: str = "all hands", level: int = logging.INFO) -> logging.LogRecord:
    return logging.LogRecord("plimsoll.somewhere", level, __file__, 1, text + " %s", ("on deck",), None)


@pytest.mark.usefixtures("_in_a_request")
@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO, logging.ERROR])
@pytest.mark.parametrize("formatter", [CachingFormatter, LineFormatter])
def test_lines_in_a_request_are_as_oslo_log_writes_them(
    conf: cfg.ConfigOpts, level: int, formatter: type[LineFormatter]
) -> None:
    slow = ContextFormatter(datefmt="%Y-%m-%d %H:%M:%S", project="placement", version="1", config=conf)
    record = line(level=level)
    expected = slow.format(logging.makeLogRecord(dict(record.__dict__)))
    assert formatter(slow, conf).format(record) == expected


@pytest.mark.usefixtures("_in_a_request")
def test_the_line_of_a_request_has_all_fields_of_a_format(conf: cfg.ConfigOpts) -> None:
    slow = ContextFormatter(project="placement", version="1", config=conf)
    quick = CachingFormatter(slow, conf)
    made = _RequestRecord(_SHARED_ATTRIBUTES, dict.fromkeys(FACTS, "x"))
    assert made.__dict__.keys() == line().__dict__.keys()
    assert quick.format(made) == slow.format(logging.makeLogRecord(dict(made.__dict__)))


def test_long_names_of_callers_are_not_cached(conf: cfg.ConfigOpts) -> None:
    quick = CachingFormatter(ContextFormatter(project="placement", version="1", config=conf), conf)
    try:
        for number in range(200):
            LoggedRequest({"HTTP_X_USER_ID": f"{number}" + "u" * 50_000}, "req-1", None)
            quick.format(line())
        assert deep_size(tuple(quick._callers._values.items())) < 100_000
    finally:
        context._request_store.context = None


def test_an_identity_that_names_the_request_is_that_of_this_request(conf: cfg.ConfigOpts) -> None:
    conf.set_override("logging_user_identity_format", "%(user)s by %(request_id)s")
    slow = ContextFormatter(project="placement", version="1", config=conf)
    quick = CachingFormatter(slow, conf)
    for request_id in ("req-1", "req-2"):
        LoggedRequest({"HTTP_X_USER_ID": "ann"}, request_id, None)
        record = line()
        assert quick.format(record) == slow.format(logging.makeLogRecord(dict(record.__dict__)))
    context._request_store.context = None


def test_lines_outside_of_a_request_are_as_oslo_log_writes_them(conf: cfg.ConfigOpts) -> None:
    slow = ContextFormatter(project="placement", version="1", config=conf)
    record = line()
    assert CachingFormatter(slow, conf).format(record) == slow.format(
        logging.makeLogRecord(dict(record.__dict__))
    )


@pytest.fixture
def handler(tmp_path: Path) -> Iterator[DeferredHandler]:
    target = logging.FileHandler(tmp_path / "log")
    handler = DeferredHandler(target, logging.LogRecord.getMessage)
    yield handler
    handler.close()


def written(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text().splitlines()


def test_plain_lines_are_written_within_the_flush_interval(handler: DeferredHandler, tmp_path: Path) -> None:
    for number in range(3):
        handler.handle(line(str(number)))
    deadline = time.monotonic() + 500 * FLUSH_INTERVAL
    while len(written(tmp_path)) < 3:
        assert time.monotonic() < deadline
        time.sleep(FLUSH_INTERVAL)
    assert written(tmp_path) == [f"{number} on deck" for number in range(3)]


def test_a_warning_is_written_immediately_and_after_earlier_lines(
    handler: DeferredHandler, tmp_path: Path
) -> None:
    handler.handle(line("first"))
    handler.handle(line("second", logging.WARNING))
    assert written(tmp_path) == ["first on deck", "second on deck"]


def test_lines_go_to_the_standard_error_output_if_the_file_cannot_be_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "logs"
    directory.mkdir()
    handler = DeferredHandler(WatchedFileHandler(directory / "log"), logging.LogRecord.getMessage)
    shutil.rmtree(directory)
    handler.handle(line("first"))
    handler.handle(line("second", logging.WARNING))
    errors = capsys.readouterr().err.splitlines()
    assert errors[1::2] == ["first on deck", "second on deck"]
    assert all(each.startswith("The log cannot be written: [Errno 2]") for each in errors[::2])
    directory.mkdir()
    handler.handle(line("third"))
    handler.close()
    assert (directory / "log").read_text() == "third on deck\n"


def test_close_writes_all_queued_lines(handler: DeferredHandler, tmp_path: Path) -> None:
    handler.handle(line("last"))
    handler.close()
    assert written(tmp_path) == ["last on deck"]


def test_a_forked_child_does_not_write_the_lines_of_its_parent(
    handler: DeferredHandler, tmp_path: Path
) -> None:
    handler.handle(line("parent"))
    child = os.fork()
    if child == 0:
        handler.handle(line("child"))
        time.sleep(20 * FLUSH_INTERVAL)
        os._exit(0)
    os.waitpid(child, 0)
    handler.flush()
    assert sorted(written(tmp_path)) == ["child on deck", "parent on deck"]


@pytest.mark.parametrize(
    ("disabled", "formatter"), [("", CachingFormatter), ("json_cache,request_log", LineFormatter)]
)
def test_the_fast_path_is_switched_off_by_its_setting(
    monkeypatch: pytest.MonkeyPatch, disabled: str, formatter: type[LineFormatter]
) -> None:
    monkeypatch.setenv("OS_PLIMSOLL__DISABLE_FAST_PATHS", disabled)
    conf = loader.load()
    assert type(_escaping_formatter(ContextFormatter(config=conf), conf)) is formatter


@pytest.mark.usefixtures("_in_a_request")
def test_a_line_that_is_written_in_a_request_is_formatted_once(conf: cfg.ConfigOpts, tmp_path: Path) -> None:
    slow = ContextFormatter(project="placement", version="1", config=conf)
    target, quick = logging.FileHandler(tmp_path / "log"), CachingFormatter(slow, conf)
    target.setFormatter(quick)
    handler = DeferredHandler(target, quick.format)
    record = line()
    handler.handle(record)
    handler.close()
    assert written(tmp_path) == [slow.format(record)]


def test_a_queued_line_has_the_fields_of_its_own_request(conf: cfg.ConfigOpts, tmp_path: Path) -> None:
    slow = ContextFormatter(datefmt="%Y-%m-%d %H:%M:%S", project="placement", version="1", config=conf)
    quick = CachingFormatter(slow, conf)
    handler = DeferredHandler(logging.FileHandler(tmp_path / "log"), quick.format)
    expected, hands = [], ["on deck"]
    for request_id in ("req-1", "req-2"):
        LoggedRequest({"HTTP_X_USER_ID": "ann"}, request_id, None)
        for level in (logging.INFO, logging.DEBUG):
            record = logging.LogRecord("plimsoll.x", level, __file__, 1, "all %s", (hands,), None)
            expected.append(slow.format(logging.makeLogRecord(dict(record.__dict__))))
            handler.handle(record)
    context._request_store.context = None
    hands.clear()
    handler.close()
    assert written(tmp_path) == expected


def test_queued_json_lines_are_identical_to_oslo_logs(tmp_path: Path) -> None:
    slow = JSONFormatter()
    target = logging.FileHandler(tmp_path / "log")
    quick = JSONLineFormatter()
    target.setFormatter(quick)
    handler = DeferredHandler(target, quick.format)
    expected, hands = [], ["on deck"]
    for request_id in ("req-1", "req-2"):
        LoggedRequest({"HTTP_X_USER_ID": "ann", "HTTP_X_AUTH_TOKEN": "secret"}, request_id, "req-0")
        for record in (
            _RequestRecord(_SHARED_ATTRIBUTES, dict.fromkeys(FACTS, "x")),
            logging.LogRecord("plimsoll.x", logging.INFO, __file__, 1, "all %s", (hands,), None),
            logging.LogRecord("plimsoll.x", logging.ERROR, __file__, 1, "over\nboard", (), None),
        ):
            expected.append(json.loads(slow.format(logging.makeLogRecord(dict(record.__dict__)))))
            handler.handle(record)
    context._request_store.context = None
    hands.clear()
    handler.close()
    assert [json.loads(line) for line in written(tmp_path)] == expected
    assert expected[0]["context"]["auth_token"] == "***"
