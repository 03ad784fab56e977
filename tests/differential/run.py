# SPDX-License-Identifier: Apache-2.0

"""One seed from beginning to end: fresh servers, a world, the requests, the final check."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.sites import Site
from tests.differential import mix, words, worlds
from tests.differential.requests import Dice, Request
from tests.differential.sabotage import Saboteur
from tests.differential.servers import Plimsoll, Reference, Server, running
from tests.differential.session import Outcome, Session

Watch = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Settings:
    site: Site
    requests: int
    against: str = "plimsoll"
    workers: int = 1
    sabotage: str | None = None
    keep: bool = False


@dataclass(slots=True)
class Tally:
    """What a seed came to."""

    seed: int
    compared: int = 0
    different: int = 0
    succeeded: int = 0
    wording: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    seen: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: float = 0.0
    broken: str | None = None  # why the run ended early, or what the final check found

    def add(self, outcome: Outcome) -> None:
        self.compared += 1
        self.different += not outcome.equal
        self.succeeded += 200 <= outcome.reference.status < 300
        self.faults.update(outcome.faults)
        self.wording.update([outcome.request.kind] * bool(outcome.verdict.wording))
        self.seen[outcome.request.kind, outcome.reference.status] += 1


def make_models(settings: Settings, directory: Path) -> None:
    """Once for all seeds: what `servers` begin with."""
    Reference.make_model(settings.site, directory / "reference_model")
    if settings.against == "plimsoll":
        Plimsoll.make_model(settings.site, directory / "plimsoll_model")


def servers(settings: Settings, directory: Path) -> tuple[Server, Server]:
    site = settings.site
    reference = Reference(site, directory / "reference")
    ours: Server = (
        Reference(site, directory / "again")
        if settings.against == "reference"
        else Plimsoll(site, directory / "plimsoll", settings.workers)
    )
    return reference, Saboteur(ours, settings.sabotage) if settings.sabotage else ours


def run(seed: int, settings: Settings, directory: Path, watch: Watch) -> Tally:
    """Run one seed; `watch` sees every outcome."""
    tally = Tally(seed)
    begin = time.monotonic()
    reference, ours = servers(settings, directory)
    with running(reference, ours, keep=settings.keep):
        session = Session(reference, ours)
        for request in stream(seed, settings.requests, session):
            outcome = session.run(request)
            tally.add(outcome)
            watch(outcome)
            if outcome.state:
                tally.broken = "the states differ; the rest of this seed was not run"
                break
        problem = None if outcome.state else ours.verify()
        if problem:
            tally.broken = f"the final check of the database failed:\n{problem}"
            tally.different += 1
    tally.seconds = time.monotonic() - begin
    return tally


def stream(seed: int, count: int, session: Session) -> Iterator[Request]:
    """The world of the seed, and then so many requests to it."""
    dice = Dice(seed)
    vocabulary = words.of_seed(dice)
    yield from worlds.build(dice, vocabulary, session.state)
    for _ in range(count):
        yield mix.following(dice, vocabulary, session.state())
