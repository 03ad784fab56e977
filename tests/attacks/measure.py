# SPDX-License-Identifier: Apache-2.0

"""Measure one attack: the latency of the second client, and the worker's memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.attacks import clouds
from tests.attacks.attack import Attack, under_way
from tests.attacks.bystander import BystanderProcess, Experience
from tests.attacks.keystone import KNOWN, HangingKeystone
from tests.attacks.target import MemoryPeak, Target

WITH_KEYSTONE = {"keystone-hangs", "sign-ins-with-a-keystone-that-hangs"}
"""Attacks on a service with a Keystone that does not respond."""
MOST_RATIO = 5.0
MOST_SECONDS = 1.0
MOST_BYTES = 100 * 1_000_000
QUIET_SECONDS = 2.0
SETTLE_SECONDS = 3.0


@dataclass
class Report:
    attack: Attack
    quiet: Experience
    during: Experience
    after: Experience
    memory: tuple[int, int, int]
    """Before, at its peak, and after."""
    problems: list[str] = field(default_factory=list)
    """Differences from the state before, and unexpected responses."""
    statuses: dict[int, int] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.during.median / self.quiet.median

    def misses(self) -> list[str]:
        """Which parts of the acceptance are missed."""
        found = list(self.problems)
        if self.ratio > MOST_RATIO:
            found.append(f"median {self.ratio:.1f} times")
        if self.during.latest > MOST_SECONDS:
            found.append(f"a response after {self.during.latest:.2f} s")
        if self.memory[1] - self.memory[0] > MOST_BYTES:
            found.append(f"memory +{(self.memory[1] - self.memory[0]) / 1e6:.0f} MB")
        return found


@contextmanager
def target_of(attack: Attack, database: str | None) -> Iterator[Target]:
    """A service with a cloud, set up as the attack needs it."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plimsoll-attack-")))
        settings = dict(attack.settings)
        is_keystone = attack.name in WITH_KEYSTONE
        if is_keystone:
            settings |= stack.enter_context(HangingKeystone()).settings()
        target = Target(directory, database, settings)
        target.token = KNOWN if is_keystone else "admin"
        if attack.cloud == "small":
            yield stack.enter_context(target).build_cloud()
        else:
            clouds.fill_database(target, attack.cloud)
            yield stack.enter_context(target)


def measure(attack: Attack, database: str | None, seconds: float) -> Report:
    with (
        target_of(attack, database) as target,
        BystanderProcess(target.port, target.host, target.token) as bystander,
    ):
        state, worker, exceptions = target.state(), target.worker, target.exceptions()
        bystander.end_phase()
        time.sleep(QUIET_SECONDS)
        quiet, before = bystander.end_phase(), target.rss()
        with MemoryPeak(target) as peak:
            with under_way(attack, target, seconds + 5) as outcome:
                time.sleep(seconds)
                during = bystander.end_phase()
            time.sleep(SETTLE_SECONDS)
        bystander.end_phase()
        time.sleep(QUIET_SECONDS)
        after = bystander.end_phase()
        report = Report(attack, quiet, during, after, (before, peak.bytes, target.rss()))
        report.statuses = dict(sorted(outcome.statuses.items()))
        if attack.name != "reloads" and target.worker_pids() != [worker]:
            report.problems.append("the worker was replaced")
        if target.exceptions() > exceptions:
            report.problems.append("traceback in the log")
        if outcome.unexpected():
            report.problems.append(f"responses {outcome.unexpected()}")
        for phase, seen in (("during", during), ("after", after)):
            if not seen.is_served:
                report.problems.append(f"{phase}: {dict(seen.statuses)}, {seen.lost} lost")
        if not _same_state(state, target.state()):
            report.problems.append("the state has changed")
        return report


def _same_state(before: bytes, after: bytes) -> bool:
    # Attacks that create providers of their own only add to the list.
    return len(after) >= len(before)
