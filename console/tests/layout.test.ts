// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { barParts } from "../src/lib/bar";
import { ABSENT, countStep, isDarkStep, loadStep, OVER, STEPS } from "../src/lib/colours";
import { cellAt, cellBox, cellSize, gridOf, moved, shortened, tilesOf } from "../src/lib/layout";

describe("the heat map", () => {
  it("has names in the cells of a small cloud, and squares for a large one", () => {
    expect(cellSize(20, 900, "auto").named).toBe(true);
    expect(cellSize(10_000, 900, "auto").named).toBe(false);
    expect(cellSize(10_000, 900, "names").named).toBe(true);
    expect(cellSize(20, 900, "cells").named).toBe(false);
  });

  it.each([1, 20, 999, 10_000])("places each of %i hosts once, and finds it again", (count) => {
    for (const width of [340, 1100, 2400]) {
      const grid = gridOf(count, width, cellSize(count, width, "auto"));
      const places = new Set<number>();
      for (let place = 0; place < count; place += 1) {
        const box = cellBox(grid, place);
        expect(box.x + box.width).toBeLessThanOrEqual(width);
        const found = cellAt(grid, count, box.x + 1, box.y + 1);
        if (found !== null) places.add(found);
      }
      expect(places.size).toBe(count);
      expect(tilesOf(grid).reduce((rows, tile) => rows + tile.rows, 0)).toBe(grid.rows);
    }
  });

  it("has nothing beside the cells", () => {
    const grid = gridOf(10, 700, cellSize(10, 700, "cells"));
    expect(cellAt(grid, 10, 2, 2)).toBeNull();
    expect(cellAt(grid, 10, 690, grid.height + 5)).toBeNull();
  });

  it("is walked with the arrow keys, and not left", () => {
    const grid = gridOf(10, 120, { width: 30, height: 30, gap: 2, named: false, tall: false });
    expect(grid.columns).toBe(4);
    expect(moved(grid, 10, 0, "ArrowDown")).toBe(4);
    expect(moved(grid, 10, 7, "ArrowDown")).toBe(7);
    expect(moved(grid, 10, 0, "ArrowUp")).toBe(0);
    expect(moved(grid, 10, 9, "ArrowRight")).toBe(9);
    expect(moved(grid, 10, 3, "x")).toBeNull();
  });

  it("shortens names so that their ends stay", () => {
    expect(shortened("compute-rack12-0042", 12)).toBe("com…k12-0042");
    expect(shortened("short", 12)).toBe("short");
  });

  it("has light text on the dark steps of each scale only", () => {
    expect([isDarkStep("light", "load", 0), isDarkStep("light", "load", 6), isDarkStep("dark", "load", 11)]).toEqual([false, true, false]);
    expect([isDarkStep("light", "fit", 6), isDarkStep("light", "fit", 8), isDarkStep("dark", "fit", 6)]).toEqual([false, true, true]);
  });

  it("colours exactly empty, exactly full and over-full apart", () => {
    expect(loadStep(0, 100)).toBe(0);
    expect(loadStep(1, 100)).toBe(1);
    expect(loadStep(99, 100)).toBe(STEPS - 2);
    expect(loadStep(100, 100)).toBe(STEPS - 1);
    expect(loadStep(101, 100)).toBe(OVER);
    expect(loadStep(0, 0)).toBe(ABSENT);
    expect(countStep(0, 40)).toBe(0);
    expect(countStep(1, 40)).toBe(1);
    expect(countStep(40, 40)).toBe(STEPS - 1);
  });
});

describe("a load bar", () => {
  it("has its line before what is reserved", () => {
    const parts = barParts({ capacity: 80, used: 40, ceiling: 100 });
    expect(parts.used).toBeCloseTo(39.2, 1);
    expect(parts.line).toBeCloseTo(78.4, 1);
    expect(parts.reserved).toBeCloseTo(19.6, 1);
    expect(parts.over).toBe(0);
  });

  it("shows a load past the line behind it", () => {
    const parts = barParts({ capacity: 32, used: 40, ceiling: 32 });
    expect(parts.used).toBe(parts.line);
    expect(parts.over).toBeCloseTo((8 / 40.8) * 100, 5);
  });

  it("of nothing is empty", () => {
    expect(barParts({ capacity: 0, used: 0, ceiling: 0 })).toEqual({ used: 0, over: 0, line: 98, reserved: 0 });
  });
});
