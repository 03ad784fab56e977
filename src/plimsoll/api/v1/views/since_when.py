# SPDX-License-Identifier: Apache-2.0

"""Since when there are no candidates, and the change that ended it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.api.v1.times import format_exact_time, format_time
from plimsoll.domain.effects import AllocationsReplaced
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.search.explain.query_text import listed
from plimsoll.service.since_when import SinceWhen

MAX_SHOWN = 10
"""Providers and consumers of the change that are shown, at most."""


@unhashable_value
class ShownSinceWhen:
    """The result, as a caller sees it that may see one project, or all (None)."""

    found: SinceWhen
    world: World
    """The present one, for names."""
    project: str | None

    def document(self) -> dict[str, Any]:
        return {
            "revision": self.found.revision,
            "time": None if self.found.change is None else format_exact_time(self.found.change.at),
            "exact": self.found.is_exact,
            "complete": not self.found.is_cut_short,
            "text": self.text(),
            "ended_by": self._ended_by() if self.found.is_exact else None,
        }

    def text(self) -> str:
        change = self.found.change
        if change is None:
            return "It is not known since when: the change log has no change that could be undone in time."
        when = f"{format_time(change.at)} (revision {self.found.revision})"
        if self.found.is_exact:
            return f"Without candidates since {when}. The change that ended it: {self._sentence()}."
        end = "as the search had time for" if self.found.is_cut_short else "as the change log reaches"
        return f"Without candidates for at least as long {end}: since before {when}."

    def _ended_by(self) -> dict[str, Any]:
        change, providers, consumers = self.found.change, self._providers(), self._consumers()
        assert change is not None
        is_shown = self.project is None or change.actor.project == self.project
        return {
            "revision": self.found.revision,
            "time": format_exact_time(change.at),
            "request_id": change.actor.request_id,
            "global_request_id": change.actor.global_request_id,
            "user": change.actor.user if is_shown else None,
            "project": change.actor.project if is_shown else None,
            "operation": change.operation,
            "providers": [{"uuid": uuid, "name": self._name(uuid)} for uuid in providers[:MAX_SHOWN]],
            "more_providers": max(len(providers) - MAX_SHOWN, 0),
            "consumers": list(consumers[:MAX_SHOWN]),
            "more_consumers": max(len(consumers) - MAX_SHOWN, 0),
        }

    def _sentence(self) -> str:
        return ", ".join(self._parts(self._ended_by()))

    def _parts(self, document: dict[str, Any]) -> Iterator[str]:
        names = [self._name(uuid) or uuid for uuid in self._providers()]
        yield f"{document['operation']} on {listed(names)}" if names else document["operation"]
        consumers = self._consumers()
        if consumers:
            yield f"consumer{'s' if len(consumers) > 1 else ''} {listed(consumers)}"
        for member in ("user", "project", "request_id", "global_request_id"):
            if document[member]:
                yield f"{member.removesuffix('_id').replace('_', ' ')} {document[member]}"

    def _providers(self) -> Sequence[str]:
        """Return the uuids of the providers of the change, in its order."""
        before = self.found.world
        assert before is not None
        found = dict.fromkeys(uuid for each in self.found.effects for uuid in sorted(each.providers(before)))
        return list(found)

    def _consumers(self) -> Sequence[str]:
        """Return the uuids of the consumers whose allocations the change replaced, as far as the caller may see them."""
        return [
            each.consumer
            for each in self.found.effects
            if isinstance(each, AllocationsReplaced) and self._is_visible(each)
        ]

    def _is_visible(self, effect: AllocationsReplaced) -> bool:
        accounts = (effect.account_before, effect.account_after)
        return self.project is None or any(each and each.project == self.project for each in accounts)

    def _name(self, uuid: str) -> str | None:
        before = self.found.world
        provider = self.world.providers.get(uuid) or (before and before.providers.get(uuid))
        return provider.name if provider else None
