// SPDX-License-Identifier: Apache-2.0

import { parseAmount } from "./units";

const CLASS = /^[A-Z0-9_]{1,255}$/;

/** Read a shape: classes with amounts, `VCPU:4, MEMORY_MB:16 GiB`. Null if something of it cannot be read. */
export function parseShape(text: string): Map<string, number> | null {
  const shape = new Map<string, number>();
  for (const part of text.split(/[,\n]/)) {
    if (part.trim() === "") continue;
    const [name = "", ...rest] = part.split(/[:=]/);
    const resourceClass = name.trim().toUpperCase();
    const value = parseAmount(resourceClass, rest.join(":"));
    if (!CLASS.test(resourceClass) || value === null || shape.has(resourceClass)) return null;
    shape.set(resourceClass, value);
  }
  return shape.size > 0 ? shape : null;
}

/** A shape as the API takes it. */
export function shapeText(shape: ReadonlyMap<string, number>): string {
  return [...shape].map(([name, value]) => `${name}:${value}`).join(",");
}
