# SPDX-License-Identifier: Apache-2.0

"""All providers, names and sums of usage at one moment, immutable: a change makes the next world and shares the rest.

The maps are hash tries (rpds): replacing one provider of 100,000 costs the same as one of ten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import Any, NamedTuple

from rpds import HashTrieMap

from plimsoll.domain.catalog import Catalog
from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import ProviderMissing, StaleProviderGeneration
from plimsoll.domain.usage import Sums, Usages, by_type
from plimsoll.domain.values import unhashable_value


class LastIds(NamedTuple):
    """The highest that rows have, also those that no world shows."""

    provider: int
    trait: int
    consumer_type: int


NO_IDS = LastIds(0, 0, 0)
_NOTHING: HashTrieMap[Any, Any] = HashTrieMap()


@unhashable_value
class World:
    """Providers by uuid, with the two other ways to find them: by name and by tree."""

    providers: HashTrieMap[str, Provider] = _NOTHING
    uuid_by_name: HashTrieMap[str, str] = _NOTHING
    """By the key of the name: see `Keeping.key`."""
    trees: HashTrieMap[str, tuple[str, ...]] = _NOTHING
    """The uuids of all providers of a tree, by the uuid of its root."""
    classes: Catalog = field(default_factory=Catalog)
    traits: Catalog = field(default_factory=Catalog)
    consumer_types: Catalog = field(default_factory=Catalog)
    usages: Usages = _NOTHING
    keeping: DatabaseSemantics = field(default=EXACT, compare=False)
    last_provider_id: int = field(default=0, compare=False)
    """The highest that a provider ever had, as far as is known."""

    @classmethod
    def of(
        cls,
        providers: Iterable[Provider],
        classes: Catalog | None = None,
        traits: Catalog | None = None,
        consumer_types: Catalog | None = None,
        keeping: DatabaseSemantics = EXACT,
        usages: Usages = _NOTHING,
    ) -> World:
        by_uuid = {provider.uuid: provider for provider in providers}
        trees: dict[str, list[str]] = {}
        for provider in by_uuid.values():
            trees.setdefault(provider.root, []).append(provider.uuid)
        return cls(
            providers=HashTrieMap(by_uuid),
            uuid_by_name=HashTrieMap({keeping.key(each.name): uuid for uuid, each in by_uuid.items()}),
            trees=HashTrieMap({root: tuple(members) for root, members in trees.items()}),
            classes=classes or Catalog(),
            traits=traits or Catalog(),
            consumer_types=consumer_types or Catalog(),
            usages=usages,
            keeping=keeping,
            last_provider_id=max((provider.id for provider in by_uuid.values()), default=0),
        )

    def provider(self, uuid: str) -> Provider | None:
        """In any spelling that the database takes for the same; `Provider.uuid` is the one it is kept in."""
        # Not with `get`, which takes a hash trie longer than both.
        return self.providers[uuid] if uuid in self.providers else self._spelled_otherwise(uuid)

    def _spelled_otherwise(self, uuid: str) -> Provider | None:
        usual, key = uuid.rstrip(" ").lower(), self.keeping.key
        return self.providers.get(usual) if usual != uuid and key(usual) == key(uuid) else None

    def provider_as_seen(
        self, uuid: str, generation: int | None = None
    ) -> Provider | ProviderMissing | StaleProviderGeneration:
        """The provider, if it is there and still has the generation that a client has seen (None: any)."""
        provider = self.provider(uuid)
        if provider is None:
            return ProviderMissing(uuid)
        if generation is not None and provider.generation != generation:
            return StaleProviderGeneration(uuid, provider.generation, generation)
        return provider

    def provider_named(self, name: str) -> Provider | None:
        uuid = self.uuid_by_name.get(self.keeping.key(name))
        return None if uuid is None else self.providers[uuid]

    def tree(self, root: str) -> Iterator[Provider]:
        """All providers of the tree with this root."""
        return (self.providers[uuid] for uuid in self.trees.get(root, ()))

    def children(self, uuid: str) -> list[Provider]:
        provider = self.providers[uuid]
        return [other for other in self.tree(provider.root) if other.parent == uuid]

    def subtree(self, uuid: str) -> list[Provider]:
        """A provider and all below it, parents first."""
        children: dict[str | None, list[Provider]] = {}
        for provider in self.tree(self.providers[uuid].root):
            children.setdefault(provider.parent, []).append(provider)
        found = [self.providers[uuid]]
        for provider in found:
            found.extend(children.get(provider.uuid, ()))
        return found

    def usage_by_type(self, project: str, user: str | None) -> dict[str | None, Sums]:
        """What a project uses, or one user in it, by type of consumer."""
        return by_type(self.usages, self.keeping.key, project, user)

    # The ways to make the next world. Each keeps the three views of the providers in step.

    def with_provider(self, provider: Provider) -> World:
        """Adds a provider, or replaces the one with its uuid."""
        before = self.providers.get(provider.uuid)
        if before is not None and before.name == provider.name and before.root == provider.root:
            return self.with_state_of(provider)
        providers = self.providers.insert(provider.uuid, provider)
        names, trees = self.uuid_by_name, self.trees
        if before is not None:
            names = names.remove(self.keeping.key(before.name))
            trees = _tree_without(trees, before)
        names = names.insert(self.keeping.key(provider.name), provider.uuid)
        trees = trees.insert(provider.root, (*trees.get(provider.root, ()), provider.uuid))
        last_id = max(self.last_provider_id, provider.id)
        return replace(self, providers=providers, uuid_by_name=names, trees=trees, last_provider_id=last_id)

    def with_state_of(self, provider: Provider) -> World:
        """Replaces a provider that is there, and keeps its name and its place."""
        return self.with_claims(self.providers.insert(provider.uuid, provider), self.usages)

    def without_provider(self, uuid: str) -> World:
        gone = self.providers[uuid]
        return replace(
            self,
            providers=self.providers.remove(uuid),
            uuid_by_name=self.uuid_by_name.remove(self.keeping.key(gone.name)),
            trees=_tree_without(self.trees, gone),
        )

    def counting_from(self, last_ids: LastIds) -> World:
        """The same world; what is new gets higher ids than these."""
        return replace(
            self,
            traits=self.traits.counting_from(last_ids.trait),
            consumer_types=self.consumer_types.counting_from(last_ids.consumer_type),
            last_provider_id=max(self.last_provider_id, last_ids.provider),
        )

    def with_claims(self, providers: HashTrieMap[str, Provider], usages: Usages) -> World:
        """With what every claim changes; names and trees stay. `replace` takes several times as long."""
        return World(
            providers,
            self.uuid_by_name,
            self.trees,
            self.classes,
            self.traits,
            self.consumer_types,
            usages,
            self.keeping,
            self.last_provider_id,
        )


def _tree_without(
    trees: HashTrieMap[str, tuple[str, ...]], gone: Provider
) -> HashTrieMap[str, tuple[str, ...]]:
    members = tuple(uuid for uuid in trees[gone.root] if uuid != gone.uuid)
    return trees.insert(gone.root, members) if members else trees.remove(gone.root)
