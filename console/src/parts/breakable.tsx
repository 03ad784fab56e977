// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";

/** A name or clause that may be broken after `_`, `=`, `:` and `,`, so that it is not broken elsewhere. */
export function breakable(text: string): (string | JSX.Element)[] {
  return text.split(/(?<=[_=:,])/).flatMap((piece, place) => (place === 0 ? [piece] : [<wbr key={place} />, piece]));
}
