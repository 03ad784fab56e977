// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import { withUnits } from "../lib/words";

/** A sentence of the service with people's units; its own words are shown on hover. */
export function Words({ text }: { text: string }): JSX.Element {
  const shown = withUnits(text);
  return shown === text ? <>{text}</> : <span title={text}>{shown}</span>;
}
