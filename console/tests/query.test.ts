// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { asCurl, asksSomething, asOpenStack, asPlacementPath, formatQuery, needsPolicy, nextSuffix, parseQuery } from "../src/lib/query";
import { bestNames } from "../src/lib/search";

const RACK = "aaaaaaaa-0000-4000-8000-000000000001";

describe("a query", () => {
  it.each([
    "resources=VCPU:4,MEMORY_MB:16384",
    "resources=VCPU:8&required=HW_CPU_X86_AVX512F,!COMPUTE_STATUS_DISABLED",
    `resources=VCPU:1&required=A&required=in:B,C&member_of=${RACK}&member_of=!in:${RACK},${RACK}`,
    "resources=VCPU:4&resources_GPU=PGPU:1&required_GPU=CUSTOM_GPU_A100&group_policy=isolate&limit=10",
    "resources_CPU=VCPU:8&resources_NIC=SRIOV_NET_VF:1&same_subtree=_CPU,_NIC&group_policy=none",
    `resources=DISK_GB:10&in_tree=${RACK}&root_required=A,!B`,
    "resources=VCPU:1&unknown=1",
  ])("is written as it was read: %s", (text) => {
    expect(formatQuery(parseQuery(text))).toBe(
      // Parameters of the whole follow those of the groups.
      formatQuery(parseQuery(formatQuery(parseQuery(text)))),
    );
    const sorted = (query: string): string[] => query.split("&").sort();
    expect(sorted(formatQuery(parseQuery(text)))).toEqual(sorted(text));
  });

  it("is found in a pasted URL", () => {
    const query = parseQuery("http://placement/allocation_candidates?limit=5&resources=VCPU%3A4%2CMEMORY_MB%3A512");
    expect(query.groups[0]?.resources).toEqual([["VCPU", 4], ["MEMORY_MB", 512]]);
    expect(query.limit).toBe(5);
  });

  it("keeps text that is no query out of the address", () => {
    expect(formatQuery(parseQuery("required=<img src=x onerror=alert(1)>"))).not.toContain("<");
  });

  it("asks for something once it has resources", () => {
    expect(asksSomething(parseQuery(""))).toBe(false);
    expect(asksSomething(parseQuery("required=A"))).toBe(false);
    expect(asksSomething(parseQuery("resources=VCPU:1"))).toBe(true);
  });

  it("with several groups needs a policy, and gives each another suffix", () => {
    const query = parseQuery("resources_1=VCPU:1&resources_2=VCPU:1");
    expect(needsPolicy(query)).toBe(true);
    expect(nextSuffix(query)).toBe("_3");
    expect(needsPolicy(parseQuery("resources=VCPU:1&resources_1=PGPU:1"))).toBe(false);
  });
});

describe("copies of a query", () => {
  const query = parseQuery(`resources=VCPU:4&required=A,!B&member_of=in:${RACK},x&resources_GPU=PGPU:1&limit=3`);

  it("are a URL, a curl command and an openstack command", () => {
    expect(asPlacementPath(query)).toBe(
      `/allocation_candidates?resources=VCPU:4&required=A,!B&member_of=in:${RACK},x&resources_GPU=PGPU:1&limit=3`,
    );
    expect(asCurl(query, "http://127.0.0.1:8778/")).toContain("'http://127.0.0.1:8778/allocation_candidates?resources=VCPU:4&");
    expect(asOpenStack(query)).toBe(
      "openstack --os-placement-api-version 1.39 allocation candidate list" +
        ` --resource VCPU=4 --required A --forbidden B --aggregate ${RACK},x --group _GPU --resource PGPU=1 --limit 3`,
    );
  });

  it("quote what a shell would read", () => {
    expect(asCurl(parseQuery("resources=VCPU:1&required=a'b"), "http://h")).toContain("'\\''");
  });

  it("have no openstack command where it has no option", () => {
    expect(asOpenStack(parseQuery("resources_A=VCPU:1&resources_B=VCPU:1&same_subtree=_A,_B"))).toBeNull();
  });
});

describe("completion", () => {
  it("has equal names first, then those that begin so, then those that contain it", () => {
    expect(bestNames(["X_VCPU", "VCPU_X", "VCPU", "PGPU"], "vcpu", 5)).toEqual(["VCPU", "VCPU_X", "X_VCPU"]);
    expect(bestNames(["X_VCPU", "VCPU_X", "VCPU"], "vcpu", 5, (name) => name === "X_VCPU")).toEqual(["VCPU", "X_VCPU", "VCPU_X"]);
  });
});
