// SPDX-License-Identifier: Apache-2.0

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Refresher } from "../src/data/refresher";

describe("a document that is read again", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is read once at a time, and once more after wishes during a read", async () => {
    let end: () => void = () => undefined;
    const read = vi.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const refresher = new Refresher(100, read);
    refresher.ask();
    for (let count = 0; count < 10; count += 1) refresher.ask();
    expect(read).toHaveBeenCalledTimes(1);
    end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(read).toHaveBeenCalledTimes(2);
    end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("is read at most once per interval, unless the viewer asks", async () => {
    const read = vi.fn(() => Promise.resolve());
    const refresher = new Refresher(1000, read);
    refresher.ask();
    await vi.advanceTimersByTimeAsync(10);
    refresher.ask();
    await vi.advanceTimersByTimeAsync(10);
    expect(read).toHaveBeenCalledTimes(1);
    refresher.askNow();
    await vi.advanceTimersByTimeAsync(10);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("is not read after it was stopped", async () => {
    const signals: AbortSignal[] = [];
    const refresher = new Refresher(10, (signal) => {
      signals.push(signal);
      return Promise.resolve();
    });
    refresher.ask();
    await vi.advanceTimersByTimeAsync(1);
    refresher.ask();
    refresher.stop();
    await vi.advanceTimersByTimeAsync(1000);
    expect(signals).toHaveLength(1);
    expect(signals[0]?.aborted).toBe(true);
  });
});
