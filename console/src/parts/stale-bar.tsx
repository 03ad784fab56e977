// SPDX-License-Identifier: Apache-2.0

/** Says below the header that the page is not current: the service does not respond, or the viewer paused. */

import type { JSX } from "preact";
import { fleet, heardAt, liveState, paused } from "../data/live";
import { absolute, clockTime } from "../lib/times";

export function StaleBar(): JSX.Element | null {
  const state = liveState.value;
  const since = heardAt.value;
  if (fleet.value === null || since === null || (state !== "offline" && state !== "paused")) return null;
  const time = <time title={absolute(since)}>{clockTime(since)}</time>;
  return (
    <div class="stale" data-state={state} role="status">
      {state === "offline" ? (
        <span>
          <strong>Offline.</strong> The service does not respond; it is tried again. What is shown is from {time}.
        </span>
      ) : (
        <>
          <span>
            <strong>Paused.</strong> What is shown is from {time}.
          </span>
          <button type="button" class="button" onClick={() => (paused.value = false)}>
            Follow again
          </button>
        </>
      )}
    </div>
  );
}
