// SPDX-License-Identifier: Apache-2.0

/** The changes of one provider, tree or consumer. */

import type { JSX } from "preact";
import type { Change, ChangeList } from "../api/types";
import { headRevision } from "../data/live";
import { usePages } from "../data/pages";
import { revisionNumber, type Focus } from "../lib/changes";
import { number } from "../lib/units";
import { Failure, Link, Loading } from "./basics";
import { Changes } from "./change-list";

export const pickChanges = (list: ChangeList): { items: Change[]; next: string | null } => ({ items: list.changes, next: list.next });
export const changeIdentity = ({ revision }: Change): string => revision;

const FIRST = 15;

export function HistoryPanel({ filter, id, focus }: { filter: "subtree" | "provider" | "consumer"; id: string; focus: Focus }): JSX.Element {
  const pages = usePages("plimsoll/v1/changes", { [filter]: id, limit: FIRST }, pickChanges, {
    cursor: "before",
    refresh: headRevision.value,
    every: 3000,
    identity: changeIdentity,
  });
  return (
    <section class="panel" aria-labelledby="history-title">
      <div class="panel-head">
        <h2 id="history-title">History</h2>
        <Link to={`/history?${filter}=${encodeURIComponent(id)}`} class="quiet-link">
          All changes
        </Link>
      </div>
      {pages.error !== null ? (
        <Failure error={pages.error} what="its history" retry={pages.reload} />
      ) : pages.items.length > 0 ? (
        <Changes changes={pages.items} focus={focus} />
      ) : pages.loading ? (
        <LookingBack next={pages.next} />
      ) : (
        <p class="quiet">{pages.hasMore ? "Nothing yet, and there is more of the log." : "The change log has nothing about it: it is older than what is kept."}</p>
      )}
      {pages.hasMore && (pages.items.length > 0 || !pages.loading) ? (
        <button type="button" class="link-button" onClick={pages.more} disabled={pages.loading}>
          {pages.loading ? "Reading…" : "Earlier"}
        </button>
      ) : null}
    </section>
  );
}

/** Parts of the log without a match are examined one after the other: it says how far. */
export function LookingBack({ next }: { next: string | null }): JSX.Element {
  return (
    <>
      {next === null ? null : (
        <p class="quiet about" role="status">
          Nothing since revision {number(revisionNumber(next))}; looking further back
        </p>
      )}
      <Loading what="the history" />
    </>
  );
}
