// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { changeSentence, consumerDifferences, consumerSentence, isFocused, providerDifferences, providerNews, revisionEpoch, revisionNumber } from "../src/lib/changes";
import { change, reported } from "./factories";

const on = (name: string, vcpus: number): { allocations: Record<string, { name: string; resources: Record<string, number> }> } => ({
  allocations: { [name]: { name, resources: { VCPU: vcpus, MEMORY_MB: 8192 } } },
});

describe("a change", () => {
  it("of a consumer is a claim, a release, a move or another size", () => {
    expect(consumerSentence({ uuid: "c", before: null, after: on("node-1", 4) })).toBe("claimed 4 cores, 8 GiB on node-1");
    expect(consumerSentence({ uuid: "c", before: on("node-1", 4), after: null })).toBe("released 4 cores, 8 GiB on node-1");
    expect(consumerSentence({ uuid: "c", before: on("node-1", 4), after: on("node-2", 4) })).toBe("moved from node-1 to node-2 with 4 cores, 8 GiB");
    expect(consumerSentence({ uuid: "c", before: on("node-1", 4), after: on("node-1", 8) })).toBe("changed from 4 cores, 8 GiB to 8 cores, 8 GiB on node-1");
  });

  it("has one line, also with many providers and without any", () => {
    const providers = ["a", "b", "c", "d"].map((name) => ({ uuid: name, name, before: {}, after: { traits: ["X"], generation: 2 } }));
    expect(changeSentence(change(1, { operation: "reshape", providers }))).toBe("a, b, c and 1 more: traits");
    expect(changeSentence(change(1, { names: [{ kind: "trait", before: null, after: "CUSTOM_X" }] }))).toBe("CUSTOM_X");
    expect(changeSentence(change(1, { reload: true }))).toContain("does not describe");
  });

  it("of one provider says what is new", () => {
    const news = (before: object, after: object): string => providerNews({ uuid: "p", name: "p", before, after });
    expect(news({ inventories: { VCPU: reported(96), MEMORY_MB: reported(2048) } }, { inventories: { VCPU: reported(80, { allocation_ratio: 2 }), MEMORY_MB: null } })).toBe(
      "VCPU 96 cores to 80 cores, VCPU ratio 1 to 2, no more MEMORY_MB",
    );
    expect(news({ inventories: {} }, { inventories: { PGPU: reported(8), VCPU: reported(1) } })).toBe("1 core, 8 PGPU");
    expect(news({ traits: ["A", "B"] }, { traits: ["B", "C", "D", "E"] })).toBe("+C, +D, +E and 1 more");
    expect(changeSentence(change(1, { providers: [{ uuid: "p", name: "node-1", before: { traits: [] }, after: { traits: ["X"] } }] }))).toBe("node-1: +X");
  });

  it("of many consumers tells first about those of the page", () => {
    const consumers = ["c1", "c2", "c3"].map((uuid, place) => ({ uuid, before: null, after: on(place === 0 ? "node-1" : "node-2", 4) }));
    const claims = change(1, { consumers });
    expect(changeSentence(claims)).toBe("c1 claimed 4 cores, 8 GiB on node-1, and 2 more consumers");
    expect(changeSentence(claims, new Set(["c3"]))).toBe("c3 claimed 4 cores, 8 GiB on node-2");
    expect(changeSentence(claims, new Set(["node-2"]))).toBe("c2 claimed 4 cores, 8 GiB on node-2, and 1 more consumer");
    expect(consumers.map((each) => isFocused(each, new Set(["node-1"])))).toEqual([true, false, false]);
  });

  it("shows only what differs, before and after", () => {
    expect(
      providerDifferences({
        uuid: "p",
        name: "p",
        before: { inventories: { VCPU: reported(32), PGPU: reported(1) }, traits: ["A", "B"], generation: 3 },
        after: { inventories: { VCPU: reported(64), PGPU: null }, traits: ["B", "C"], generation: 4 },
      }),
    ).toEqual([
      { what: "VCPU total", before: "32 cores", after: "64 cores" },
      { what: "PGPU", before: "total 1, reserved 0, ratio 1", after: null },
      { what: "traits", before: "A", after: "C" },
      { what: "generation", before: "3", after: "4" },
    ]);
    expect(consumerDifferences({ uuid: "c", before: { ...on("node-1", 4), generation: 1 }, after: { ...on("node-1", 8), generation: 2 } })).toEqual([
      { what: "node-1 VCPU", before: "4 cores", after: "8 cores" },
      { what: "generation", before: "1", after: "2" },
    ]);
  });

  it("has a revision of an epoch and a number", () => {
    expect(revisionNumber("5f3a9c1e:64")).toBe(64);
    expect(revisionNumber("5f3a9c1e:64.1c9e2f5a")).toBe(64);
    expect(revisionEpoch("5f3a9c1e:64")).toBe("5f3a9c1e");
    expect(revisionNumber("")).toBe(0);
  });
});
