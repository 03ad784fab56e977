// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import { amount, compareClasses, raw } from "../lib/units";

/** Amounts of several classes in one line. A unit makes the class plain for cores, memory and disk; others are named. */
export function Resources({ resources }: { resources: Readonly<Record<string, number>> }): JSX.Element {
  const names = Object.keys(resources).sort(compareClasses);
  return (
    <span class="resources">
      {names.map((name) => (
        <span key={name} class="resource" data-class={name} data-raw={resources[name] ?? 0} title={raw(name, resources[name] ?? 0)}>
          {amount(name, resources[name] ?? 0)}
          {PLAIN.has(name) ? "" : ` ${name}`}
          {name === "DISK_GB" ? " disk" : ""}
        </span>
      ))}
    </span>
  );
}

const PLAIN = new Set(["VCPU", "MEMORY_MB", "DISK_GB"]);
