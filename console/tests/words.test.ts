// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { withUnits } from "../src/lib/words";

describe("a sentence of the service", () => {
  it("gets the units that people use", () => {
    expect(withUnits("of 1004 hosts, 428 are too small for MEMORY_MB (393216 wanted, at most 385024 in all), 87 have too little VCPU (48 wanted, at most 8 free).")).toBe(
      "of 1,004 hosts, 428 are too small for MEMORY_MB (384 GiB wanted, at most 376 GiB in all), 87 have too little VCPU (48 cores wanted, at most 8 cores free).",
    );
    expect(withUnits("948 have a max_unit below 40000 for DISK_GB (at most 20000 at a time)")).toBe("948 have a max_unit below 39.1 TiB for DISK_GB (at most 19.5 TiB at a time)");
    expect(withUnits("MEMORY_MB: 8192 wanted, 4096 of 253952 free, 4096 missing; VCPU: 4 wanted, capacity 256 (total 128, reserved 0, ratio 2.5)")).toBe(
      "MEMORY_MB: 8 GiB wanted, 4 GiB of 248 GiB free, 4 GiB missing; VCPU: 4 cores wanted, capacity 256 cores (total 128 cores, reserved 0 cores, ratio 2.5)",
    );
    expect(withUnits("MEMORY_MB 8192 to 4096")).toBe("MEMORY_MB 8 GiB to 4 GiB");
  });

  it("keeps what is no amount", () => {
    for (const text of ["lacks HW_CPU_X86_AVX2", "has no inventory of PGPU (group 1)", "all 12 hosts lack CUSTOM_A_1", "CUSTOM_FPGA (1 wanted, at most 0 free)"]) {
      expect(withUnits(text)).toBe(text);
    }
  });
});
