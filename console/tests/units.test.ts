// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { parseShape, shapeText } from "../src/lib/shape";
import { absolute, parseTime, relative } from "../src/lib/times";
import { amount, compareClasses, exactAmount, parseAmount, percent, plural } from "../src/lib/units";

describe("amounts", () => {
  it("have the unit that people use", () => {
    expect(amount("MEMORY_MB", 131072)).toBe("128 GiB");
    expect(amount("MEMORY_MB", 512)).toBe("512 MiB");
    expect(amount("MEMORY_MB", 1536)).toBe("1.5 GiB");
    expect(amount("DISK_GB", 2048)).toBe("2 TiB");
    expect(amount("VCPU", 1)).toBe("1 core");
    expect(amount("PCPU", 64)).toBe("64 cores");
    expect(amount("NET_BW_EGR_KILOBIT_PER_SEC", 25_000_000)).toBe("25 Gbit/s");
    expect(amount("PGPU", 12_345)).toBe("12,345");
    expect(amount("CUSTOM_CACHE_MB", 2048)).toBe("2 GiB");
  });

  it("before and after a change have their raw value", () => {
    expect(exactAmount("MEMORY_MB", 65536)).toBe("64 GiB (65536)");
    expect(exactAmount("MEMORY_MB", 512)).toBe("512 MiB");
    expect(exactAmount("VCPU", 1024)).toBe("1,024 cores");
  });

  it("are read in these units again", () => {
    expect(parseAmount("MEMORY_MB", "16 GiB")).toBe(16384);
    expect(parseAmount("MEMORY_MB", "1.5g")).toBe(1536);
    expect(parseAmount("DISK_GB", "2t")).toBe(2048);
    expect(parseAmount("VCPU", "4 cores")).toBe(4);
    expect(parseAmount("NET_BW_EGR_KILOBIT_PER_SEC", "10 Gbit/s")).toBe(10_000_000);
    expect(parseAmount("PGPU", "2")).toBe(2);
  });

  it("that cannot be meant are refused", () => {
    for (const text of ["", "0", "-4", "4 GiB", "four", "1e9"]) expect(parseAmount("VCPU", text)).toBeNull();
    expect(parseAmount("MEMORY_MB", "4 cores")).toBeNull();
  });

  it("as shares never round to full or to nothing", () => {
    expect(percent(999, 1000)).toBe("99 %");
    expect(percent(1, 1000)).toBe("<1 %");
    expect(percent(0, 1000)).toBe("0 %");
    expect(percent(1000, 1000)).toBe("100 %");
    expect(percent(40, 32)).toBe("125 %");
    expect(percent(0, 0)).toBe("–");
  });

  it("of known classes come first", () => {
    expect(["CUSTOM_A", "DISK_GB", "PGPU", "MEMORY_MB", "VCPU"].sort(compareClasses)).toEqual([
      "VCPU",
      "MEMORY_MB",
      "DISK_GB",
      "PGPU",
      "CUSTOM_A",
    ]);
  });

  it("are counted in the right number", () => {
    expect(plural(1, "host")).toBe("1 host");
    expect(plural(10_000, "host")).toBe("10,000 hosts");
    expect(plural(2, "search", "searches")).toBe("2 searches");
  });
});

describe("a shape", () => {
  it("is read with units, and written for the API", () => {
    const shape = parseShape("vcpu:4, MEMORY_MB: 16 GiB");
    expect(shape === null ? null : shapeText(shape)).toBe("VCPU:4,MEMORY_MB:16384");
  });

  it("with an error is refused as a whole", () => {
    for (const text of ["", "VCPU", "VCPU:0", "VCPU:1,VCPU:2", "VCPU:1;rm", "<b>:1"]) expect(parseShape(text)).toBeNull();
  });
});

describe("times", () => {
  const now = new Date("2026-11-18T12:00:00Z");

  it("are relative to now", () => {
    expect(relative(new Date("2026-11-18T11:59:59Z"), now)).toBe("just now");
    expect(relative(new Date("2026-11-18T11:55:00Z"), now)).toBe("5 min. ago");
    expect(relative(new Date("2026-11-15T11:00:00Z"), now)).toBe("3 days ago");
  });

  it("without a zone are UTC", () => {
    expect(parseTime("2026-11-18T12:00:00").toISOString()).toBe("2026-11-18T12:00:00.000Z");
    expect(absolute(parseTime("2026-11-18T12:00:00Z"))).toContain("2026");
  });
});
