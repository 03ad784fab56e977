// SPDX-License-Identifier: Apache-2.0

/** Layout of the heat map: cells in rows, in tiles that are drawn when they come near the window. */

export type Density = "auto" | "cells" | "names";

export interface CellSize {
  width: number;
  height: number;
  gap: number;
  /** Whether the name stands in the cell. */
  named: boolean;
  /** Whether there is also room for a figure. */
  tall: boolean;
}

export interface Grid {
  cell: CellSize;
  /** Width of the column with the name of the first host of a row; 0 without it. */
  gutter: number;
  columns: number;
  rows: number;
  height: number;
}

export interface Tile {
  firstRow: number;
  rows: number;
  top: number;
  height: number;
}

const NAMED_WIDTH = 132;
const NAMED_HEIGHT = 30;
const TALL_HEIGHT = 82;
const TALL_WIDTH = 150;
/** With at most this many hosts, a cell has its figure too. */
const TALL_COUNT = 64;
/** With at most this many hosts, names are in the cells unless the viewer wants otherwise. */
const NAMED_COUNT = 160;
/** The height that all cells together should take, for some hosts and for many. */
const WANTED_HEIGHT = 760;
const WANTED_HEIGHT_OF_MANY = 1000;
const MANY = 2500;
const SMALLEST = 8;
const LARGEST = 30;
const GUTTER = 118;
const TILE_HEIGHT = 1024;

/** The size of all cells of a map, from the number of hosts and the width. */
export function cellSize(count: number, width: number, density: Density): CellSize {
  if (density === "names" || (density === "auto" && count <= NAMED_COUNT)) {
    const tall = count <= TALL_COUNT;
    const columns = Math.max(1, Math.floor(width / (tall ? TALL_WIDTH : NAMED_WIDTH)));
    return { width: Math.floor(width / columns), height: tall ? TALL_HEIGHT : NAMED_HEIGHT, gap: 3, named: true, tall };
  }
  const side = Math.floor(Math.sqrt((Math.max(width, 1) * (count > MANY ? WANTED_HEIGHT_OF_MANY : WANTED_HEIGHT)) / Math.max(count, 1)));
  const size = Math.min(LARGEST, Math.max(SMALLEST, side));
  return { width: size, height: size, gap: size >= 14 ? 2 : 1, named: false, tall: false };
}

/** The gutter has names only if the hosts are in their order. */
export function gridOf(count: number, width: number, cell: CellSize, byName = true): Grid {
  const gutter = cell.named || width < 640 || !byName ? 0 : GUTTER;
  const columns = Math.max(1, Math.floor((width - gutter) / cell.width));
  const rows = Math.ceil(count / columns);
  return { cell, gutter, columns, rows, height: rows * cell.height };
}

export function tilesOf(grid: Grid): Tile[] {
  const each = Math.max(1, Math.floor(TILE_HEIGHT / grid.cell.height));
  const tiles: Tile[] = [];
  for (let firstRow = 0; firstRow < grid.rows; firstRow += each) {
    const rows = Math.min(each, grid.rows - firstRow);
    tiles.push({ firstRow, rows, top: firstRow * grid.cell.height, height: rows * grid.cell.height });
  }
  return tiles;
}

/** The number of the cell at a point, or null. */
export function cellAt(grid: Grid, count: number, x: number, y: number): number | null {
  const column = Math.floor((x - grid.gutter) / grid.cell.width);
  const row = Math.floor(y / grid.cell.height);
  if (column < 0 || column >= grid.columns || row < 0) return null;
  const place = row * grid.columns + column;
  return place < count ? place : null;
}

export function cellBox(grid: Grid, place: number): { x: number; y: number; width: number; height: number } {
  const column = place % grid.columns;
  const row = Math.floor(place / grid.columns);
  return {
    x: grid.gutter + column * grid.cell.width,
    y: row * grid.cell.height,
    width: grid.cell.width - grid.cell.gap,
    height: grid.cell.height - grid.cell.gap,
  };
}

/** Every how many rows a name fits in the gutter. */
export function gutterStep(cellHeight: number): number {
  return Math.max(1, Math.ceil(14 / cellHeight));
}

/** The place after an arrow key. */
export function moved(grid: Grid, count: number, place: number, key: string): number | null {
  const last = count - 1;
  switch (key) {
    case "ArrowRight":
      return Math.min(last, place + 1);
    case "ArrowLeft":
      return Math.max(0, place - 1);
    case "ArrowDown":
      return place + grid.columns <= last ? place + grid.columns : place;
    case "ArrowUp":
      return place - grid.columns >= 0 ? place - grid.columns : place;
    case "Home":
      return 0;
    case "End":
      return last;
    case "PageDown":
      return Math.min(last, place + grid.columns * 10);
    case "PageUp":
      return Math.max(0, place - grid.columns * 10);
    default:
      return null;
  }
}

/** Shorten a name in the middle; the end tells names of one sort apart. */
export function shortened(name: string, characters: number): string {
  if (name.length <= characters) return name;
  if (characters <= 3) return name.slice(-characters);
  const head = Math.floor((characters - 1) / 3);
  return `${name.slice(0, head)}…${name.slice(-(characters - 1 - head))}`;
}
