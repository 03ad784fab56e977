// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import type { Verdict as Value } from "../api/types";

const TEXTS: Readonly<Record<Value, readonly [label: string, about: string]>> = {
  found: ["found", "There are candidates."],
  "not now": ["not now", "There would be candidates if nothing were allocated."],
  never: ["never", "There would be no candidates in an empty cloud either."],
  unknown: ["unknown", "The reason was not found out in time."],
};

export function Verdict({ verdict }: { verdict: Value }): JSX.Element {
  const [label, about] = TEXTS[verdict];
  return (
    <span class={`verdict ${verdict.replace(" ", "-")}`} title={about}>
      {label}
    </span>
  );
}
