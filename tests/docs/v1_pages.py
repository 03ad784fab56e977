# SPDX-License-Identifier: Apache-2.0

"""Run the examples of the pages of the v1 API on the sample cloud: `python -m tests.docs.v1_pages [--write] [PAGE ...]`.

An example is a line `$ command` in a block of kind `console`, and the lines after it are its answer. The pages are those in
docs/v1; in other pages the kind of a block is `console sample-cloud` or `console empty-cloud`. Each page gets a service of its own,
`plimsoll serve --dev`, with the cloud of tests/support/sample_cloud.py, or empty. A line `> ...` after a command continues it. A line
`...` in an answer stands for any lines; --write keeps it if the lines around it are the same. A block of kind `sh empty-cloud` has
definitions that all later commands of the page use.

The tests run the pages that change nothing on one service, because a start takes longer than the examples of a page.

JSON is shown formatted. Revisions, times, request ids and uuids that differ from run to run are shown as fixed ones. The pages about
revisions show the number of each, which depends on the sample cloud alone.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support import sample_cloud
from tests.support.running import PLIMSOLL, Service

ROOT = Path(__file__).parents[2]
USUAL_ADDRESS = "127.0.0.1:8778"
SAMPLE, EMPTY = "sample-cloud", "empty-cloud"
WIDTH = 100
ASYNCHRONOUS = re.compile(r"/unplaced|\bplimsoll why\b")
"""Answers of these commands appear a moment after the search that they report."""
ASYNCHRONOUS_SECONDS = 5.0
CHANGING = re.compile(
    r"(?<!\S)(-X|-d|-T|--data\S*|--json|--request|--upload-file)(?!\S)|^(post|put|delete)\b|/unplaced|\bplimsoll why\b",
    re.M,
)
"""Commands that change the cloud, or that list the searches of all commands before."""
HEX = "[0-9a-f]"
UUID = re.compile(rf"{HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}}")
FIXED_ETAG = '"5f3a9c1e:63:9d41"'
Replacements = tuple[tuple[re.Pattern[str], str], ...]
_FIXED_TIMES: Replacements = (
    (
        re.compile(r"\b20\d\d-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00|\b)"),
        r"2026-11-18\g<1>12:00:00\g<3>",
    ),
    (re.compile(r"(?im)^(etag: )[^\r\n]*"), rf"\g<1>{FIXED_ETAG}"),
    (re.compile(r"\b\w{3}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT"), "Wed, 18 Nov 2026 12:00:00 GMT"),
)
FIXED: Replacements = ((re.compile(rf"\b{HEX}{{8}}:\d+(:[\w.-]+)*"), "5f3a9c1e:63"), *_FIXED_TIMES)
FIXED_BUT_NUMBERS: Replacements = (
    (re.compile(rf"\b{HEX}{{8}}(?=:\d)"), "5f3a9c1e"),
    (re.compile(rf"(?<=5f3a9c1e:)(\d+:){HEX}{{1,16}}\b"), r"\g<1>1c9e2f5a"),
    *_FIXED_TIMES,
)
NUMBERED = {ROOT / "docs" / "v1" / name for name in ("as-of.md", "changes.md")}
"""The pages that show the numbers of revisions. The others do not change with the sample cloud."""
FIXED_UUID = "5d9e1c2a-7b64-4e0f-9a31-0c2f6b8d4e55"


@dataclass(frozen=True, slots=True)
class Example:
    page: Path
    line: int
    """The line of the command, from 1."""
    command: str
    answer: tuple[str, ...]
    first: int
    last: int
    """The answer's lines are [first:last] of the page."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Return the pages that have examples."""
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in candidates if examples(page)]


def examples(page: Path) -> list[Example]:
    kinds = {f"```console {cloud}" for cloud in (SAMPLE, EMPTY)}
    if page.parent == ROOT / "docs" / "v1":
        kinds.add("```console")
    found: list[Example] = []
    lines = page.read_text().splitlines()
    number = 0
    while number < len(lines):
        if lines[number] in kinds:
            end = lines.index("```", number)
            found += _examples_of_block(page, lines, number + 1, end)
            number = end
        number += 1
    return found


