// SPDX-License-Identifier: Apache-2.0

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Compare names as people do: node-2 before node-10. */
export const compareNames: (a: string, b: string) => number = collator.compare;

export const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text.trim());
}

/** The first eight digits of an id, for places without room; the whole one belongs in the title. */
export function shortId(id: string): string {
  return id.length > 13 && /^[0-9a-f-]+$/i.test(id) ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}
