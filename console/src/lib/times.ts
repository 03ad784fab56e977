// SPDX-License-Identifier: Apache-2.0

/** Times relative to now, and absolute. */

const STEPS: readonly (readonly [limit: number, seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [86_400, 3600, "hour"],
  [86_400 * 30, 86_400, "day"],
  [86_400 * 365, 86_400 * 30, "month"],
  [Infinity, 86_400 * 365, "year"],
];

const words = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });

/** `5 min. ago`; `just now` within two seconds. */
export function relative(then: Date, now: Date): string {
  const seconds = (then.getTime() - now.getTime()) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 2) return "just now";
  for (const [limit, size, unit] of STEPS) {
    if (distance < limit) return words.format(Math.trunc(seconds / size), unit);
  }
  return "";
}

const full = new Intl.DateTimeFormat("en-GB", {
  year: "numeric",
  month: "short",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});

/** Date and time in the viewer's time zone. */
export function absolute(then: Date): string {
  return full.format(then);
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

export function clockTime(then: Date): string {
  return clock.format(then);
}

const day = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });

export function dayOf(then: Date): string {
  return Number.isNaN(then.getTime()) ? "" : day.format(then);
}

/** Read a time of the API; it has no zone suffix in some answers and is UTC then. */
export function parseTime(text: string): Date {
  return new Date(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}
