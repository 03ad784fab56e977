// SPDX-License-Identifier: Apache-2.0

/** Hosts grouped by aggregate or trait: a host is in each group of any of its providers, with its whole tree. */

import { compareNames } from "../lib/names";
import { SHARES, sumOf, type Fleet, type Host, type Load } from "./fleet";

export type GroupBy = "nothing" | "aggregate" | "trait";

export interface HostGroup {
  /** The aggregate or the trait; null for the hosts without any, or for all. */
  key: string | null;
  hosts: Host[];
  /** The sums of the group; empty for the group of all hosts, whose sums are those of the fleet. */
  load: Load;
}

export interface Grouping {
  groups: HostGroup[];
  /** Groups that are not shown: the most are. */
  more: number;
  /** Traits that every host has: a group of all hosts says nothing. */
  onAll: string[];
}

export const MOST_GROUPS = 60;

export function groupHosts(fleet: Fleet, by: GroupBy): Grouping {
  if (by === "nothing") {
    return { groups: [{ key: null, hosts: fleet.hosts, load: new Map() }], more: 0, onAll: [] };
  }
  const groups = new Map<string, Host[]>();
  const without: Host[] = [];
  for (const host of fleet.hosts) {
    const names = by === "aggregate" ? host.aggregates : host.traits;
    if (names.size === 0) without.push(host);
    for (const name of names) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [host]);
      else group.push(host);
    }
  }
  const onAll: string[] = [];
  if (by === "trait") {
    for (const [name, hosts] of groups) {
      if (hosts.length === fleet.hosts.length && hosts.length > 1) onAll.push(name);
    }
    for (const name of onAll) groups.delete(name);
  }
  const sharing = by === "aggregate" ? sharingNames(fleet) : new Map<string, string>();
  const place = (name: string, hosts: readonly Host[]): string => sharing.get(name) ?? hosts[0]?.name ?? "";
  // Aggregates of storage in the order of its names, racks in that of their hosts; the largest groups last, as they are mostly zones
  // that contain the others.
  const ordered = [...groups].sort(
    ([nameA, a], [nameB, b]) =>
      (by === "trait" ? (nameA < nameB ? -1 : 1) : sizeClass(a.length) - sizeClass(b.length)) || compareNames(place(nameA, a), place(nameB, b)),
  );
  const shown = ordered.slice(0, MOST_GROUPS).map(([key, hosts]): HostGroup => ({ key, hosts, load: sumOf(hosts) }));
  if (without.length > 0) shown.push({ key: null, hosts: without, load: sumOf(without) });
  return { groups: shown, more: Math.max(0, ordered.length - MOST_GROUPS), onAll: onAll.sort() };
}

/** Of each aggregate with a provider that shares with it, the name of that provider. */
function sharingNames(fleet: Fleet): Map<string, string> {
  const names = new Map<string, string>();
  for (const { members } of fleet.hosts) {
    for (const { name, traits, aggregates } of members) {
      if (aggregates.length === 0 || !traits.includes(SHARES)) continue;
      for (const aggregate of aggregates) if (!names.has(aggregate)) names.set(aggregate, name);
    }
  }
  return names;
}

function sizeClass(size: number): number {
  return Math.round(Math.log(size + 1) / Math.log(4));
}

/** A name for an aggregate, which has none in Placement: the provider that shares with it, or what all its hosts begin with. */
export function aggregateName(hosts: readonly Host[], aggregate: string): string | null {
  for (const host of hosts) {
    const sharing = host.members.find((member) => member.traits.includes(SHARES) && member.aggregates.includes(aggregate));
    if (sharing !== undefined && hosts.length > 1) return `Hosts with ${sharing.name}`;
  }
  const [first, last] = [hosts[0]?.name ?? "", hosts.at(-1)?.name ?? ""];
  let length = 0;
  while (length < Math.min(first.length, last.length) && first[length] === last[length]) length += 1;
  const common = first.slice(0, length).replace(/[^A-Za-z0-9]*\d*$/, "");
  return hosts.length > 1 && common.length >= 3 && hosts.every(({ name }) => name.startsWith(common)) ? `${common}…` : null;
}
