# SPDX-License-Identifier: Apache-2.0

"""The world: all providers, names and sums of usage of one snapshot. Immutable; a change shares the unchanged parts.

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
from plimsoll.domain.values import unhashable_value, with_fields


class LastIds(NamedTuple):
    """The highest ids in the database, including those of rows that are not part of the world."""

    provider: int
    trait: int
    consumer_type: int


NO_IDS = LastIds(0, 0, 0)
_NOTHING: HashTrieMap[Any, Any] = HashTrieMap()


@unhashable_value
class World:
    """Providers by uuid, by name and by tree; catalogs of names; usage by owner."""

    providers: HashTrieMap[str, Provider] = _NOTHING
    uuid_by_name: HashTrieMap[str, str] = _NOTHING
    """By the key of the name: see `DatabaseSemantics.key`."""
    trees: HashTrieMap[str, tuple[str, ...]] = _NOTHING
    """The uuids of all providers of a tree, by the uuid of its root."""
    classes: Catalog = field(default_factory=Catalog)
    traits: Catalog = field(default_factory=Catalog)
    consumer_types: Catalog = field(default_factory=Catalog)
    usages: Usages = _NOTHING
    semantics: DatabaseSemantics = field(default=EXACT, compare=False)
    last_provider_id: int = field(default=0, compare=False)
    """The highest provider id ever used, as far as this process has read."""

    @classmethod
    def of(
        cls,
        providers: Iterable[Provider],
        classes: Catalog | None = None,
        traits: Catalog | None = None,
        consumer_types: Catalog | None = None,
        semantics: DatabaseSemantics = EXACT,
        usages: Usages = _NOTHING,
    ) -> World:
        by_uuid = {provider.uuid: provider for provider in providers}
        trees: dict[str, list[str]] = {}
        for provider in by_uuid.values():
            trees.setdefault(provider.root, []).append(provider.uuid)
        return cls(
            providers=HashTrieMap(by_uuid),
            uuid_by_name=HashTrieMap({semantics.key(each.name): uuid for uuid, each in by_uuid.items()}),
            trees=HashTrieMap({root: tuple(members) for root, members in trees.items()}),
            classes=classes or Catalog(),
            traits=traits or Catalog(),
            consumer_types=consumer_types or Catalog(),
            usages=usages,
            semantics=semantics,
            last_provider_id=max((provider.id for provider in by_uuid.values()), default=0),
        )

    def provider(self, uuid: str) -> Provider | None:
        """Return a provider by uuid, in any spelling that the database treats as equal to the stored one."""
        # Not `get`: for a hash trie it is slower than these two lookups.
        return self.providers[uuid] if uuid in self.providers else self._provider_by_normalised_uuid(uuid)

    def _provider_by_normalised_uuid(self, uuid: str) -> Provider | None:
        usual, key = uuid.rstrip(" ").lower(), self.semantics.key
        return self.providers.get(usual) if usual != uuid and key(usual) == key(uuid) else None

    def provider_at_generation(
        self, uuid: str, generation: int | None = None
    ) -> Provider | ProviderMissing | StaleProviderGeneration:
        """Return the provider, or a refusal if it is missing or has another generation (None accepts any)."""
        provider = self.provider(uuid)
        if provider is None:
            return ProviderMissing(uuid)
        if generation is not None and provider.generation != generation:
            return StaleProviderGeneration(uuid, provider.generation, generation)
        return provider

    def provider_named(self, name: str) -> Provider | None:
        uuid = self.uuid_by_name.get(self.semantics.key(name))
        return None if uuid is None else self.providers[uuid]

    def tree(self, root: str) -> Iterator[Provider]:
        """Return all providers of the tree with this root."""
        return (self.providers[uuid] for uuid in self.trees.get(root, ()))

    def children(self, uuid: str) -> list[Provider]:
        provider = self.providers[uuid]
        return [other for other in self.tree(provider.root) if other.parent == uuid]

    def subtree(self, uuid: str) -> list[Provider]:
        """Return a provider and all its descendants, parents first."""
        children: dict[str | None, list[Provider]] = {}
        for provider in self.tree(self.providers[uuid].root):
            children.setdefault(provider.parent, []).append(provider)
        found = [self.providers[uuid]]
        for provider in found:
            found.extend(children.get(provider.uuid, ()))
        return found

    def usage_by_type(self, project: str, user: str | None) -> dict[str | None, Sums]:
        """Return the usage of a project, or of one user in it, by consumer type."""
        return by_type(self.usages, self.semantics.key, project, user)

    # Methods that return the next world. Each updates the three maps of providers consistently.

    def with_provider(self, provider: Provider) -> World:
        """Add a provider, or replace the provider with its uuid."""
        before = self.providers.get(provider.uuid)
        if before is not None and before.name == provider.name and before.root == provider.root:
            return self.with_changed_provider(provider)
        providers = self.providers.insert(provider.uuid, provider)
        names, trees = self.uuid_by_name, self.trees
        if before is not None:
            names = names.remove(self.semantics.key(before.name))
            trees = _tree_without(trees, before)
        names = names.insert(self.semantics.key(provider.name), provider.uuid)
        trees = trees.insert(provider.root, (*trees.get(provider.root, ()), provider.uuid))
        last_id = max(self.last_provider_id, provider.id)
        after = replace(self, providers=providers, uuid_by_name=names, trees=trees, last_provider_id=last_id)
        assert provider.root in providers, "a provider without its root"
        after._assert_same_growth(self)
        return after

    def with_changed_provider(self, provider: Provider) -> World:
        """Replace an existing provider whose name and root have not changed."""
        before = self.providers[provider.uuid]
        assert before.id == provider.id, "another provider with the same uuid"
        assert before.name == provider.name, "a changed name needs with_provider"
        assert before.root == provider.root, "a changed root needs with_provider"
        return with_fields(self, providers=self.providers.insert(provider.uuid, provider))

    def without_provider(self, uuid: str) -> World:
        gone = self.providers[uuid]
        after = replace(
            self,
            providers=self.providers.remove(uuid),
            uuid_by_name=self.uuid_by_name.remove(self.semantics.key(gone.name)),
            trees=_tree_without(self.trees, gone),
        )
        assert gone.uuid == gone.root or gone.root in after.providers, "a provider without its root"
        after._assert_same_growth(self)
        return after

    def _assert_same_growth(self, before: World) -> None:
        """Assert that as many names as providers were added or removed."""
        assert len(self.providers) - len(before.providers) == len(self.uuid_by_name) - len(
            before.uuid_by_name
        ), "names and providers differ"

    def with_last_ids(self, last_ids: LastIds) -> World:
        """Return the same world; new objects get higher ids than these."""
        return replace(
            self,
            traits=self.traits.with_last_id(last_ids.trait),
            consumer_types=self.consumer_types.with_last_id(last_ids.consumer_type),
            last_provider_id=max(self.last_provider_id, last_ids.provider),
        )


def _tree_without(
    trees: HashTrieMap[str, tuple[str, ...]], gone: Provider
) -> HashTrieMap[str, tuple[str, ...]]:
    members = tuple(uuid for uuid in trees[gone.root] if uuid != gone.uuid)
    return trees.insert(gone.root, members) if members else trees.remove(gone.root)
