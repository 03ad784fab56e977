// SPDX-License-Identifier: Apache-2.0

/** The hosts of one group on canvases. Tiles are drawn when they come near the window; a change redraws the changed cells only. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Host } from "../data/fleet";
import { ABSENT, isDarkStep, ON_DARK, ON_LIGHT, OVER, OVER_COLOUR, scaleColours, STEPS } from "../lib/colours";
import { cellAt, cellBox, gridOf, gutterStep, moved, shortened, tilesOf, type CellSize, type Grid, type Tile } from "../lib/layout";
import type { Theme } from "../lib/theme";

export interface Colouring {
  scale: "load" | "fit";
  /** Changes when other values are shown, so that everything is drawn again. */
  key: string;
  step: (host: Host) => number;
  /** The part of a named cell that is filled; 1 fills it. */
  share: (host: Host) => number;
  /** The figure of a cell that has room for it. */
  figure: (host: Host) => string;
  /** What stands below the figure. */
  detail: (host: Host) => string;
}

export interface Pointed {
  host: Host;
  /** The box of the cell in the window. */
  left: number;
  top: number;
  width: number;
  height: number;
  by: "mouse" | "touch" | "keyboard";
}

interface Props {
  label: string;
  hosts: Host[];
  width: number;
  cell: CellSize;
  colouring: Colouring;
  theme: Theme;
  /** Whether the hosts are in the order of their names, so that the gutter can have them. */
  byName: boolean;
  onPoint: (pointed: Pointed | null) => void;
  onOpen: (host: Host) => void;
}

interface Ink {
  steps: string[];
  over: string;
  absent: string;
  text: string;
  quiet: string;
  absentText: string;
  /** The colour of text on each step. */
  onSteps: string[];
  notch: string;
}

function inkOf(theme: Theme, scale: "load" | "fit"): Ink {
  const dark = theme === "dark";
  return {
    steps: scaleColours(theme, scale),
    over: OVER_COLOUR[theme],
    absent: dark ? "#2a3a45" : "#d3cdc0",
    text: dark ? "#e6ecef" : "#14222e",
    quiet: dark ? "#8b9ba6" : "#66747f",
    absentText: dark ? "#8b9ba6" : "#53616c",
    onSteps: Array.from({ length: STEPS }, (_, step) => (isDarkStep(theme, scale, step) ? ON_DARK : ON_LIGHT)),
    notch: dark ? "#0c151c" : "#fbfaf6",
  };
}

const NOT_DRAWN = -9;
const FIGURE_FONT = '600 20px Barlow, system-ui, sans-serif';
const FONT = '400 12px Barlow, system-ui, sans-serif';
const NAME_FONT = '600 13px Barlow, system-ui, sans-serif';

