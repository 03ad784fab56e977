// SPDX-License-Identifier: Apache-2.0

/** Sentences of the service with amounts in the units that people use: `MEMORY_MB (8192 wanted` becomes `MEMORY_MB (8 GiB wanted`. */

import { amount, number } from "./units";

const CLASS = "[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*";
const AFTER = new RegExp(`\\b(${CLASS})(: | \\()([^;)]*(?:\\([^)]*\\)[^;)]*)?)`, "g");
const BELOW = new RegExp(`\\bbelow (\\d+) for (${CLASS}) \\(at most (\\d+)`, "g");
const CHANGED = new RegExp(`\\b(${CLASS}) (\\d+) to (\\d+)`, "g");

export function withUnits(sentence: string): string {
  return sentence
    .replace(BELOW, (_, below: string, name: string, most: string) => `below ${amount(name, Number(below))} for ${name} (at most ${amount(name, Number(most))}`)
    .replace(CHANGED, (_, name: string, from: string, to: string) => `${name} ${amount(name, Number(from))} to ${amount(name, Number(to))}`)
    .replace(AFTER, (whole, name: string, mark: string, rest: string) => {
      if (!/wanted|capacity/.test(rest)) return whole;
      const shown = rest.replace(/(?<![\w.]|ratio )\d+(?![\w.]| [kMGTP]i?[Bb]| cores?\b)/g, (digits) => amount(name, Number(digits)));
      return `${name}${mark}${shown}`;
    })
    .replace(/\b\d{4,}(?= (?:hosts|others|are|have|lack|meet|fail)\b)/g, (digits) => number(Number(digits)));
}
