// SPDX-License-Identifier: Apache-2.0

/** Geometry of a load bar, in percent of its width. */

export interface BarParts {
  /** From 0: allocated, up to the line. */
  used: number;
  /** From the line: allocated beyond it. */
  over: number;
  /** Where the line stands: the capacity. */
  line: number;
  /** From the line: what is reserved, times the allocation ratio. */
  reserved: number;
}

/** The part of the width behind the line that is always there, so that the line can be seen. */
const MARGIN = 0.02;

export function barParts(load: { capacity: number; used: number; ceiling: number }): BarParts {
  const end = Math.max(load.ceiling, load.used, load.capacity) * (1 + MARGIN);
  if (end <= 0) return { used: 0, over: 0, line: 98, reserved: 0 };
  const share = (value: number): number => (Math.max(0, value) / end) * 100;
  return {
    used: share(Math.min(load.used, load.capacity)),
    over: share(load.used - load.capacity),
    line: share(load.capacity),
    reserved: share(load.ceiling - load.capacity),
  };
}
