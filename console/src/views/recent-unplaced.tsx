// SPDX-License-Identifier: Apache-2.0

/** Searches that found nothing lately, beside the map. */

import type { JSX } from "preact";
import type { UnplacedList } from "../api/types";
import { headRevision, moment } from "../data/live";
import { useDocument } from "../data/resource";

import { failureWords } from "../lib/reasons";
import { plural } from "../lib/units";
import { useWide } from "../lib/wide";
import { Failure, Link, Loading, Time } from "../parts/basics";
import { Verdict } from "../parts/verdict";
import { Words } from "../parts/words";

/** On a wall screen the panel stands beside the map alone. */
const SHOWN = 5;
const SHOWN_WIDE = 10;

export function RecentUnplaced(): JSX.Element {
  const shown = useWide() ? SHOWN_WIDE : SHOWN;
  const list = useDocument<UnplacedList>("plimsoll/v1/unplaced", { limit: shown, since: "24h" }, { refresh: headRevision.value, every: 10_000, past: false });
  return (
    <section class="panel unplaced-panel" aria-labelledby="unplaced-title">
      <div class="panel-head">
        <h2 id="unplaced-title">Unplaced, last 24 h</h2>
        <Link to="/unplaced" class="quiet-link">
          All
        </Link>
      </div>
      {moment.value === null ? null : <p class="notice">These are the searches up to now.</p>}
      {list.value === null ? (
        list.error === null ? (
          <Loading what="unplaced searches" lines={3} />
        ) : (
          <Failure error={list.error} what="unplaced searches" retry={list.reload} />
        )
      ) : list.value.unplaced.length === 0 ? (
        <p class="quiet about">Every search found candidates.</p>
      ) : (
        <ul class="unplaced-short" data-keys>
          {list.value.unplaced.map((entry) => (
            <li key={`${entry.project} ${entry.query} ${entry.microversion}`}>
              <Link to={`/find?${entry.query}`}>
                <span class="unplaced-line">
                  <Verdict verdict={entry.verdict} /> <span title={`The clause that alone excludes the most hosts: ${entry.reason}`}>{failureWords(entry.reason) || entry.reason}</span>
                  <span class="quiet">
                    {plural(entry.searches, "search", "searches")}, <Time at={entry.last_at} />
                  </span>
                </span>
                <span class="clamp"><Words text={entry.summary} /></span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
