// SPDX-License-Identifier: Apache-2.0

/** What a typed text can mean: providers, traits, classes, aggregates, projects, a consumer, a request id. */

import type { Fleet } from "../data/fleet";
import { isUuid } from "./names";
import { consumerPath, projectPath, providerPath } from "./paths";

export interface Hit {
  kind: string;
  label: string;
  detail: string;
  to: string;
}

const EACH = 6;

function rank(name: string, wanted: string): number {
  const lower = name.toLowerCase();
  if (lower === wanted) return 0;
  if (lower.startsWith(wanted)) return 1;
  return lower.includes(wanted) ? 2 : 3;
}

/** The names that contain a text: the equal one first, then those that are in use, then those that begin with it. */
export function bestNames(names: Iterable<string>, text: string, most: number, inUse: (name: string) => boolean = () => true): string[] {
  const wanted = text.toLowerCase();
  const found: [number, string][] = [];
  for (const name of names) {
    const place = rank(name, wanted);
    if (place < 3) found.push([place === 0 || inUse(name) ? place : place + 3, name]);
  }
  found.sort(([a, nameA], [b, nameB]) => a - b || nameA.length - nameB.length || (nameA < nameB ? -1 : 1));
  return found.slice(0, most).map(([, name]) => name);
}

export function searchHits(text: string, fleet: Fleet | null, projects: readonly string[]): Hit[] {
  const wanted = text.trim();
  if (wanted === "") return [];
  const hits: Hit[] = [];
  if (/^req-/i.test(wanted)) {
    hits.push({ kind: "Request", label: wanted, detail: "why it found no host", to: `/unplaced?request_id=${encodeURIComponent(wanted)}` });
    hits.push({ kind: "Request", label: wanted, detail: "what it changed", to: `/history?request_id=${encodeURIComponent(wanted)}` });
  }
  if (fleet !== null) hits.push(...fleetHits(wanted, fleet));
  for (const id of bestNames(projects, wanted, EACH)) {
    hits.push({ kind: "Project", label: id, detail: "what it holds", to: projectPath(id) });
  }
  if (isUuid(wanted) && !hits.some((hit) => hit.kind === "Provider")) {
    hits.push({ kind: "Consumer", label: wanted, detail: "what it holds and where", to: consumerPath(wanted) });
  }
  return hits;
}

function fleetHits(wanted: string, fleet: Fleet): Hit[] {
  const hits: Hit[] = [];
  const lower = wanted.toLowerCase();
  const found: [number, Hit][] = [];
  for (const provider of fleet.providers.values()) {
    const place = provider.uuid.startsWith(lower) ? 0 : rank(provider.name, lower);
    if (place === 3) continue;
    const root = provider.parent === null ? undefined : fleet.providers.get(provider.root);
    const detail = root === undefined ? "" : `in ${root.name}`;
    found.push([place, { kind: "Provider", label: provider.name, detail, to: providerPath(provider.uuid) }]);
  }
  found.sort(([a, hitA], [b, hitB]) => a - b || hitA.label.length - hitB.label.length || (hitA.label < hitB.label ? -1 : 1));
  hits.push(...found.slice(0, EACH).map(([, hit]) => hit));
  const traits = new Set<string>();
  const aggregates = new Set<string>();
  for (const host of fleet.hosts) {
    for (const name of host.traits) traits.add(name);
    for (const uuid of host.aggregates) aggregates.add(uuid);
  }
  for (const name of bestNames(fleet.classes, wanted, EACH)) {
    hits.push({ kind: "Class", label: name, detail: "colour the map by it", to: `/?colour=${encodeURIComponent(name)}` });
  }
  for (const name of bestNames(traits, wanted, EACH)) {
    hits.push({ kind: "Trait", label: name, detail: "find hosts with it", to: `/find?resources=VCPU:1&required=${name}` });
  }
  for (const uuid of bestNames(aggregates, wanted, EACH)) {
    hits.push({ kind: "Aggregate", label: uuid, detail: "find hosts in it", to: `/find?resources=VCPU:1&member_of=${uuid}` });
  }
  return hits;
}
