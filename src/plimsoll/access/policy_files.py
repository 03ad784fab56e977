# SPDX-License-Identifier: Apache-2.0

"""The rules in the operator's policy files, each with its file and line.

The files are those that oslo.policy reads, in its order: `[oslo_policy]policy_file`, then the files in `policy_dirs`.
If a rule occurs several times, the last one is in force.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from oslo_config import cfg
from oslo_policy import policy


@dataclass(frozen=True, slots=True)
class Override:
    """One rule of a file: its text, and the check that oslo.policy parses from it."""

    name: str
    written: str
    check: object
    file: Path
    line: int

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def is_fully_parsed(self) -> bool:
        """False if oslo.policy could not parse a part: it then denies, like "!", but "!" is not in the text."""
        denials = sum(str(part) == "!" for part in parts(self.check))
        return denials <= len(re.findall(r"(?<![^\s('\"\[])!(?![^\s)'\"\]])", self.written))

    @property
    def references(self) -> set[str]:
        """The names of the rules that it refers to."""
        return {part.match for part in parts(self.check) if isinstance(part, policy.RuleCheck)}


class BrokenFile(Exception):
    """A policy file cannot be read. The message has file, line and reason."""

    def __init__(self, file: Path, line: int | None, reason: str) -> None:
        super().__init__(f"{file}{f':{line}' if line else ''}: {reason}")


def policy_files(conf: cfg.ConfigOpts) -> list[Path]:
    """Return the policy files that exist, in the order in which they are read."""
    options = conf.oslo_policy
    main = conf.find_file(options.policy_file)
    files = [Path(main)] if main else []
    for name in options.policy_dirs:
        directory = conf.find_file(name)
        if directory:
            listed = sorted(Path(directory).iterdir(), key=lambda file: file.name)
            files += [file for file in listed if file.is_file() and not file.name.startswith(".")]
    return files


def read(file: Path) -> list[Override]:
    """Return all rules of a file in the order of its lines, including names that occur twice."""
    try:
        root = yaml.compose(file.read_text(), Loader=yaml.SafeLoader)
        return list(_rules(file, root))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(filter(None, (error.context, error.problem)))
        raise BrokenFile(file, mark and mark.line + 1, reason) from error
    except yaml.YAMLError as error:
        raise BrokenFile(file, None, str(error).splitlines()[0]) from error
    except UnicodeDecodeError as error:
        raise BrokenFile(file, None, f"not a text in UTF-8, at byte {error.start}") from error
    except OSError as error:
        raise BrokenFile(file, None, error.strerror or str(error)) from error


def read_all(conf: cfg.ConfigOpts) -> list[Override]:
    return [override for file in policy_files(conf) for override in read(file)]


def find_broken_file(conf: cfg.ConfigOpts) -> BrokenFile | None:
    """Return the first policy file that cannot be read, or None."""
    try:
        read_all(conf)
    except BrokenFile as broken:
        return broken
    except OSError as error:
        return BrokenFile(Path(str(error.filename)), None, error.strerror or str(error))
    return None


def parts(check: object) -> Iterator[object]:
    """Yield a check and all its parts, recursively."""
    yield check
    for part in (*getattr(check, "rules", ()), *([check.rule] if isinstance(check, policy.NotCheck) else ())):
        yield from parts(part)


def _rules(file: Path, root: yaml.Node | None) -> Iterator[Override]:
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise BrokenFile(file, root.start_mark.line + 1, 'not a list of rules, each "name": "check"')
    # Node by node: loading the whole document would lose line numbers and duplicate names.
    loader = yaml.SafeLoader("")
    loader.flatten_mapping(root)  # rules merged in with << keep the lines where they are written
    for key, value in root.value:
        line = key.start_mark.line + 1
        name, written = (loader.construct_object(node, deep=True) for node in (key, value))
        try:
            check = policy.RuleDefault(str(name), written).check
        except TypeError as error:
            raise BrokenFile(file, line, f'"{name}" has no check but {written!r}') from error
        yield Override(str(name), "" if written is None else str(written), check, file, line)
