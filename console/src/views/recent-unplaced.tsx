// SPDX-License-Identifier: Apache-2.0

/** Searches that found nothing lately, beside the map. */

import type { JSX } from "preact";
import type { UnplacedList } from "../api/types";
import { headRevision } from "../data/live";
import { useDocument } from "../data/resource";
import { failureWords } from "../lib/reasons";
import { plural } from "../lib/units";
import { Failure, Link, Loading, Time } from "../parts/basics";
import { Verdict } from "../parts/verdict";

const SHOWN = 5;

export function RecentUnplaced(): JSX.Element {
  const list = useDocument<UnplacedList>("plimsoll/v1/unplaced", { limit: SHOWN, since: "24h" }, { refresh: headRevision.value, every: 10_000, past: false });
  return (
    <section class="panel" aria-labelledby="unplaced-title">
      <div class="panel-head">
        <h2 id="unplaced-title">Unplaced, last 24 h</h2>
        <Link to="/unplaced" class="quiet-link">
          All
        </Link>
      </div>
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
              <Link to={`/find?${entry.query}`} title={entry.summary}>
                <span class="unplaced-line">
                  <Verdict verdict={entry.verdict} /> <span title={entry.reason}>{failureWords(entry.reason) || entry.reason}</span>
                  <span class="quiet">
                    {plural(entry.searches, "search", "searches")}, <Time at={entry.last_at} />
                  </span>
                </span>
                <span class="clamp">{entry.summary}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
