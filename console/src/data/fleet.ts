// SPDX-License-Identifier: Apache-2.0

/** The cloud as the console holds it: providers, hosts (trees) and sums by resource class. Changes are applied in place. */

import type { Change, ConsumerState, Inventory, Provider } from "../api/types";
import { compareNames } from "../lib/names";
import { compareClasses } from "../lib/units";
import { fitsOn, inventoryOf, largestPiece } from "./inventory";

/** Sums of one resource class over some providers. */
export interface ClassLoad {
  total: number;
  reserved: number;
  capacity: number;
  used: number;
  free: number;
  largest: number;
  /** The capacity if nothing were reserved: total times allocation ratio. */
  ceiling: number;
  providers: number;
  overfull: number;
  /** The largest piece if nothing were allocated. */
  piece: number;
}

export type Load = Map<string, ClassLoad>;

/** A tree of providers, named by its root. */
export interface Host {
  uuid: string;
  name: string;
  root: Provider;
  members: Provider[];
  load: Load;
  /** The aggregates and traits of all providers of the tree. */
  readonly aggregates: ReadonlySet<string>;
  readonly traits: ReadonlySet<string>;
  /** Whether the compute service of the host is disabled. */
  disabled: boolean;
}

export interface Fleet {
  /** Increases with every change, so that views know when to draw again. */
  version: number;
  revision: string;
  providers: Map<string, Provider>;
  hosts: Host[];
  byRoot: Map<string, Host>;
  classes: string[];
}

export function emptyLoad(): ClassLoad {
  return { total: 0, reserved: 0, capacity: 0, used: 0, free: 0, largest: 0, ceiling: 0, providers: 0, overfull: 0, piece: 0 };
}

function addInventory(load: ClassLoad, inventory: Inventory): void {
  load.total += inventory.total;
  load.reserved += inventory.reserved;
  load.capacity += inventory.capacity;
  load.used += inventory.used;
  load.free += inventory.free;
  load.ceiling += Math.max(inventory.capacity, inventory.total * inventory.allocation_ratio);
  load.providers += 1;
  if (inventory.used > inventory.capacity) load.overfull += 1;
  if (inventory.largest > load.largest) load.largest = inventory.largest;
  load.piece = Math.max(load.piece, largestPiece(inventory, inventory.capacity));
}

function loadOf(members: readonly Provider[]): Load {
  const result: Load = new Map();
  for (const member of members) {
    // Faster than by entries, of which there would be 100,000 small arrays.
    for (const name in member.inventories) {
      const inventory = member.inventories[name];
      if (inventory === undefined) continue;
      let load = result.get(name);
      if (load === undefined) result.set(name, (load = emptyLoad()));
      addInventory(load, inventory);
    }
  }
  return result;
}

const NONE: ReadonlySet<string> = new Set();

function union(members: readonly Provider[], of: (provider: Provider) => readonly string[]): ReadonlySet<string> {
  let result: Set<string> | null = null;
  for (const member of members) for (const name of of(member)) (result ??= new Set()).add(name);
  return result ?? NONE;
}

/** The trait of a provider, such as a storage pool, that shares what it has with its aggregates. */
export const SHARES = "MISC_SHARES_VIA_AGGREGATE";
const DISABLED = "COMPUTE_STATUS_DISABLED";

/** The sets are made when they are asked for: the first view needs none of them, and they take half of the time to build a fleet. */
class Tree implements Host {
  readonly uuid: string;
  readonly name: string;
  readonly load: Load;
  readonly disabled: boolean;
  private allAggregates: ReadonlySet<string> | null = null;
  private allTraits: ReadonlySet<string> | null = null;

  constructor(
    readonly root: Provider,
    readonly members: Provider[],
  ) {
    this.uuid = root.uuid;
    this.name = root.name;
    this.load = loadOf(members);
    this.disabled = members.some((member) => member.traits.includes(DISABLED));
  }

  get aggregates(): ReadonlySet<string> {
    return (this.allAggregates ??= union(this.members, (provider) => provider.aggregates));
  }

  get traits(): ReadonlySet<string> {
    return (this.allTraits ??= union(this.members, (provider) => provider.traits));
  }
}