export function HeatMap(props: Props): JSX.Element {
  const { hosts, width, cell, colouring, theme, byName, label, onPoint, onOpen } = props;
  const grid = useMemo(() => gridOf(hosts.length, width, cell, byName), [hosts.length, width, cell, byName]);
  const tiles = useMemo(() => tilesOf(grid), [grid]);
  const box = useRef<HTMLDivElement>(null);
  const marker = useRef<HTMLDivElement>(null);
  const place = useRef<number | null>(null);
  const drawn = useRef(new Map<HTMLCanvasElement, Int16Array>());
  const near = useRef(new Set<HTMLCanvasElement>());

  const drawAll = useRef<() => void>(() => undefined);
  drawAll.current = () => {
    const ink = inkOf(theme, colouring.scale);
    for (const canvas of near.current) {
      const tile = tiles[Number(canvas.dataset["tile"])];
      if (tile === undefined) continue;
      let steps = drawn.current.get(canvas);
      if (steps === undefined) {
        steps = new Int16Array(tile.rows * grid.columns).fill(NOT_DRAWN);
        drawn.current.set(canvas, steps);
        fitCanvas(canvas, width, tile.height);
      }
      drawTile(canvas, tile, grid, hosts, colouring, ink, theme, steps, byName);
    }
  };

  // Another size, theme or scale: everything is drawn again.
  useLayoutEffect(() => {
    drawn.current.clear();
    drawAll.current();
  }, [grid, theme, colouring.key, byName]);

  // Other hosts or loads: only cells that look different are drawn.
  useLayoutEffect(() => {
    drawAll.current();
  }, [hosts, colouring]);

  useEffect(() => {
    const canvases = box.current?.querySelectorAll("canvas") ?? [];
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          const canvas = entry.target as HTMLCanvasElement;
          if (entry.isIntersecting) near.current.add(canvas);
          else {
            near.current.delete(canvas);
            // Far from the window: its memory is released.
            if (drawn.current.delete(canvas)) canvas.width = canvas.height = 0;
          }
        }
        drawAll.current();
      },
      { rootMargin: "800px" },
    );
    for (const canvas of canvases) observer.observe(canvas);
    const kept = near.current;
    const keptDrawn = drawn.current;
    return () => {
      observer.disconnect();
      kept.clear();
      keptDrawn.clear();
    };
  }, [tiles]);

  // The font arrives after the first drawing.
  useEffect(() => {
    let current = true;
    void document.fonts.ready.then(() => {
      if (!current) return;
      drawn.current.clear();
      drawAll.current();
    });
    return () => {
      current = false;
    };
  }, []);

  const point = (next: number | null, by: Pointed["by"]): void => {
    const outline = marker.current;
    const host = next === null ? undefined : hosts[next];
    place.current = host === undefined ? null : next;
    if (outline === null || box.current === null) return;
    if (host === undefined || next === null) {
      outline.hidden = true;
      onPoint(null);
      return;
    }
    const cellBoxed = cellBox(grid, next);
    outline.hidden = false;
    outline.style.transform = `translate(${cellBoxed.x - 2}px, ${cellBoxed.y - 2}px)`;
    outline.style.width = `${cellBoxed.width + 4}px`;
    outline.style.height = `${cellBoxed.height + 4}px`;
    const origin = box.current.getBoundingClientRect();
    onPoint({ host, left: origin.left + cellBoxed.x, top: origin.top + cellBoxed.y, width: cellBoxed.width, height: cellBoxed.height, by });
  };

  const placeOf = (event: PointerEvent | MouseEvent): number | null => {
    if (box.current === null) return null;
    const origin = box.current.getBoundingClientRect();
    return cellAt(grid, hosts.length, event.clientX - origin.left, event.clientY - origin.top);
  };

  return (
    <div
      ref={box}
      class="heatmap"
      style={{ height: `${grid.height}px` }}
      tabIndex={0}
      role="application"
      aria-roledescription="heat map"
      aria-label={`${label}: ${hosts.length} hosts. Arrow keys move, Enter opens the host.`}
      onPointerMove={(event) => {
        if (event.pointerType === "touch") return;
        const next = placeOf(event);
        if (next !== place.current) point(next, "mouse");
      }}
      onPointerLeave={(event) => {
        if (event.pointerType !== "touch") point(null, "mouse");
      }}
      onClick={(event) => {
        const next = placeOf(event);
        const host = next === null ? undefined : hosts[next];
        if (host === undefined) return;
        if ((event as unknown as PointerEvent).pointerType === "touch") point(next, "touch");
        else onOpen(host);
      }}
      onFocus={(event) => {
        if (event.currentTarget.matches(":focus-visible")) point(place.current ?? 0, "keyboard");
      }}
      onBlur={() => point(null, "keyboard")}
      onKeyDown={(event) => {
        const host = hosts[place.current ?? 0];
        if (event.key === "Enter" && host !== undefined) {
          onOpen(host);
          return;
        }
        if (event.key === "Escape") {
          point(null, "keyboard");
          return;
        }
        const next = moved(grid, hosts.length, place.current ?? 0, event.key);
        if (next === null) return;
        event.preventDefault();
        point(next, "keyboard");
        marker.current?.scrollIntoView({ block: "nearest" });
      }}
    >
      {tiles.map((tile, index) => (
        <canvas
          key={index}
          data-testid="heatmap"
          data-tile={index}
          data-hosts={hosts.length}
          aria-hidden="true"
          style={{ top: `${tile.top}px`, width: `${width}px`, height: `${tile.height}px` }}
        />
      ))}
      <div ref={marker} class="heatmap-marker" hidden />
    </div>
  );
}

function fitCanvas(canvas: HTMLCanvasElement, width: number, height: number): void {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
}

/** A number that stands for everything that is visible of a cell. */
function lookOf(step: number, share: number, named: boolean, disabled: boolean): number {
  return (named ? Math.round(share * 100) * 64 : 0) + (step + 2) * 2 + (disabled ? 1 : 0);
}

