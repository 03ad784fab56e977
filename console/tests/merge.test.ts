// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { merged } from "../src/lib/merge";

const same = (item: number): string => String(item);

describe("the first page, read again", () => {
  it("puts new items before those that are there, and keeps how far was read", () => {
    expect(merged({ items: [5, 4, 3, 2], next: "2" }, { items: [7, 6, 5], next: "5" }, same)).toEqual({ items: [7, 6, 5, 4, 3, 2], next: "2" });
    expect(merged({ items: [], next: "2" }, { items: [7], next: "7" }, same)).toEqual({ items: [7], next: "2" });
  });

  it("replaces all if there may be items between", () => {
    expect(merged({ items: [2, 1], next: null }, { items: [9, 8, 7], next: "7" }, same)).toEqual({ items: [9, 8, 7], next: "7" });
    expect(merged({ items: [2, 1], next: null }, { items: [9, 8], next: null }, same)).toEqual({ items: [9, 8, 2, 1], next: null });
  });
});