/** Sums over hosts. */
export function sumOf(hosts: Iterable<Host>): Load {
  const result: Load = new Map();
  for (const host of hosts) {
    for (const [name, load] of host.load) {
      let sum = result.get(name);
      if (sum === undefined) result.set(name, (sum = emptyLoad()));
      sum.total += load.total;
      sum.reserved += load.reserved;
      sum.capacity += load.capacity;
      sum.used += load.used;
      sum.free += load.free;
      sum.ceiling += load.ceiling;
      sum.providers += load.providers;
      sum.overfull += load.overfull;
      if (load.largest > sum.largest) sum.largest = load.largest;
      if (load.piece > sum.piece) sum.piece = load.piece;
    }
  }
  return result;
}

export function buildFleet(revision: string, list: readonly Provider[], version = 1): Fleet {
  const providers = new Map<string, Provider>();
  const trees = new Map<string, Provider[]>();
  for (const provider of list) {
    providers.set(provider.uuid, provider);
    const tree = trees.get(provider.root);
    if (tree === undefined) trees.set(provider.root, [provider]);
    else tree.push(provider);
  }
  const hosts: Host[] = [];
  for (const [rootUuid, members] of trees) {
    const root = providers.get(rootUuid) ?? members[0];
    if (root !== undefined) hosts.push(new Tree(root, members));
  }
  hosts.sort((a, b) => compareNames(a.name, b.name));
  return {
    version,
    revision,
    providers,
    hosts,
    byRoot: new Map(hosts.map((host) => [host.uuid, host])),
    classes: classesOf(hosts),
  };
}

function classesOf(hosts: readonly Host[]): string[] {
  const names = new Set<string>();
  for (const host of hosts) for (const name of host.load.keys()) names.add(name);
  return [...names].sort(compareClasses);
}

function usageDelta(provider: Provider, resourceClass: string, delta: number): Provider {
  const inventory = provider.inventories[resourceClass];
  if (inventory === undefined || delta === 0) return provider;
  const next = inventoryOf(inventory, Math.max(0, inventory.used + delta));
  return { ...provider, inventories: { ...provider.inventories, [resourceClass]: next } };
}

/** Apply changes in their order. Returns null if they do not say everything, and the whole state must be read again. */
export function applyChanges(fleet: Fleet, changes: readonly Change[]): Fleet | null {
  const touched = new Map<string, Provider | null>();
  const at = (uuid: string): Provider | null => {
    const current = touched.get(uuid);
    return current === undefined ? (fleet.providers.get(uuid) ?? null) : current;
  };
  let revision = fleet.revision;
  for (const change of changes) {
    // A renamed class has no further entries in the log.
    if (change.reload || change.operation === "class.rename") return null;
    revision = change.revision;
    for (const { uuid, name, before, after } of change.providers) {
      if (after === null) {
        touched.set(uuid, null);
        continue;
      }
      const known: Provider | null = at(uuid);
      if (known === null && before !== null) return null;
      let next: Provider = known ?? {
        uuid,
        name: after.name ?? name ?? uuid,
        generation: 0,
        root: after.root ?? uuid,
        parent: null,
        inventories: {},
        traits: [],
        aggregates: [],
        updated_at: null,
      };
      next = { ...next, updated_at: change.time };
      if (after.name !== undefined) next.name = after.name;
      if (after.parent !== undefined) next.parent = after.parent;
      if (after.root !== undefined) next.root = after.root;
      if (after.generation !== undefined) next.generation = after.generation;
      if (after.traits !== undefined) next.traits = after.traits;
      if (after.aggregates !== undefined) next.aggregates = after.aggregates;
      if (after.inventories !== undefined) {
        const inventories = { ...next.inventories };
        for (const [resourceClass, reported] of Object.entries(after.inventories)) {
          if (reported === null) Reflect.deleteProperty(inventories, resourceClass);
          else inventories[resourceClass] = inventoryOf(reported, inventories[resourceClass]?.used ?? 0);
        }
        next.inventories = inventories;
      }
      touched.set(uuid, next);
    }
    for (const { before, after } of change.consumers) {
      if (before?.allocations === undefined && after?.allocations === undefined) continue;
      for (const [uuid, resourceClass, delta] of allocationDeltas(before, after)) {
        const provider = at(uuid);
        if (provider !== null) touched.set(uuid, { ...usageDelta(provider, resourceClass, delta), updated_at: change.time });
      }
    }
  }
  return replaceProviders(fleet, revision, touched);
}