function drawTile(
  canvas: HTMLCanvasElement,
  tile: Tile,
  grid: Grid,
  hosts: readonly Host[],
  colouring: Colouring,
  ink: Ink,
  theme: Theme,
  looks: Int16Array,
  byName: boolean,
): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const first = tile.firstRow * grid.columns;
  const last = Math.min(hosts.length, first + tile.rows * grid.columns);
  const { cell, gutter, columns } = grid;
  const width = cell.width - cell.gap;
  const height = cell.height - cell.gap;
  context.font = FONT;
  context.textBaseline = "middle";
  if (gutter > 0 && looks[0] === NOT_DRAWN && byName) {
    context.fillStyle = ink.quiet;
    const every = gutterStep(cell.height);
    const characters = Math.floor((gutter - 14) / 6);
    // The same rows as if there were one tile: names of two tiles do not touch.
    for (let row = (every - (tile.firstRow % every)) % every; row < tile.rows; row += every) {
      const host = hosts[first + row * columns];
      if (host !== undefined) context.fillText(shortened(host.name, characters), 0, Math.max(7, row * cell.height + height / 2));
    }
  }
  for (let place = first; place < last; place += 1) {
    const host = hosts[place];
    if (host === undefined) continue;
    const step = colouring.step(host);
    const share = cell.named ? colouring.share(host) : 1;
    const disabled = host.disabled;
    const look = lookOf(step, share, cell.named, disabled);
    if (looks[place - first] === look) continue;
    looks[place - first] = look;
    const x = gutter + (place % columns) * cell.width;
    const y = (Math.floor(place / columns) - tile.firstRow) * cell.height;
    context.clearRect(x, y, cell.width, cell.height);
    if (cell.named) drawNamed(context, host, x, y, width, height, step, share, cell.tall ? [colouring.figure(host), colouring.detail(host)] : null, ink, theme);
    else drawCell(context, x, y, width, height, step, ink);
    if (disabled) drawNotch(context, x, y, width, height, ink);
  }
}

function drawCell(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, step: number, ink: Ink): void {
  if (step === ABSENT) {
    // Nothing of this class: a dot in an empty cell.
    const side = Math.max(2, Math.round(width / 4));
    context.fillStyle = ink.absent;
    context.fillRect(x + Math.floor((width - side) / 2), y + Math.floor((height - side) / 2), side, side);
    return;
  }
  context.fillStyle = step === OVER ? ink.over : (ink.steps[step] ?? ink.absent);
  context.fillRect(x, y, width, height);
}

function drawNamed(
  context: CanvasRenderingContext2D,
  host: Host,
  x: number,
  y: number,
  width: number,
  height: number,
  step: number,
  share: number,
  figures: readonly [figure: string, detail: string] | null,
  ink: Ink,
  theme: Theme,
): void {
  context.fillStyle = step === ABSENT ? ink.absent : step === OVER ? ink.over : (ink.steps[step] ?? ink.absent);
  context.globalAlpha = step === ABSENT ? 0.35 : 1;
  context.beginPath();
  context.roundRect(x, y, width, height, 3);
  context.fill();
  context.globalAlpha = 1;
  context.fillStyle = step === ABSENT ? ink.absentText : (ink.onSteps[step] ?? (theme === "light" ? ON_DARK : ON_LIGHT));
  if (step !== ABSENT && share > 0) {
    context.globalAlpha = 0.55;
    context.fillRect(x + 8, y + height - 6, (width - 16) * Math.min(1, share), 2);
    context.globalAlpha = 1;
  }
  const name = shortened(host.name, Math.floor((width - 16) / 6.6));
  if (figures === null) {
    context.fillText(name, x + 8, y + height / 2 - 1);
    return;
  }
  const [figure, detail] = figures;
  context.font = NAME_FONT;
  context.fillText(name, x + 8, y + 15);
  context.font = FIGURE_FONT;
  context.fillText(figure, x + 8, y + 38);
  context.font = FONT;
  context.fillText(detail, x + 8, y + 59, width - 16);
}

/** The compute service is disabled: a corner is cut off. A line at the cut shows it also on a pale cell. */
function drawNotch(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, ink: Ink): void {
  const side = Math.max(3, Math.round(Math.min(width, height) * 0.55));
  context.fillStyle = ink.notch;
  context.beginPath();
  context.moveTo(x + width + 0.5, y - 0.5);
  context.lineTo(x + width + 0.5, y + side);
  context.lineTo(x + width - side, y - 0.5);
  context.fill();
  context.strokeStyle = ink.quiet;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x + width, y + side + 0.5);
  context.lineTo(x + width - side - 0.5, y);
  context.stroke();
}
