// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { findingsOf } from "../src/data/findings";
import { allocationDeltas, applyChanges, buildFleet, fitsOnHost, sumOf, type Fleet } from "../src/data/fleet";
import { groupHosts } from "../src/data/groups";
import { inventoryOf, largestPiece } from "../src/data/inventory";
import { change, provider, reported } from "./factories";

function smallFleet(): Fleet {
  return buildFleet("e:1", [
    provider("node-10", { VCPU: [reported(32, { allocation_ratio: 2 }), 24], MEMORY_MB: [reported(131072, { reserved: 2048 }), 98304] }),
    provider("node-2", { VCPU: [reported(16), 0] }, { aggregates: ["rack"], traits: ["AVX"] }),
    provider("numa", { DISK_GB: [reported(1000), 0] }, { aggregates: ["rack"] }),
    provider("numa-0", { VCPU: [reported(16), 8] }, { root: "numa", parent: "numa", traits: ["AVX"] }),
    provider("numa-1", { VCPU: [reported(16), 8] }, { root: "numa", parent: "numa" }),
  ]);
}

const vcpu = (fleet: Fleet, uuid: string): number | undefined => fleet.byRoot.get(uuid)?.load.get("VCPU")?.used;

describe("capacity", () => {
  it("is that of the service", () => {
    expect(inventoryOf(reported(131072, { reserved: 2048 }), 98304)).toMatchObject({ capacity: 129024, free: 30720, largest: 30720 });
    expect(inventoryOf(reported(16, { allocation_ratio: 2 }), 40)).toMatchObject({ capacity: 32, free: 0, largest: 0 });
    expect(inventoryOf(reported(3, { allocation_ratio: 1.5 }), 0).capacity).toBe(4);
  });

  it("in steps and units gives the largest piece", () => {
    expect(largestPiece(reported(100, { step_size: 16 }), 100)).toBe(96);
    expect(largestPiece(reported(100, { max_unit: 4 }), 100)).toBe(4);
    expect(largestPiece(reported(100, { min_unit: 8 }), 7)).toBe(0);
  });
});

describe("a fleet", () => {
  it("has one host per tree, in the order that people give to names", () => {
    expect(smallFleet().hosts.map((host) => host.name)).toEqual(["node-2", "node-10", "numa"]);
    expect(smallFleet().classes).toEqual(["VCPU", "MEMORY_MB", "DISK_GB"]);
  });

  it("sums the classes over all providers of the trees", () => {
    expect(sumOf(smallFleet().hosts).get("VCPU")).toMatchObject({ capacity: 112, used: 40, free: 72, largest: 40, providers: 4 });
  });

  it("fits a shape as often as each class allows", () => {
    const fleet = smallFleet();
    const host = fleet.byRoot.get("numa");
    expect(host && fitsOnHost(host, new Map([["VCPU", 4]]))).toBe(4);
    expect(host && fitsOnHost(host, new Map([["VCPU", 4], ["DISK_GB", 500]]))).toBe(2);
    expect(host && fitsOnHost(host, new Map([["VCPU", 12]]))).toBe(0);
    expect(host && fitsOnHost(host, new Map([["PGPU", 1]]))).toBe(0);
  });
});

