// SPDX-License-Identifier: Apache-2.0

/** What an operator looks for in a fleet: over-full, nearly full, empty and fragmented hosts, stranded amounts. */

import type { Fleet, Host } from "./fleet";

export interface Finding {
  host: Host;
  resourceClass: string;
  /** For the order of the list, and drawn as a bar: allocated over capacity, or the largest piece over that of the empty host. */
  share: number;
}

export interface Findings {
  overFull: Finding[];
  nearlyFull: Finding[];
  empty: Host[];
  fragmented: Finding[];
  /** Free amounts on hosts on which another class is used up, by class. */
  stranded: Map<string, number>;
}

const NEARLY = 0.9;

export function findingsOf(fleet: Fleet): Findings {
  const overFull: Finding[] = [];
  const nearlyFull: Finding[] = [];
  const fragmented: Finding[] = [];
  const empty: Host[] = [];
  const stranded = new Map<string, number>();
  for (const host of fleet.hosts) {
    let used = false;
    let nearest: Finding | null = null;
    let over: Finding | null = null;
    let usedUp = 0;
    let usedUpClass = "";
    for (const [resourceClass, load] of host.load) {
      if (load.used > 0) used = true;
      if (load.used > 0 && load.largest === 0) {
        usedUp += 1;
        usedUpClass = resourceClass;
      }
      const share = load.capacity > 0 ? load.used / load.capacity : load.used > 0 ? Infinity : 0;
      if (load.overfull > 0) {
        if (over === null || share > over.share) over = { host, resourceClass, share };
      } else if (share >= NEARLY && (nearest === null || share > nearest.share)) {
        nearest = { host, resourceClass, share };
      }
      // What is free would be enough for the largest piece of the empty host, but it is on several providers.
      if (load.piece > 0 && load.free >= load.piece && load.largest < load.piece) {
        fragmented.push({ host, resourceClass, share: load.largest / load.piece });
      }
    }
    if (usedUp > 0) {
      for (const [resourceClass, load] of host.load) {
        if (usedUp > 1 || resourceClass !== usedUpClass) {
          stranded.set(resourceClass, (stranded.get(resourceClass) ?? 0) + load.free);
        }
      }
    }
    if (over !== null) overFull.push(over);
    else if (nearest !== null) nearlyFull.push(nearest);
    if (!used && host.load.size > 0) empty.push(host);
  }
  overFull.sort((a, b) => b.share - a.share);
  nearlyFull.sort((a, b) => b.share - a.share);
  fragmented.sort((a, b) => a.share - b.share);
  return { overFull, nearlyFull, empty, fragmented, stranded };
}