def definitions(page: Path) -> str:
    """Return the shell definitions that the commands of the page use."""
    return "".join(re.findall(rf"^```sh {EMPTY}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))


def on_empty_cloud(page: Path) -> bool:
    return f"```console {EMPTY}\n" in page.read_text()


def changes_nothing(page: Path) -> bool:
    """Whether the page can share a service with others: no command changes the cloud or lists earlier searches."""
    return not on_empty_cloud(page) and not CHANGING.search(page_commands(examples(page)))


def _examples_of_block(page: Path, lines: Sequence[str], first: int, end: int) -> Iterator[Example]:
    starts = [number for number in range(first, end) if lines[number].startswith("$ ")]
    for start, following in zip(starts, [*starts[1:], end], strict=True):
        body = start + 1
        while lines[body - 1].endswith("\\") or (body < following and lines[body].startswith("> ")):
            body += 1
        command = "\n".join(
            [lines[start].removeprefix("$ "), *(line.removeprefix("> ") for line in lines[start + 1 : body])]
        )
        yield Example(page, start + 1, command, tuple(lines[body:following]), body, following)


@contextmanager
def sample_service(*, empty: bool = False) -> Iterator[Service]:
    """Start a service with the sample cloud, or with an empty one."""

    class Development(Service):
        def serve_command(self) -> list[str]:
            return [str(PLIMSOLL), "serve", "--dev", "--port", str(self.port)]

    with TemporaryDirectory() as directory, Development(Path(directory)) as service:
        if not empty:
            sample_cloud.create_at(f"http://127.0.0.1:{service.port}")
        yield service


def run(page: Path, running: Service | None = None) -> Iterator[tuple[Example, list[str]]]:
    """Run the examples of a page in order, on this service or on one of its own. Yield each with its answer, as lines."""
    todo = examples(page)
    defined = definitions(page)
    known = {*UUID.findall(defined + page_commands(todo)), *UUID.findall(_cloud_uuids())}
    status = 0
    with nullcontext(running) if running else sample_service(empty=on_empty_cloud(page)) as service:
        for example in todo:
            deadline = time.monotonic() + (
                ASYNCHRONOUS_SECONDS if ASYNCHRONOUS.search(example.command) else 0
            )
            while True:
                last_status, output = _execute(defined + example.command, service, status)
                answer = shown(output, known, numbered=page in NUMBERED)
                if matches(example.answer, answer) or time.monotonic() > deadline:
                    break
                time.sleep(0.2)
            status = last_status
            yield example, answer


def page_commands(todo: Sequence[Example]) -> str:
    return "\n".join(example.command for example in todo)


def _cloud_uuids() -> str:
    return " ".join(value for value in map(str, vars(sample_cloud).values()))


def _execute(command: str, service: Service, status: int) -> tuple[int, str]:
    """Run a command with the port of this service. `$?` is the status of the command before."""
    address = f"127.0.0.1:{service.port}"
    environment = {name: value for name, value in service.environment.items() if not name.startswith("OS_")}
    environment |= {
        "PATH": f"{PLIMSOLL.parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": str(WIDTH),
        "HOME": str(service.directory),
    }
    ran = subprocess.run(
        ["bash", "-c", f"(exit {status})\n{command.replace(USUAL_ADDRESS, address)}"],
        env=environment,
        cwd=service.directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    return ran.returncode, ran.stdout.replace(address, USUAL_ADDRESS).replace("\r\n", "\n")


def shown(output: str, known: set[str], *, numbered: bool = False) -> list[str]:
    """Return an answer as a page shows it: JSON formatted, and with fixed values for those that differ.

    With `numbered`, revisions keep their numbers.
    """
    for pattern, fixed in FIXED_BUT_NUMBERS if numbered else FIXED:
        output = pattern.sub(fixed, output)
    output = UUID.sub(lambda found: found[0] if found[0] in known else FIXED_UUID, output)
    head, blank, body = output.rpartition("\n\n")
    if not head.startswith("HTTP/"):  # not an answer of `curl -i`
        head, blank, body = "", "", output
    try:
        body = format_json(json.loads(body))
    except ValueError:
        body = "\n".join(_line(line) for line in body.splitlines())
    return [line.rstrip() for line in f"{head}{blank}{body}".rstrip("\n").split("\n")] if output else []


def _line(line: str) -> str:
    """Format a line of NDJSON."""
    if line.startswith("{"):
        try:
            return json.dumps(json.loads(line))
        except ValueError:
            return line
    return line


def format_json(value: Any, indent: int = 0, room: int = WIDTH) -> str:
    """Format JSON: what fits into a line takes one line."""
    flat = json.dumps(value)
    if len(flat) <= room - indent or not isinstance(value, dict | list) or not value:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = []
        for key, each in value.items():
            name = f"{json.dumps(key)}: "
            parts.append(inner + name + format_json(each, indent + 2, room - len(name)))
        brackets = "{}"
    else:
        parts = [inner + format_json(each, indent + 2, room) for each in value]
        brackets = "[]"
    return f"{brackets[0]}\n" + ",\n".join(parts) + f"\n{' ' * indent}{brackets[1]}"


def matches(expected: Sequence[str], answer: Sequence[str]) -> bool:
    """Whether the lines are equal; a line `...` of the expected ones stands for any number of lines."""
    parts = [".*" if line.strip() == "..." else re.escape(line.rstrip() + "\n") for line in expected]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in answer), re.DOTALL) is not None


def elided(expected: Sequence[str], answer: Sequence[str]) -> list[str]:
    """Return an answer with `...` between the same lines as in the expected one, as far as it has these lines."""
    shortened: list[str] = []
    position = 0
    for number, line in enumerate(expected):
        if line.strip() != "...":
            continue
        try:
            start = answer.index(expected[number - 1], position) + 1 if number else 0
            end = answer.index(expected[number + 1], start) if number + 1 < len(expected) else len(answer)
        except ValueError:
            continue
        shortened += [*answer[position:start], line]
        position = end
    return [*shortened, *answer[position:]]


def differences(page: Path, running: Service | None = None) -> list[str]:
    """Return a text for each example of the page with another answer."""
    found = []
    for example, answer in run(page, running):
        if not matches(example.answer, answer):
            lines = difflib.unified_diff(example.answer, answer, "in the page", "now", lineterm="", n=2)
            found.append(f"{example.place}: `{example.command}` has another answer\n" + "\n".join(lines))
    return found


def write(page: Path, running: Service | None = None) -> int:
    """Write the answers that differ into the page. Return their number."""
    lines = page.read_text().splitlines()
    answers = run(page, running)
    changed = [(example, answer) for example, answer in answers if not matches(example.answer, answer)]
    for example, answer in reversed(changed):
        lines[example.first : example.last] = elided(example.answer, answer)
    page.write_text("\n".join(lines) + "\n")
    return len(changed)


def main(arguments: Sequence[str], out: Callable[[str], None] = print) -> int:
    chosen = [Path(each).resolve() for each in arguments if each != "--write"] or pages()
    failed = 0
    for page in chosen:
        if "--write" in arguments:
            out(f"{page.relative_to(ROOT)}: {write(page)} answers written")
        else:
            found = differences(page)
            failed |= bool(found)
            out("\n\n".join(found) or f"{page.relative_to(ROOT)}: no differences")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
