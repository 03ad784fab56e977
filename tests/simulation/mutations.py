# SPDX-License-Identifier: Apache-2.0

"""Planted mistakes: one expression of the real code is replaced, in memory. The simulator must find each of them."""

from __future__ import annotations
import __future__

import contextlib
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType


@dataclass(frozen=True)
class Mutation:
    name: str
    """The mistake in one sentence."""
    target: str
    """The function: `module:qualified name`, below the package plimsoll."""
    before: str
    """A piece of its source, which occurs once."""
    after: str
    is_rare: bool = False
    """It needs hundreds of seeds: the command finds it, the test suite does not look for it."""

    @contextlib.contextmanager
    def planted(self) -> Iterator[None]:
        """Replace the code of the function, in all modules that have imported it."""
        function = self._function()
        original, function.__code__ = function.__code__, self._code(function)
        try:
            yield
        finally:
            function.__code__ = original

    def _function(self) -> FunctionType:
        module, _, path = self.target.partition(":")
        found: object = importlib.import_module(f"plimsoll.{module}")
        for name in path.split("."):
            found = inspect.getattr_static(found, name)
        while not isinstance(found, FunctionType):
            found = found.__func__ if hasattr(found, "__func__") else found.fget  # type: ignore[attr-defined]
        return found

    def _code(self, function: FunctionType) -> CodeType:
        source = textwrap.dedent(inspect.getsource(function))
        count = source.count(self.before)
        assert count == 1, f"{self.before!r} occurs {count} times in {self.target}"
        namespace: dict[str, object] = {}
        flags = __future__.annotations.compiler_flag
        code = compile(source.replace(self.before, self.after), function.__code__.co_filename, "exec", flags)
        exec(code, function.__globals__, namespace)
        mutated = namespace[function.__name__]
        mutated = inspect.unwrap(mutated)  # type: ignore[arg-type]
        assert isinstance(mutated, FunctionType)
        return mutated.__code__


MUTATIONS = (
    Mutation(
        "the capacity is not checked when a batch is decided again after a conflict",
        "ledger.commit:Committer.commit",
        "self._metrics.commit_retried(moved)",
        "from unittest.mock import patch; from plimsoll.domain.inventory import Inventory\n"
        "            with patch.object(Inventory, 'admits', lambda *_: True):\n"
        "                lease.reacquire(); return self._commit_locked(tickets, take_queued, in_doubt, assume_new)",
    ),
    Mutation(
        "a commit with an unknown outcome counts as failed",
        "ledger.commit_retry:CommitRetrier._commit",
        "in_doubt.append(doubt)",
        "pass",
    ),
    Mutation(
        "a commit with an unknown outcome counts as written",
        "ledger.commit:_is_committed",
        "return committed",
        "return True",
    ),
    Mutation(
        "following skips the first of several missed changes",
        "storage.changes:missed_changes",
        "Missed(list(effects),",
        "Missed(list(effects)[len(effects) > 1 :],",
    ),
    Mutation(
        "a gap in the log is not noticed",
        "storage.changes:missed_changes",
        "if numbers != tuple(range(position.seq + 1, position.seq + 1 + len(rows))):",
        "if False:",
    ),
    Mutation(
        "the generation of a consumer is not checked",
        "domain.rules.allocations:check_preconditions",
        "each.expected_generation is not ANY_GENERATION and each.expected_generation != actual",
        "each.expected_generation is not ANY_GENERATION and each.expected_generation is None and actual",
    ),
    Mutation(
        "the generation of a provider is not checked",
        "domain.world:World.provider_at_generation",
        "provider.generation != generation",
        "provider.generation < generation",
    ),
    Mutation(
        "an optimistic batch is committed although the head has moved",
        "storage.head:move_head_sql",
        "THEN 1 ELSE 2 END",
        "THEN 1 ELSE 1 END",
    ),
    Mutation(
        "the head is read without its lock",
        "ledger.commit:Committer._lock_head",
        "transaction.lock_head_query",
        "transaction.lock_head_query._replace(sql=transaction.lock_head_query.sql.split(' FOR')[0])",
    ),
    Mutation(
        "the cached allocations of a provider are not invalidated",
        "ledger.allocation_cache:AllocationCache.get",
        "entry is not None and entry[0] is provider",
        "entry is not None",
    ),
    Mutation(
        "cached ids survive a restore",
        "storage.lookup_tables:LookupTable.clear_cache",
        "self.cached = {}",
        "pass",
    ),
    Mutation(
        "ids of rows that were rolled back are cached",
        "storage.lookup_tables:LookupSession._fetch_or_insert",
        "return found",
        "table.cache_entries(found); return found",
    ),
    Mutation(
        "another history with the same number is not noticed after a restore",
        "storage.changes:missed_changes",
        "(rows[0][0], rows[0][1]) != position",
        "rows[0][0] != position.seq",
        is_rare=True,
    ),
    Mutation(
        "a read returns an older state than the head after a restore",
        "ledger.snapshot:Snapshot.contains",
        "if past == head:",
        "if past.seq >= head.seq:",
    ),
    Mutation(
        "a read does not confirm its snapshot",
        "ledger.current:OptimisticRead.confirm",
        "head == self._snapshot.head",
        "True",
    ),
    Mutation(
        "a read that shares the query of another one shares an earlier one too",
        "ledger.current:CurrentSnapshot.caught_up",
        "if self._current_at < called:",
        "if self._current_at < 0:",
    ),
    Mutation(
        "a snapshot that ends within a batch is published",
        "ledger.current:CurrentSnapshot._follow_log",
        "is_complete = len(rows) <= CHANGES_PER_READ",
        "is_complete = True",
    ),
    Mutation(
        "a snapshot is published before its commit",
        "ledger.commit:Committer._write_and_publish",
        "if batch.statements:",
        "self._current.publish(batch.snapshot)\n            if batch.statements:",
    ),
    Mutation(
        "a refusal is returned without the lock of the head",
        "ledger.commit:Committer._commit_optimistic",
        "if not batch.log:\n                raise _NeedsHeadLock",
        "if not batch.log:\n                return batch",
        is_rare=True,
    ),
)
