// SPDX-License-Identifier: Apache-2.0

/**
 * Keeps the fleet current: all providers once, then changes by long poll.
 *
 * Without the route of changes, providers are polled with an etag. A viewer who does not see the consumers of other projects does not
 * get their changes either: there the revision moves without changes, and providers are read again.
 */

import { batch, effect, signal } from "@preact/signals";
import { ApiError, get, getIfChanged, OfflineError, undoneTo, type Params } from "../api/client";
import type { Change, ChangeList, ProviderList } from "../api/types";
import { applyChanges, buildFleet, type Fleet } from "./fleet";

export type LiveState = "connecting" | "live" | "polling" | "offline" | "paused" | "past";

export const fleet = signal<Fleet | null>(null);
export const fleetError = signal<unknown>(null);
export const liveState = signal<LiveState>("connecting");
/** The newest revision that was received, also of changes that do not concern providers. */
export const headRevision = signal<string>("");
/** When the service last responded with the fleet or its changes. */
export const heardAt = signal<Date | null>(null);
/** The last changes, the newest first, for the stream of the history. */
export const recentChanges = signal<readonly Change[]>([]);
/** The moment that all pages show (a revision or a time); null for now. */
export const moment = signal<string | null>(null);
/** Set by the viewer: nothing is updated. */
export const paused = signal(false);

const WAIT_SECONDS = 25;
const WAIT_SECONDS_IF_HIDDEN_CHANGES = 4;
const PAUSE_BETWEEN_POLLS = 250;
const PAUSE_WITHOUT_WAIT = 900;
const POLL_EVERY = 3000;
const RETRY_FIRST = 500;
const RETRY_MOST = 15_000;
const KEPT_CHANGES = 500;

const FIELDS = "uuid,name,generation,root,parent,inventories,traits,aggregates,updated_at";

const sleep = (milliseconds: number, abort: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    abort.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(new DOMException("Stopped", "AbortError"));
      },
      { once: true },
    );
  });

/** The parameters that show a page as of the chosen moment. */
export function asOf(params: Params = {}): Params {
  return moment.value === null ? params : { ...params, at: moment.value };
}

let etag: string | null = null;
let version = 0;

async function loadAll(abort: AbortSignal): Promise<void> {
  const params = asOf({ fields: FIELDS });
  const received = await getIfChanged<ProviderList>("plimsoll/v1/providers", params, { signal: abort, etag });
  heardAt.value = new Date();
  if (received.body === null) return;
  etag = received.etag;
  version += 1_000_000;
  const built = buildFleet(received.body.revision, received.body.providers, version);
  batch(() => {
    fleet.value = built;
    fleetError.value = null;
    if (moment.value === null) headRevision.value = built.revision;
  });
}

/** Follow the changes until something fails. Returns false if the service has no changes to follow. */
async function follow(abort: AbortSignal): Promise<boolean> {
  let since = fleet.value?.revision ?? "";
  let hidden = false;
  let canWait = true;
  let isConnected = false; // the first request does not wait: its answer shows that changes are followed
  for (;;) {
    let list: ChangeList;
    try {
      const wait = !canWait || !isConnected ? null : hidden ? WAIT_SECONDS_IF_HIDDEN_CHANGES : WAIT_SECONDS;
      list = await get<ChangeList>("plimsoll/v1/changes", { since, wait, limit: 1000 }, { signal: abort });
    } catch (error) {
      if (error instanceof ApiError && error.status === 400 && canWait) {
        canWait = false;
        continue;
      }
      if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return false;
      if (error instanceof ApiError && error.status === 410) {
        await loadAll(abort);
        since = fleet.value?.revision ?? "";
        continue;
      }
      throw error;
    }
    liveState.value = "live";
    heardAt.value = new Date();
    isConnected = true;
    since = list.next ?? since;
    if (list.changes.length > 0) {
      const current = fleet.value;
      const next = current === null ? null : applyChanges(current, list.changes);
      batch(() => {
        recentChanges.value = [...list.changes.toReversed(), ...recentChanges.value].slice(0, KEPT_CHANGES);
        headRevision.value = list.revision;
        if (next !== null) fleet.value = { ...next, revision: list.more ? next.revision : list.revision };
      });
      if (next === null) {
        await loadAll(abort);
        since = fleet.value?.revision ?? since;
      }
    } else if (list.revision !== headRevision.value && !list.more) {
      hidden = true;
      await loadAll(abort);
      headRevision.value = list.revision;
    }
    if (!list.more) await sleep(canWait ? PAUSE_BETWEEN_POLLS : PAUSE_WITHOUT_WAIT, abort);
  }
}

async function poll(abort: AbortSignal): Promise<never> {
  for (;;) {
    liveState.value = "polling";
    await sleep(document.hidden ? POLL_EVERY * 5 : POLL_EVERY, abort);
    await loadAll(abort);
  }
}

async function run(abort: AbortSignal): Promise<void> {
  let retry = RETRY_FIRST;
  for (;;) {
    try {
      await loadAll(abort);
      if (moment.value !== null) {
        liveState.value = "past";
        return;
      }
      retry = RETRY_FIRST;
      if (!(await follow(abort))) await poll(abort);
    } catch (error) {
      if (abort.aborted) return;
      if (error instanceof OfflineError || (error instanceof ApiError && error.status >= 500)) {
        liveState.value = "offline";
        if (fleet.value === null) fleetError.value = error;
        const stopped = await sleep(retry, abort).then(
          () => false,
          () => true,
        );
        if (stopped) return;
        retry = Math.min(RETRY_MOST, retry * 2);
        continue;
      }
      fleetError.value = error;
      liveState.value = "offline";
      return;
    }
  }
}

/** Start again whenever the moment changes or the viewer pauses. Returns the function that stops it. */
export function startLive(): () => void {
  effect(() => {
    document.body.dataset["live"] = liveState.value;
    document.body.dataset["revision"] = fleet.value?.revision ?? headRevision.value;
  });
  return effect(() => {
    const chosen = moment.value;
    if (paused.value && chosen === null) {
      liveState.value = "paused";
      return;
    }
    const stop = new AbortController();
    etag = null;
    undoneTo.value = null;
    // Not part of the effect: it reads signals that it writes.
    queueMicrotask(() => {
      if (!stop.signal.aborted) {
        liveState.value = "connecting";
        void run(stop.signal);
      }
    });
    return () => {
      stop.abort();
    };
  });
}
