// SPDX-License-Identifier: Apache-2.0

/** Pages of a list, and what becomes of them when the first one is read again. */

export interface Page<T> {
  items: T[];
  next: string | null;
}

/** Put the new items of the first page before those that are there. Without an item in common, there may be others between them. */
export function merged<T>(old: Page<T>, first: Page<T>, identity: (item: T) => string): Page<T> {
  const known = new Set(old.items.map(identity));
  const fresh = first.items.filter((item) => !known.has(identity(item)));
  const meets = fresh.length < first.items.length || old.items.length === 0 || first.next === null;
  return meets ? { items: [...fresh, ...old.items], next: old.next } : first;
}