describe("changes", () => {
  it("of a consumer move usage between providers", () => {
    const before = { allocations: { "numa-0": { name: null, resources: { VCPU: 8 } } } };
    const after = { allocations: { "node-2": { name: null, resources: { VCPU: 8 } } } };
    expect(allocationDeltas(before, after)).toEqual([
      ["numa-0", "VCPU", -8],
      ["node-2", "VCPU", 8],
    ]);
    const next = applyChanges(smallFleet(), [change(2, { consumers: [{ uuid: "c", before, after }] })]);
    expect(next?.revision).toBe("e:2");
    expect(next && vcpu(next, "numa")).toBe(8);
    expect(next && vcpu(next, "node-2")).toBe(8);
    expect(next && vcpu(next, "node-10")).toBe(24);
  });

  it("keep hosts that they do not concern as they are", () => {
    const fleet = smallFleet();
    const after = { allocations: { "node-2": { name: null, resources: { VCPU: 1 } } } };
    const next = applyChanges(fleet, [change(2, { consumers: [{ uuid: "c", before: null, after }] })]);
    expect(next?.hosts[1]).toBe(fleet.hosts[1]);
    expect(next?.hosts[0]).not.toBe(fleet.hosts[0]);
    expect(next?.version).toBeGreaterThan(fleet.version);
  });

  it("create, rename and remove providers", () => {
    const created = applyChanges(smallFleet(), [
      change(2, {
        operation: "provider.create",
        providers: [{ uuid: "n1", name: "node-1", before: null, after: { name: "node-1", root: "n1", parent: null, generation: 0 } }],
      }),
      change(3, { operation: "inventory.add", providers: [{ uuid: "n1", name: "node-1", before: {}, after: { inventories: { PGPU: reported(4) }, generation: 1 } }] }),
    ]);
    expect(created?.hosts.map((host) => host.name)).toEqual(["node-1", "node-2", "node-10", "numa"]);
    expect(created?.byRoot.get("n1")?.load.get("PGPU")?.capacity).toBe(4);
    expect(created?.classes).toContain("PGPU");
    const removed =
      created &&
      applyChanges(created, [change(4, { operation: "provider.delete", providers: [{ uuid: "n1", name: null, before: { name: "node-1" }, after: null }] })]);
    expect(removed?.hosts.map((host) => host.name)).toEqual(["node-2", "node-10", "numa"]);
    expect(removed?.classes).not.toContain("PGPU");
  });

  it("of an inventory keep what is allocated", () => {
    const next = applyChanges(smallFleet(), [
      change(2, { operation: "inventory.update", providers: [{ uuid: "node-10", name: "node-10", before: {}, after: { inventories: { VCPU: reported(8, { allocation_ratio: 2 }) } } }] }),
    ]);
    expect(next?.byRoot.get("node-10")?.load.get("VCPU")).toMatchObject({ capacity: 16, used: 24, free: 0, overfull: 1 });
  });

  it("that do not say everything ask for the whole state", () => {
    expect(applyChanges(smallFleet(), [change(2, { reload: true })])).toBeNull();
    expect(applyChanges(smallFleet(), [change(2, { operation: "class.rename" })])).toBeNull();
    expect(applyChanges(smallFleet(), [change(2, { providers: [{ uuid: "unknown", name: null, before: {}, after: { generation: 4 } }] })])).toBeNull();
  });
});

describe("findings", () => {
  it("list what is over-full, nearly full, empty and in pieces", () => {
    const fleet = buildFleet("e:1", [
      provider("over", { VCPU: [reported(16), 20] }),
      provider("nearly", { VCPU: [reported(100), 95], DISK_GB: [reported(1000), 10] }),
      provider("empty", { VCPU: [reported(16), 0] }),
      provider("bare"),
      provider("tree"),
      provider("tree-0", { VCPU: [reported(16), 8] }, { root: "tree", parent: "tree" }),
      provider("tree-1", { VCPU: [reported(16), 8] }, { root: "tree", parent: "tree" }),
    ]);
    const found = findingsOf(fleet);
    expect(found.overFull.map((each) => each.host.name)).toEqual(["over"]);
    expect(found.nearlyFull.map((each) => each.host.name)).toEqual(["nearly"]);
    expect(found.empty.map((host) => host.name)).toEqual(["empty"]);
    expect(found.fragmented.map((each) => each.host.name)).toEqual(["tree"]);
  });

  it("count an amount as stranded where another class is used up", () => {
    const fleet = buildFleet("e:1", [
      provider("a", { VCPU: [reported(16), 16], MEMORY_MB: [reported(1024), 24] }),
      provider("b", { VCPU: [reported(16), 1], MEMORY_MB: [reported(1024), 24] }),
    ]);
    expect(findingsOf(fleet).stranded).toEqual(new Map([["MEMORY_MB", 1000]]));
  });
});

describe("groups", () => {
  it("have a host in each of its aggregates, and those without any", () => {
    const { groups } = groupHosts(smallFleet(), "aggregate");
    expect(groups.map((group) => [group.key, group.hosts.length])).toEqual([["rack", 2], [null, 1]]);
    expect(groups[0]?.load.get("VCPU")?.capacity).toBe(48);
  });

  it("of shared storage are in the order of its names", () => {
    const shares = { traits: ["MISC_SHARES_VIA_AGGREGATE"] };
    const fleet = buildFleet("e:1", [
      provider("a", {}, { aggregates: ["X"] }),
      provider("b", {}, { aggregates: ["Y"] }),
      provider("pool-10", {}, { ...shares, aggregates: ["X"] }),
      provider("pool-9", {}, { ...shares, aggregates: ["Y"] }),
    ]);
    expect(groupHosts(fleet, "aggregate").groups.map((group) => group.key)).toEqual(["Y", "X"]);
  });

  it("leave out traits that every host has", () => {
    const fleet = buildFleet("e:1", [provider("a", {}, { traits: ["X", "Y"] }), provider("b", {}, { traits: ["X"] })]);
    const grouping = groupHosts(fleet, "trait");
    expect(grouping.onAll).toEqual(["X"]);
    expect(grouping.groups.map((group) => group.key)).toEqual(["Y"]);
  });
});
