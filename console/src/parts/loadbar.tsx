// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import { barParts } from "../lib/bar";
import { amount, percent } from "../lib/units";

export interface BarLoad {
  capacity: number;
  used: number;
  ceiling: number;
  reserved?: number;
}

/** Allocated, free and reserved of a class, with a line at the capacity. `part` of what is allocated is marked, from the left. */
export function LoadBar({ of, load, size = "small", part = 0 }: { of: string; load: BarLoad; size?: "small" | "large"; part?: number }): JSX.Element {
  const parts = barParts(load);
  const text =
    `${of}: ${percent(load.used, load.capacity)} allocated, ` +
    `${amount(of, load.used)} of ${amount(of, load.capacity)} (${load.used} of ${load.capacity})` +
    (load.used > load.capacity ? ", over-full" : "");
  return (
    <span class={`loadbar ${size}`} role="img" aria-label={text} title={text}>
      <span class="loadbar-track">
        <span class="loadbar-used" style={{ width: `${parts.used}%` }} />
        {part > 0 && load.used > 0 ? <span class="loadbar-part" style={{ width: `${parts.used * Math.min(1, part / load.used)}%` }} /> : null}
        {parts.reserved > 0 ? (
          <span class="loadbar-reserved" style={{ left: `${parts.line}%`, width: `${parts.reserved}%` }} />
        ) : null}
        {parts.over > 0 ? <span class="loadbar-over" style={{ left: `${parts.line}%`, width: `${parts.over}%` }} /> : null}
      </span>
      <span class="loadbar-line" style={{ left: `${parts.line}%` }} />
    </span>
  );
}
