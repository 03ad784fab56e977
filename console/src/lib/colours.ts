// SPDX-License-Identifier: Apache-2.0

/** Colours of the heat map: steps from nothing to full, and one for what is past the line. */

import type { Theme } from "./theme";

type Rgb = readonly [number, number, number];

export const STEPS = 12;
/** Index of a cell whose host has none of the class. */
export const ABSENT = -1;
/** Index of a cell past the line. */
export const OVER = STEPS;

const STOPS: Readonly<Record<Theme, Readonly<Record<"load" | "fit", readonly Rgb[]>>>> = {
  light: {
    load: [[223, 233, 233], [150, 194, 203], [59, 134, 158], [13, 73, 102], [8, 42, 66]],
    fit: [[236, 227, 214], [196, 211, 168], [116, 172, 127], [40, 120, 92], [10, 72, 62]],
  },
  dark: {
    load: [[27, 44, 55], [30, 78, 98], [42, 126, 150], [104, 190, 207], [205, 240, 242]],
    fit: [[46, 39, 33], [61, 79, 54], [70, 124, 86], [110, 178, 128], [202, 236, 196]],
  },
};

export const OVER_COLOUR: Readonly<Record<Theme, string>> = { light: "#cf3f22", dark: "#ff7553" };

function mix(stops: readonly Rgb[], share: number): Rgb {
  const place = share * (stops.length - 1);
  const low = stops[Math.floor(place)] ?? [0, 0, 0];
  const high = stops[Math.ceil(place)] ?? low;
  const part = place - Math.floor(place);
  const channel = (index: 0 | 1 | 2): number => Math.round(low[index] + (high[index] - low[index]) * part);
  return [channel(0), channel(1), channel(2)];
}

export function scaleColours(theme: Theme, scale: "load" | "fit"): string[] {
  const stops = STOPS[theme][scale];
  return Array.from({ length: STEPS }, (_, step) => `rgb(${mix(stops, step / (STEPS - 1)).join(" ")})`);
}

/** The step of a share of the capacity: the first is exactly nothing, the last exactly full. */
export function loadStep(used: number, capacity: number): number {
  if (used > capacity) return OVER;
  if (capacity <= 0) return ABSENT;
  if (used <= 0) return 0;
  if (used === capacity) return STEPS - 1;
  return 1 + Math.min(STEPS - 3, Math.floor((used / capacity) * (STEPS - 2)));
}

/** The step of a count, on a logarithmic scale up to the largest. */
export function countStep(count: number, most: number): number {
  if (count <= 0) return 0;
  if (most <= 1) return STEPS - 1;
  return 1 + Math.round((Math.log(count) / Math.log(most)) * (STEPS - 2));
}

/** The colours of text on cells. */
export const ON_DARK = "#ffffff";
export const ON_LIGHT = "#0d1b26";
const LUMINANCE_ON_LIGHT = 0.0105;

/** Relative luminance, as WCAG 2 defines it. */
function luminance([red, green, blue]: Rgb): number {
  const linear = (channel: number): number => (channel <= 10 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Whether light text has more contrast on a step than dark text. */
export function isDarkStep(theme: Theme, scale: "load" | "fit", step: number): boolean {
  const below = luminance(mix(STOPS[theme][scale], step / (STEPS - 1))) + 0.05;
  return 1.05 / below > below / (LUMINANCE_ON_LIGHT + 0.05);
}
