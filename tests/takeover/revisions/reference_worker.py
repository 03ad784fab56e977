# SPDX-License-Identifier: Apache-2.0

"""Run the reference's commands and requests on many databases, in one process of .venv-reference.

Reads one JSON document per line, and writes the result as another. The modules of the reference are imported once; each
line is processed by a forked child, because they connect to one database only.
"""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from typing import Any

from oslo_config import cfg
from placement import conf, context, db_api, deploy
from placement.cmd import manage
from placement.db.sqlalchemy import migration


def configuration(url: str) -> cfg.ConfigOpts:
    os.environ["OS_PLACEMENT_DATABASE__CONNECTION"] = url
    os.environ["OS_API__AUTH_STRATEGY"] = "noauth2"
    config = cfg.ConfigOpts()
    conf.register_opts(config)
    config([], project="placement", default_config_files=[])
    db_api.configure(config)
    return config


def migrate_data(config: cfg.ConfigOpts) -> None:
    for migrate in manage.online_migrations:
        migrate(context.RequestContext(config=config), 1000)


def send(app: Any, request: dict[str, Any]) -> dict[str, Any]:
    path, _, query = request["target"].partition("?")
    body = (request["body"] or "").encode()
    environ = {
        "REQUEST_METHOD": request["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "CONTENT_LENGTH": str(len(body)) if body else "",
        "CONTENT_TYPE": "application/json" if body else "",
        "HTTP_X_AUTH_TOKEN": "admin",
        "HTTP_OPENSTACK_API_VERSION": f"placement {request['version']}",
    }
    started: list[Any] = []
    content = b"".join(app(environ, lambda *arguments: started.extend(arguments)))
    return {"status": int(started[0].split()[0]), "body": content.decode()}


def process(line: str) -> Any:
    task = json.loads(line)
    config = configuration(task["url"])
    match task["task"]:
        case "upgrade":
            migration.upgrade(task["revision"])
        case "stamp":
            migration.stamp(task["revision"])
        case "migrate data":
            migrate_data(config)
        case "send":
            app = deploy.loadapp(config)
            return [send(app, request) for request in task["requests"]]
    return None


def child(line: str, results: int) -> None:
    try:
        result: dict[str, Any] = {"result": process(line)}
    except Exception:
        result = {"error": traceback.format_exc()}
    with os.fdopen(results, "w") as pipe:
        pipe.write(json.dumps(result))


def main() -> None:
    for line in sys.stdin:
        results, to_parent = os.pipe()
        number = os.fork()
        if not number:
            os.close(results)
            child(line, to_parent)
            os._exit(0)
        os.close(to_parent)
        with os.fdopen(results) as pipe:
            print(pipe.read(), flush=True)
        os.waitpid(number, 0)


if __name__ == "__main__":
    main()
