# SPDX-License-Identifier: Apache-2.0

"""Run one seed: fresh servers, initial data, the requests, the final check."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.sites import Site
from tests.differential import initial_data, mix, sample_data
from tests.differential.requests import Request, SeededRandom
from tests.differential.sabotage import SabotagedServer
from tests.differential.servers import Plimsoll, Reference, Server, running
from tests.differential.session import Outcome, Session

OnOutcome = Callable[[Outcome], None]


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
    """The counts of one seed."""

    seed: int
    compared: int = 0
    different: int = 0
    succeeded: int = 0
    wording: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: float = 0.0
    aborted: str | None = None  # why the run ended early, or the fault that the final check found

    def add(self, outcome: Outcome) -> None:
        self.compared += 1
        self.different += not outcome.equal
        self.succeeded += 200 <= outcome.reference.status < 300
        self.faults.update(outcome.faults)
        self.wording.update([outcome.request.kind] * bool(outcome.verdict.wording))
        self.statuses[outcome.request.kind, outcome.reference.status] += 1


def create_templates(settings: Settings, directory: Path) -> None:
    """Create the template databases from which `servers` are copied, once for all seeds."""
    Reference.create_template(settings.site, directory / "reference_model")
    if settings.against == "plimsoll":
        Plimsoll.create_template(settings.site, directory / "plimsoll_model")


def servers(settings: Settings, directory: Path) -> tuple[Server, Server]:
    site = settings.site
    reference = Reference(site, directory / "reference")
    ours: Server = (
        Reference(site, directory / "again")
        if settings.against == "reference"
        else Plimsoll(site, directory / "plimsoll", settings.workers)
    )
    return reference, SabotagedServer(ours, settings.sabotage) if settings.sabotage else ours


def run(seed: int, settings: Settings, directory: Path, on_outcome: OnOutcome) -> Tally:
    """Run one seed; `on_outcome` is called with every outcome."""
    tally = Tally(seed)
    begin = time.monotonic()
    reference, ours = servers(settings, directory)
    with running(reference, ours, keep=settings.keep):
        session = Session(reference, ours)
        for request in requests_of_seed(seed, settings.requests, session):
            outcome = session.run(request)
            tally.add(outcome)
            on_outcome(outcome)
            if outcome.state:
                tally.aborted = "the states differ; the rest of this seed was not run"
                break
        problem = None if outcome.state else ours.verify()
        if problem:
            tally.aborted = f"the final check of the database failed:\n{problem}"
            tally.different += 1
    tally.seconds = time.monotonic() - begin
    return tally


def requests_of_seed(seed: int, count: int, session: Session) -> Iterator[Request]:
    """Yield the requests for the initial data, then `count` random requests."""
    rng = SeededRandom(seed)
    data = sample_data.create(rng)
    yield from initial_data.build(rng, data, session.state)
    for _ in range(count):
        yield mix.next_request(rng, data, session.state())