/** What a change of a consumer adds to (or takes from) each provider and class. */
export function allocationDeltas(
  before: ConsumerState | null,
  after: ConsumerState | null,
): (readonly [provider: string, resourceClass: string, delta: number])[] {
  const deltas = new Map<string, readonly [string, string, number]>();
  const add = (state: ConsumerState | null, sign: 1 | -1): void => {
    for (const [uuid, { resources }] of Object.entries(state?.allocations ?? {})) {
      for (const [name, value] of Object.entries(resources)) {
        const key = `${uuid}/${name}`;
        deltas.set(key, [uuid, name, (deltas.get(key)?.[2] ?? 0) + sign * value]);
      }
    }
  };
  add(before, -1);
  add(after, 1);
  return [...deltas.values()].filter(([, , delta]) => delta !== 0);
}

/** Replace or remove (null) providers, and rebuild only the hosts that they belong to. */
export function replaceProviders(fleet: Fleet, revision: string, touched: ReadonlyMap<string, Provider | null>): Fleet {
  if (touched.size === 0) return { ...fleet, revision };
  const roots = new Set<string>();
  for (const [uuid, next] of touched) {
    const known = fleet.providers.get(uuid);
    if (known !== undefined) roots.add(known.root);
    if (next === null) fleet.providers.delete(uuid);
    else {
      roots.add(next.root);
      fleet.providers.set(uuid, next);
    }
  }
  let reordered = false;
  const members = new Map<string, Provider[]>();
  for (const root of roots) members.set(root, []);
  // Members keep their order; those that are new or have moved follow.
  for (const root of roots) {
    for (const member of fleet.byRoot.get(root)?.members ?? []) {
      const current = fleet.providers.get(member.uuid);
      if (current?.root === root) members.get(root)?.push(current);
    }
  }
  for (const next of touched.values()) {
    if (next === null) continue;
    const tree = members.get(next.root);
    if (tree !== undefined && !tree.some((member) => member.uuid === next.uuid)) tree.push(next);
  }
  const hosts = fleet.hosts.slice();
  const places = new Map<string, number>();
  hosts.forEach((host, place) => {
    if (roots.has(host.uuid)) places.set(host.uuid, place);
  });
  const removed = new Set<string>();
  for (const [rootUuid, tree] of members) {
    const root = fleet.providers.get(rootUuid);
    const place = places.get(rootUuid);
    if (root === undefined || tree.length === 0) {
      if (place !== undefined) removed.add(rootUuid);
      fleet.byRoot.delete(rootUuid);
      continue;
    }
    const host = new Tree(root, tree);
    fleet.byRoot.set(rootUuid, host);
    if (place === undefined) {
      hosts.push(host);
      reordered = true;
    } else {
      reordered ||= hosts[place]?.name !== host.name;
      hosts[place] = host;
    }
  }
  const kept = removed.size === 0 ? hosts : hosts.filter((host) => !removed.has(host.uuid));
  if (reordered) kept.sort((a, b) => compareNames(a.name, b.name));
  return { ...fleet, version: fleet.version + 1, revision, hosts: kept, classes: classesOf(kept) };
}

/** How many instances of a shape fit on a host: exact for a host of one provider, at most this many for a tree. */
export function fitsOnHost(host: Host, shape: ReadonlyMap<string, number>): number {
  let least = Infinity;
  for (const [resourceClass, wanted] of shape) {
    let count = 0;
    for (const member of host.members) {
      const inventory = member.inventories[resourceClass];
      if (inventory !== undefined) count += fitsOn(inventory, wanted);
    }
    if (count < least) least = count;
    if (least === 0) return 0;
  }
  return least === Infinity ? 0 : least;
}
