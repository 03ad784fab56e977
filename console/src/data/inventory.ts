// SPDX-License-Identifier: Apache-2.0

/** The capacity rule of the service, for inventories that arrive as changes. Tested against its numbers. */

import type { Inventory, ReportedInventory } from "../api/types";

/** The largest amount that one claim can still have; 0 if none fits. */
export function largestPiece(inventory: ReportedInventory, free: number): number {
  const { min_unit: least, max_unit: most, step_size: step } = inventory;
  const bound = Math.min(free, most);
  const fitting = Math.floor(bound / step) * step;
  return fitting >= least && fitting > 0 ? fitting : 0;
}

export function inventoryOf(reported: ReportedInventory, used: number): Inventory {
  const capacity = Math.trunc((reported.total - reported.reserved) * reported.allocation_ratio);
  const free = Math.max(0, capacity - used);
  return { ...reported, capacity, used, free, largest: largestPiece(reported, free) };
}

/** How many claims of `amount` fit on the inventory, one after the other. */
export function fitsOn(inventory: Inventory, amount: number): number {
  if (amount < inventory.min_unit || amount > inventory.max_unit || amount % inventory.step_size !== 0) return 0;
  return Math.floor(inventory.free / amount);
}
