// SPDX-License-Identifier: Apache-2.0

import type { Change, Provider, ReportedInventory } from "../src/api/types";
import { inventoryOf } from "../src/data/inventory";

export function reported(total: number, more: Partial<ReportedInventory> = {}): ReportedInventory {
  return { total, reserved: 0, min_unit: 1, max_unit: 2147483647, step_size: 1, allocation_ratio: 1, ...more };
}

export function provider(
  uuid: string,
  inventories: Record<string, readonly [ReportedInventory, used: number]> = {},
  more: Partial<Provider> = {},
): Provider {
  return {
    uuid,
    name: uuid,
    generation: 1,
    root: uuid,
    parent: null,
    traits: [],
    aggregates: [],
    updated_at: null,
    ...more,
    inventories: Object.fromEntries(
      Object.entries(inventories).map(([name, [inventory, used]]) => [name, inventoryOf(inventory, used)]),
    ),
  };
}

export function change(number: number, more: Partial<Change>): Change {
  return {
    revision: `e:${number}`,
    time: "2026-11-18T12:00:00Z",
    request_id: null,
    global_request_id: null,
    user: null,
    project: null,
    operation: "allocations.claim",
    reload: false,
    providers: [],
    consumers: [],
    names: [],
    ...more,
  };
}
