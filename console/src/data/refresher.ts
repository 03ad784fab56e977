// SPDX-License-Identifier: Apache-2.0

/**
 * Runs one read at a time, at most every `every` milliseconds.
 *
 * A wish during a read is met by one more read after it: under constant change, reads neither pile up nor end each other.
 */
export class Refresher {
  private readonly abort = new AbortController();
  private running = false;
  private wanted = false;
  private last = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly every: number,
    private readonly read: (signal: AbortSignal) => Promise<void>,
  ) {}

  ask(): void {
    if (this.abort.signal.aborted) return;
    this.wanted = true;
    if (this.running || this.timer !== undefined) return;
    const delay = Math.max(0, this.last + this.every - Date.now());
    if (delay === 0) this.start();
    else this.timer = setTimeout(() => this.start(), delay);
  }

  /** Without the pause between reads. */
  askNow(): void {
    this.last = -Infinity;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.ask();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.abort.abort();
  }

  private start(): void {
    this.timer = undefined;
    this.wanted = false;
    this.running = true;
    this.last = Date.now();
    void this.read(this.abort.signal).finally(() => {
      this.running = false;
      if (this.wanted) this.ask();
    });
  }
}
