// SPDX-License-Identifier: Apache-2.0

/** The time slider: any page as of an earlier revision. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { undoneTo } from "../api/client";
import type { ChangeList } from "../api/types";
import { fleet, fleetError, headRevision, moment } from "../data/live";
import { useDocument } from "../data/resource";
import { changeKind, changeSentence, revisionEpoch, revisionNumber } from "../lib/changes";
import { useParams } from "../lib/navigation";
import { absolute, parseTime } from "../lib/times";
import { number } from "../lib/units";
import { Failure, Time } from "./basics";

export const sliderOpen = signal(false);

const AGO: readonly (readonly [age: string, label: string])[] = [
  ["15m", "15 min ago"],
  ["1h", "1 h ago"],
  ["1d", "1 day ago"],
];

export function MomentBar(): JSX.Element | null {
  if (moment.value === null && !sliderOpen.value) return null;
  return <Slider />;
}

function Slider(): JSX.Element {
  const [, setParams] = useParams();
  const at = moment.value;
  const bounds = useDocument<ChangeList>("plimsoll/v1/changes", { limit: 1 }, { refresh: headRevision.value, every: 3000, past: false });
  const highest = bounds.value?.highest ?? headRevision.value;
  const last = revisionNumber(highest);
  const first = revisionNumber(bounds.value?.lowest ?? "");
  const epoch = revisionEpoch(highest);
  // The state that is shown says which revision it is, also for a time.
  const shown = at === null ? last : revisionNumber(fleet.value?.revision ?? "") || last;
  const [dragged, setDragged] = useState<number | null>(null);
  const place = dragged ?? shown;
  const change = useDocument<ChangeList>(
    bounds.value === null || place <= first ? null : "plimsoll/v1/changes",
    // A cursor beyond the newest revision is refused.
    { before: place >= last ? null : `${epoch}:${place + 1}`, limit: 1 },
    { past: false },
  );
  const go = (revision: number): void => {
    setDragged(null);
    setParams({ at: revision >= last ? null : `${epoch}:${Math.max(first, revision)}` }, { replace: false });
  };
  // A dragged slider takes effect when it rests.
  useEffect(() => {
    if (dragged === null) return;
    const timer = setTimeout(() => {
      setDragged(null);
      setParams({ at: dragged >= last ? null : `${epoch}:${dragged}` });
    }, 350);
    return () => clearTimeout(timer);
  }, [dragged, epoch, last, setParams]);
  if (bounds.error !== null) {
    return (
      <div class="moment">
        <Failure error={bounds.error} what="the change log" retry={bounds.reload} />
      </div>
    );
  }
  const latest = change.value?.changes[0];
  return (
    <aside class={at === null ? "moment" : "moment past"} aria-label="Moment in time">
      <div class="moment-row">
        <strong class="moment-title">{at === null ? "Now" : "As of then"}</strong>
        <button type="button" class="button" aria-label="One change back" title="One change back" disabled={place <= first} onClick={() => go(place - 1)}>
          ‹
        </button>
        <input
          type="range"
          min={first}
          max={Math.max(first, last)}
          value={place}
          aria-label="Revision"
          aria-valuetext={`Revision ${place} of ${last}`}
          disabled={last <= first}
          onInput={(event) => setDragged(Number(event.currentTarget.value))}
        />
        <button type="button" class="button" aria-label="One change forward" title="One change forward" disabled={place >= last} onClick={() => go(place + 1)}>
          ›
        </button>
        <span class="moment-jumps">
          {AGO.map(([age, label]) => (
            <button key={age} type="button" class="link-button" onClick={() => setParams({ at: new Date(Date.now() - secondsOf(age) * 1000).toISOString().replace(/\.\d+/, "") }, { replace: false })}>
              {label}
            </button>
          ))}
        </span>
        <button
          type="button"
          class="button primary"
          onClick={() => {
            sliderOpen.value = false;
            setDragged(null);
            setParams({ at: null });
          }}
        >
          {at === null ? "Close" : "Back to now"}
        </button>
      </div>
      <p class="moment-text" role="status">
        <span>
          Revision {number(place)} of {number(last)}
        </span>
        {latest === undefined ? (
          <span class="quiet">{place <= first ? "the oldest state that the change log reaches" : ""}</span>
        ) : (
          <>
            <span title={absolute(parseTime(latest.time))}>
              {absolute(parseTime(latest.time))} (<Time at={latest.time} />)
            </span>
            <span class="quiet">
              after: {changeKind(latest)}, {changeSentence(latest)}
            </span>
          </>
        )}
        {at !== null && undoneTo.value !== null ? <span>Undoing the changes since then; now at revision {number(revisionNumber(undoneTo.value))}</span> : null}
        {at !== null && fleetError.value !== null ? <span class="bad">{fleetError.value instanceof Error ? fleetError.value.message : ""}</span> : null}
      </p>
    </aside>
  );
}

function secondsOf(age: string): number {
  const unit: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };
  return Number(age.slice(0, -1)) * (unit[age.slice(-1)] ?? 0);
}
