// SPDX-License-Identifier: Apache-2.0

/** The stream of changes, the newest first, with filters; new ones appear as they are committed. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { fleet, headRevision, liveState, moment } from "../data/live";
import { usePages } from "../data/pages";
import { OPERATION_NAMES, operationWords, revisionEpoch, revisionNumber } from "../lib/changes";
import { useParams } from "../lib/navigation";
import { plural } from "../lib/units";
import { Empty, Failure, Select } from "../parts/basics";
import { Changes } from "../parts/change-list";
import { Combobox } from "../parts/combobox";
import { FilterField } from "../parts/filter-field";
import { changeIdentity, LookingBack, pickChanges } from "../parts/history-panel";
import { OwnProjectNotice, Page } from "../parts/page";

const TEXT_FILTERS: readonly (readonly [name: string, label: string, placeholder: string])[] = [
  ["consumer", "Consumer", "uuid"],
  ["project", "Project", "id"],
  ["request_id", "Request", "req-…"],
  ["aggregate", "Aggregate", "uuid"],
];

const AGES: readonly (readonly [value: string, label: string])[] = [
  ["", "any time"],
  ["15m", "last 15 min"],
  ["1h", "last hour"],
  ["24h", "last 24 h"],
  ["7d", "last 7 days"],
];

export function HistoryView(): JSX.Element {
  const [params, setParams] = useParams();
  const filters = {
    provider: params.get("provider"),
    subtree: params.get("subtree"),
    consumer: params.get("consumer"),
    project: params.get("project"),
    request_id: params.get("request_id"),
    aggregate: params.get("aggregate"),
    operation: params.get("operation"),
    from: params.get("from"),
  };
  const at = moment.value;
  // Up to the moment that is shown; a revision is a cursor, so the one after it is the first that is left out.
  const isRevision = at !== null && /^[0-9a-f]{8}:\d+$/.test(at);
  const last = isRevision ? revisionNumber(at) : 0;
  const before = isRevision && last < (revisionNumber(headRevision.value) || Infinity) ? `${revisionEpoch(at)}:${last + 1}` : null;
  const to = at !== null && !isRevision ? at : null;
  // Rows that move away below the pointer cannot be read or clicked.
  const [reading, setReading] = useState(false);
  const head = at === null ? headRevision.value : "";
  const shown = useRef(head);
  if (!reading || at !== null) shown.current = head;
  const newer = reading && at === null ? revisionNumber(head) - revisionNumber(shown.current) : 0;
  const pages = usePages("plimsoll/v1/changes", { ...filters, before, to, limit: 100 }, pickChanges, {
    cursor: "before",
    refresh: shown.current,
    every: 700,
    identity: changeIdentity,
  });
  const hosts = fleet.value?.hosts ?? [];
  const subtree = filters.subtree ?? filters.provider ?? "";
  const named = fleet.value?.providers.get(subtree)?.name ?? subtree;
  const filtered = Object.values(filters).some((value) => value !== null);
  const state = pages.error !== null ? "error" : pages.items.length > 0 ? "ready" : pages.loading ? "loading" : "empty";
  return (
    <Page
      view="history"
      title="History"
      subtitle={at !== null ? "Changes up to the moment that is shown" : liveState.value === "live" ? "Every change, as it is committed" : "Every change, the newest first"}
      state={state}
    >
      <OwnProjectNotice what="the changes of consumers" />
      <section class="panel" aria-label="Changes">
        <div class="controls">
          <span class="field">
            <span class="field-label">Host</span>
            <Combobox
              label="Host"
              placeholder="any"
              initial={named}
              options={hosts.map((host) => host.name)}
              onTake={(name) => setParams({ subtree: hosts.find((host) => host.name === name)?.uuid ?? name, provider: null })}
            />
          </span>
          {TEXT_FILTERS.map(([name, label, placeholder]) => (
            <FilterField key={name} label={label} placeholder={placeholder} value={params.get(name) ?? ""} onChange={(value) => setParams({ [name]: value })} />
          ))}
          <Select
            label="What"
            value={filters.operation ?? ""}
            options={[["", "anything"], ...OPERATION_NAMES.map((name) => [name, operationWords(name)] as const)]}
            onChange={(value) => setParams({ operation: value })}
          />
          <Select label="When" value={filters.from ?? ""} options={AGES} onChange={(value) => setParams({ from: value })} />
          {filtered ? (
            <button
              type="button"
              class="button"
              onClick={() => setParams(Object.fromEntries(Object.keys(filters).map((name) => [name, null])))}
            >
              Clear
            </button>
          ) : null}
        </div>
        {pages.error !== null ? (
          <Failure error={pages.error} what="the history" retry={pages.reload} />
        ) : pages.items.length === 0 && pages.loading ? (
          <LookingBack next={pages.next} />
        ) : pages.items.length === 0 && !pages.hasMore ? (
          <Empty title={filtered ? "No change meets these conditions" : "Nothing has changed yet"}>
            <p>{filtered ? "The change log keeps a limited number of changes and days." : "The change log begins when Plimsoll takes over the database."}</p>
          </Empty>
        ) : (
          <>
            {at !== null || liveState.value !== "live" ? null : (
              <p class="quiet about">
                {newer > 0 ? `Held while you read: ${plural(newer, "newer change")} in the cloud` : "Following live"}
              </p>
            )}
            <Changes changes={pages.items} onRead={setReading} />
            <p class="list-foot">
              <span class="quiet">
                {plural(pages.items.length, "change")}
                {pages.hasMore ? " so far" : ", to the beginning of the log"}
              </span>
              {pages.hasMore ? (
                <button type="button" class="button" onClick={pages.more} disabled={pages.loading}>
                  Earlier
                </button>
              ) : null}
            </p>
          </>
        )}
      </section>
    </Page>
  );
}
