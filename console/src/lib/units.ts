// SPDX-License-Identifier: Apache-2.0

/** Amounts of resource classes in the units that people use. The raw value is always shown beside, on hover. */

type Kind = "mebibytes" | "gibibytes" | "cores" | "kilobits" | "count";

const KINDS: Readonly<Record<string, Kind>> = {
  MEMORY_MB: "mebibytes",
  MEM_ENCRYPTION_CONTEXT: "count",
  DISK_GB: "gibibytes",
  VCPU: "cores",
  PCPU: "cores",
  NET_BW_EGR_KILOBIT_PER_SEC: "kilobits",
  NET_BW_IGR_KILOBIT_PER_SEC: "kilobits",
};

function kindOf(resourceClass: string): Kind {
  const known = KINDS[resourceClass];
  if (known !== undefined) return known;
  if (/_MB$/.test(resourceClass)) return "mebibytes";
  if (/_GB$/.test(resourceClass)) return "gibibytes";
  return "count";
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const oneDigit = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const twoDigits = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** A number with separators of thousands. */
export function number(value: number): string {
  return whole.format(value);
}

/** Three significant digits at least, no trailing zeros: 1.5, 12.3, 128, 1,024. */
function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return whole.format(value);
  return (size >= 10 ? oneDigit : twoDigits).format(value);
}

function scaled(value: number, units: readonly string[], step: number): string {
  let scaledValue = value;
  let place = 0;
  while (Math.abs(scaledValue) >= step && place < units.length - 1) {
    scaledValue /= step;
    place += 1;
  }
  return `${short(scaledValue)} ${units[place] ?? ""}`;
}

/** An amount of a resource class as text: `128 GiB`, `64 cores`, `3`. */
export function amount(resourceClass: string, value: number): string {
  switch (kindOf(resourceClass)) {
    case "mebibytes":
      return scaled(value, ["MiB", "GiB", "TiB", "PiB"], 1024);
    case "gibibytes":
      return scaled(value, ["GiB", "TiB", "PiB"], 1024);
    case "kilobits":
      return scaled(value, ["kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"], 1000);
    case "cores":
      return `${short(value)} ${value === 1 ? "core" : "cores"}`;
    case "count":
      return number(value);
  }
}

/** The value as the API has it, with its class: shown on hover. */
export function raw(resourceClass: string, value: number): string {
  return `${resourceClass} ${String(value)}`;
}

/** An amount with the value of the API behind it, if that has another number: `64 GiB (65536)`. Two values never look equal. */
export function exactAmount(resourceClass: string, value: number): string {
  const text = amount(resourceClass, value);
  return text.split(" ")[0]?.replaceAll(",", "") === String(value) ? text : `${text} (${value})`;
}

/** A share in percent: whole numbers, but never 100 % for something that is not full, nor 0 % for something in use. */
export function percent(part: number, of: number): string {
  if (of <= 0) return part > 0 ? "over" : "–";
  const share = (part / of) * 100;
  if (share > 0 && share < 1) return "<1 %";
  if (share > 99 && share < 100) return "99 %";
  return `${whole.format(Math.round(share))} %`;
}

const FACTORS: Readonly<Record<string, number>> = { m: 1, g: 1024, t: 1024 ** 2, p: 1024 ** 3 };
const KILOBIT_FACTORS: Readonly<Record<string, number>> = { k: 1, m: 1000, g: 1e6, t: 1e9 };

/** Read what a person types for an amount: `16`, `16 GiB`, `1.5t`. Null if it is no positive whole amount of the class. */
export function parseAmount(resourceClass: string, text: string): number | null {
  const match = /^\s*(\d+(?:[.,]\d+)?)\s*([a-z/]*)\s*$/i.exec(text);
  if (!match) return null;
  const value = Number((match[1] ?? "").replace(",", "."));
  const unit = (match[2] ?? "").toLowerCase();
  let factor = 1;
  if (unit !== "") {
    const kind = kindOf(resourceClass);
    if (kind === "mebibytes" && /^[mgtp](i?b)?$/.test(unit)) factor = FACTORS[unit.charAt(0)] ?? NaN;
    else if (kind === "gibibytes" && /^[gtp](i?b)?$/.test(unit)) factor = (FACTORS[unit.charAt(0)] ?? NaN) / 1024;
    else if (kind === "kilobits" && /^[kmgt](bit(\/s)?)?$/.test(unit)) factor = KILOBIT_FACTORS[unit.charAt(0)] ?? NaN;
    else if (kind === "cores" && /^cores?$/.test(unit)) factor = 1;
    else return null;
  }
  const result = Math.round(value * factor);
  return result >= 1 && Number.isSafeInteger(result) ? result : null;
}

const ORDER = ["VCPU", "PCPU", "MEMORY_MB", "DISK_GB", "PGPU", "VGPU", "SRIOV_NET_VF"];

/** Compare resource classes: those that every cloud has first, then by name. */
export function compareClasses(a: string, b: string): number {
  const placeA = ORDER.indexOf(a);
  const placeB = ORDER.indexOf(b);
  if (placeA !== placeB) return (placeA < 0 ? ORDER.length : placeA) - (placeB < 0 ? ORDER.length : placeB);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `1 host`, `2 hosts`, `10,000 hosts`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}
