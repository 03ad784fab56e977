# SPDX-License-Identifier: Apache-2.0

"""deploy/container: the build steps of the Containerfile work, its command serves, and its health check succeeds.

No image is built here. The build steps run in a directory, with packages that are already installed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.deploy import deployed, examples, scenarios
from tests.deploy.deployed import Deployed
from tests.support.servers.places import free_port

NO_INDEX = ("Could not find a version", "No matching distribution", "Connection", "connection")
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"


@dataclass
class Stage:
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def all(self, instruction: str) -> list[str]:
        return [rest for word, rest in self.steps if word == instruction]


def stages() -> list[Stage]:
    text = re.sub(r"^#.*\n", "", examples.text("container/Containerfile"), flags=re.MULTILINE)
    found: list[Stage] = []
    for line in text.replace("\\\n", " ").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            found.append(Stage(rest.split()[0]))
        elif word and found:
            found[-1].steps.append((word, rest.strip()))
    return found


def test_copied_files_exist_and_the_user_is_not_root() -> None:
    build, final = stages()
    for copied in build.all("COPY"):
        *sources, _ = copied.split()
        assert all((examples.ROOT / source).exists() for source in sources), copied
    assert all(copied.startswith("--from=build ") for copied in final.all("COPY"))
    (user,) = final.all("USER")
    assert all(int(number) > 0 for number in user.split(":"))
    words = [word for word, _ in final.steps]
    assert words.index("USER") < words.index("CMD"), "the service runs as that user"
    assert "/" not in examples.text("container/Containerfile").partition("PYTHON=")[2].splitlines()[0]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory with the files of the first stage's image."""
    root = tmp_path_factory.mktemp("image")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for word, rest in stages()[0].steps:
        adapted = rest.replace("/opt/plimsoll", f"{root}/opt/plimsoll").replace("/source", f"{root}/source")
        if word == "COPY":
            *sources, place = adapted.split()
            for source in sources:
                copy(examples.ROOT / source, Path(place), is_inside=len(sources) > 1)
        elif word == "RUN":
            command = re.sub(r"^python ", f"{sys.executable} ", adapted)
            done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
            if done.returncode and any(sign in done.stderr for sign in NO_INDEX):
                pytest.skip("not run: the installation in a container, there is no index of packages")
            assert done.returncode == 0, done.stderr
            share_packages(root / "opt" / "plimsoll")
    yield root


def copy(source: Path, place: Path, *, is_inside: bool) -> None:
    target = place / source.name if is_inside else place
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def share_packages(environment: Path) -> None:
    """Use the packages of the test environment, so that nothing is downloaded."""
    packages = environment / "lib" / PYTHON / "site-packages"
    (packages / "shared.pth").write_text(deployed.PACKAGES[1] + "\n")


def test_the_built_image_serves_and_is_healthy(root: Path, tmp_path: Path) -> None:
    final, port = stages()[-1], free_port()
    deployed.settings(tmp_path)
    environment = deployed.environment(tmp_path)
    del environment["PYTHONPATH"]
    (path,) = re.findall(r"PATH=(\S+)", " ".join(final.all("ENV")))
    environment["PATH"] = path.replace("/opt/plimsoll", f"{root}/opt/plimsoll")

    def command(text: str) -> list[str]:
        ours = text.replace("8778", str(port)).replace("0.0.0.0", "127.0.0.1").replace('"4"', '"2"')
        words: list[str] = json.loads(ours)
        program = shutil.which(words[0], path=environment["PATH"])
        assert program is not None and Path(program).is_relative_to(root), words
        return [program, *words[1:]]

    (start,), (check,) = final.all("CMD"), final.all("HEALTHCHECK")
    health_check = command(check.partition("CMD ")[2])

    def is_healthy() -> bool:
        return subprocess.run(health_check, env=environment, capture_output=True, check=False).returncode == 0

    assert not is_healthy()
    with Deployed(command(start), port, tmp_path, environment) as service:
        where = "import plimsoll; print(plimsoll.__file__)"
        imported = subprocess.run(
            [*health_check[:1], "-c", where], env=environment, capture_output=True, text=True
        )
        assert imported.stdout.startswith(f"{root}/opt/plimsoll"), (
            "the health check uses the built environment"
        )
        assert is_healthy()
        scenarios.create_host(service)
        assert service.stop() == 0
    assert not is_healthy()
