# SPDX-License-Identifier: Apache-2.0

"""Simulated clients: each sends its operations to a process and checks the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from plimsoll.domain.refusals import ProviderMissing, Refusal
from plimsoll.domain.rules.allocations import ANY_GENERATION, ExpectedGeneration
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.search.request import ProvidersRequest
from plimsoll.service import allocations, providers
from plimsoll.service.placement import DatabaseFault, OutcomeUnknown, Placement
from tests.model.plain import PlainPlacement
from tests.simulation import operations as w
from tests.simulation.history import Entry, History, Moment, copied
from tests.simulation.plan import Step
from tests.simulation.scheduler import Scheduler, Violation


@dataclass(eq=False)
class Client:
    """Runs its steps one after the other. After a crash of its process it goes on with the next one."""

    number: int
    process: int
    steps: list[Step]
    scheduler: Scheduler
    history: History
    counts: Counter[str]
    done: int = 0
    """How many steps were begun."""
    last_read: Moment | None = field(default=None)

    def run(self, placement: Placement) -> None:
        while self.done < len(self.steps):
            step = self.steps[self.done]
            self.done += 1
            self.scheduler.log(f"BEGIN {step}")
            try:
                self._run_step(placement, step)
            except OutcomeUnknown as fault:
                self.counts["answers: outcome unknown"] += 1
                self.scheduler.log(f"END {step}: {fault}")
            except DatabaseFault as fault:
                self.counts[f"answers: {type(fault).__name__}"] += 1
                self.scheduler.log(f"END {step}: {fault}")
            self.scheduler.pause()

    def _run_step(self, placement: Placement, step: Step) -> None:
        if step.kind == "read":
            self._read(placement)
        elif step.kind == "allocations":
            self._read_allocations(placement, f"provider-{step.provider}")
        elif step.kind == "find":
            self._find(placement, step.amount)
        else:
            write = self._write_of(placement, step)
            if write is not None:
                self._submit(placement, write)

    # Writes

    def _write_of(self, placement: Placement, step: Step) -> w.Write | None:
        """Return the write of this step, with the generations that the client reads first."""
        request = f"req-{self.number}-{self.done}"
        provider, consumer = f"provider-{step.provider}", f"consumer-{step.consumer}"
        if step.kind == "create":
            return w.CreateWrite(request, provider)
        if step.kind == "delete":
            return w.DeleteWrite(request, provider)
        if step.kind == "release":
            return w.ReleaseWrite(request, consumer)
        if step.kind in ("claim", "clear"):
            return self._claim_of(placement, step, request, consumer)
        if step.generation == "memory":
            known = placement.ledger.newest.world.provider(provider)
        else:
            known = placement.read(lambda reader: reader.world().provider(provider))
        generation = 0 if known is None else known.generation
        if step.kind == "inventory":
            return w.InventoryWrite(request, provider, generation, step.amount)
        return w.AggregatesWrite(request, provider, generation, frozenset({f"aggregate-{step.project}"}))

    def _claim_of(self, placement: Placement, step: Step, request: str, consumer: str) -> w.Write | None:
        generation: ExpectedGeneration
        if step.kind == "claim" and step.generation == "any":
            generation = ANY_GENERATION
        elif step.kind == "claim" and step.generation == "new":
            generation = None
        else:
            began = self.history.moment()
            found = allocations.of_consumer(placement, consumer)
            generation = None if found.consumer is None else found.consumer.generation
            holds = {provider: amounts for provider, (_, amounts) in found.by_provider.items()}
            self._check_read(
                began,
                (generation, holds),
                lambda entry: _consumer_in(entry.state, consumer),
                f"the allocations of {consumer}",
            )
        if step.kind == "clear":
            if generation is None:
                return None
            return w.ClaimWrite(request, consumer, (), generation, f"project-{step.project}", None)
        amounts = {f"provider-{step.provider}": step.amount}
        if step.other_provider is not None:
            amounts[f"provider-{step.other_provider}"] = 1
        type_ = (None, "INSTANCE", "MIGRATION")[step.project % 3]
        project = f"project-{step.project}"
        return w.ClaimWrite(request, consumer, tuple(amounts.items()), generation, project, type_)

    def _submit(self, placement: Placement, write: w.Write) -> None:
        history, request = self.history, write.request_id
        history.writes[request] = write
        began = history.moment()
        self.scheduler.log(f"SUBMIT {write}")
        try:
            answer = write.submit(placement)
        except OutcomeUnknown:
            raise
        except DatabaseFault as fault:
            self._check_not_written(write, began, f"{type(fault).__name__}: {fault}")
            raise
        self.scheduler.log(f"ANSWER {answer}")
        if isinstance(answer, Refusal):
            self.counts["answers: refused"] += 1
            self._check_not_written(write, began, str(answer))
            self._check_refusal(write, began, answer)
        else:
            self.counts["answers: written"] += 1
            if request not in history.committed and (
                began.restores == history.restores or request not in history.ever_committed
            ):
                raise Violation(f"{write} was answered as written, and is not in the database")

    def _check_not_written(self, write: w.Write, began: Moment, answer: str) -> None:
        request = write.request_id
        if request in self.history.committed:
            raise Violation(f"{write} was committed, and its client was told: {answer}")
        self.history.not_written[request] = answer

    def _check_refusal(self, write: w.Write, began: Moment, refusal: Refusal) -> None:
        for entry in self.history.entries_since(began):
            if not write.apply(copied(entry.state)):
                return
        raise Violation(f"{write} was refused: {refusal}, and the rules allowed it all the time")

    # Reads

    def _read(self, placement: Placement) -> None:
        began = self.history.moment()
        snapshot: Snapshot = placement.read(lambda reader: reader.snapshot())
        self._check_head(snapshot, began)

    def _check_head(self, snapshot: Snapshot, began: Moment) -> None:
        self.counts["reads"] += 1
        if all(entry.head != snapshot.head for entry in self.history.entries_since(began)):
            line = [entry.head.seq for entry in self.history.line]
            raise Violation(
                f"a read that began at change {line[began.position] if began.position < len(line) else '?'}"
                f" returned change {snapshot.head}"
            )
        revision = snapshot.revision
        self.history.check_memory(snapshot, f"a read of client {self.number}")
        if self.history.revisions.setdefault(revision, snapshot.head) != snapshot.head:
            self.counts["revisions with two states"] += 1

    def _read_allocations(self, placement: Placement, uuid: str) -> None:
        began = self.history.moment()
        found = allocations.of_provider(placement, uuid)
        if isinstance(found, ProviderMissing):
            read = None
        else:
            read = (
                found.generation,
                {consumer: amounts for consumer, (_, amounts) in found.by_consumer.items()},
            )
        self._check_read(
            began, read, lambda entry: _provider_in(entry.state, uuid), f"the allocations of {uuid}"
        )

    def _find(self, placement: Placement, amount: int) -> None:
        began = self.history.moment()

        def find(reader: Placement) -> tuple[Snapshot, set[str]]:
            request = ProvidersRequest(resources={w.RESOURCE_CLASS: amount})
            found = providers.find(reader, request)
            assert not isinstance(found, Refusal), found
            return reader.snapshot(), {provider.uuid for provider in found}

        snapshot, uuids = placement.read(find)
        self._check_head(snapshot, began)
        expected = set(_with_room(self.history.by_head[snapshot.head], amount))
        if uuids != expected:
            raise Violation(
                f"at change {snapshot.head.seq}, providers with {amount} free are {sorted(expected)};"
                f" the search found {sorted(uuids)}"
            )

    def _check_read(self, began: Moment, read: object, expected: object, what: str) -> None:
        self.counts["reads"] += 1
        assert callable(expected)
        states = [expected(entry) for entry in self.history.entries_since(began)]
        if read not in states:
            raise Violation(f"{what} were read as {read}; since the read began they were {states}")


def _consumer_in(state: PlainPlacement, uuid: str) -> tuple[int | None, dict[str, dict[str, int]]]:
    known = state.consumers.get(uuid)
    return (None, {}) if known is None else (known.generation, known.holds)


def _provider_in(state: PlainPlacement, uuid: str) -> tuple[int, dict[str, dict[str, int]]] | None:
    known = state.providers.get(uuid)
    if known is None:
        return None
    held = {name: each.holds[uuid] for name, each in state.consumers.items() if uuid in each.holds}
    return known.generation, held


def _with_room(entry: Entry, amount: int) -> Iterator[str]:
    for uuid, provider in entry.state.providers.items():
        inventory = provider.inventories.get(w.RESOURCE_CLASS)
        if inventory is not None and entry.used.get(uuid, 0) + amount <= inventory.total:
            yield uuid
