// SPDX-License-Identifier: Apache-2.0

/** Consumers, by project, user, type, provider and age. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import type { Consumer, ConsumerList, ConsumerUsage } from "../api/types";
import { fleet, headRevision, moment } from "../data/live";
import { usePages } from "../data/pages";
import { useDocument } from "../data/resource";
import { isUuid } from "../lib/names";
import { useParams } from "../lib/navigation";
import { consumerPath } from "../lib/paths";
import { plural } from "../lib/units";
import { Empty, Failure, Loading, Select } from "../parts/basics";
import { Combobox } from "../parts/combobox";
import { ConsumerTable } from "../parts/consumer-table";
import { FilterField } from "../parts/filter-field";
import { OwnProjectNotice, Page } from "../parts/page";
import { SubNavigation } from "./projects";

const AGES: readonly (readonly [value: string, label: string])[] = [
  ["", "any"],
  ["new-1h", "last hour"],
  ["new-24h", "last 24 h"],
  ["old-30d", "more than 30 days"],
  ["old-365d", "more than a year"],
];

export const pickConsumers = (list: ConsumerList): { items: Consumer[]; next: string | null } => ({ items: list.consumers, next: list.next });

export function ConsumersView(): JSX.Element {
  const [params, setParams] = useParams();
  const [, navigate] = useLocation();
  const age = params.get("age") ?? "";
  const filters = {
    project: params.get("project"),
    user: params.get("user"),
    type: params.get("type"),
    tree: params.get("tree"),
    newer_than: age.startsWith("new-") ? age.slice(4) : null,
    older_than: age.startsWith("old-") ? age.slice(4) : null,
  };
  const pages = usePages("plimsoll/v1/consumers", { ...filters, limit: 100 }, pickConsumers, { refresh: headRevision.value, every: 5000 });
  const types = useDocument<ConsumerUsage>("plimsoll/v1/usage", { group_by: "consumer_type" }, { past: false });
  const projects = useDocument<ConsumerUsage>("plimsoll/v1/usage", { group_by: "project" }, { past: false });
  const names = fleet.value?.hosts.map((host) => host.name) ?? [];
  const typeOptions: (readonly [string, string])[] = [
    ["", "any"],
    ...(types.value?.groups ?? []).map(({ group }) => [group ?? "unknown", group ?? "no type"] as const),
  ];
  const state = pages.error !== null ? "error" : pages.items.length > 0 ? "ready" : pages.loading ? "loading" : "empty";
  return (
    <Page view="consumers" title="Consumers" subtitle="Instances, migrations and others, with what they hold" state={state} actions={<SubNavigation />}>
      <OwnProjectNotice what="the consumers" />
      <section class="panel" aria-label="Consumers">
        <div class="controls">
          <UuidField onOpen={(uuid) => navigate(consumerPath(uuid))} />
          <span class="field">
            <span class="field-label">Project</span>
            <Combobox
              label="Project"
              placeholder="any"
              initial={filters.project ?? ""}
              options={(projects.value?.groups ?? []).flatMap(({ group }) => (group === null ? [] : [group]))}
              free
              onTake={(value) => setParams({ project: value })}
            />
          </span>
          <FilterField label="User" placeholder="any" value={filters.user ?? ""} onChange={(value) => setParams({ user: value })} />
          <Select label="Type" value={filters.type ?? ""} options={typeOptions} onChange={(value) => setParams({ type: value })} />
          <span class="field">
            <span class="field-label">Host</span>
            <Combobox label="Host" placeholder="any" initial={filters.tree ?? ""} options={names} onTake={(value) => setParams({ tree: value })} />
          </span>
          <Select label="Created" value={age} options={AGES} onChange={(value) => setParams({ age: value })} />
          {[...params.keys()].some((name) => name !== "at") ? (
            <button type="button" class="button" onClick={() => setParams({ project: null, user: null, type: null, tree: null, age: null })}>
              Clear
            </button>
          ) : null}
        </div>
        {moment.value === null ? null : <p class="notice">The log has no list of the consumers of then: these are the consumers of now.</p>}
        {pages.error !== null ? (
          <Failure error={pages.error} what="consumers" retry={pages.reload} />
        ) : pages.items.length === 0 && pages.loading ? (
          <Loading what="consumers" lines={8} />
        ) : pages.items.length === 0 && !pages.hasMore ? (
          <Empty title="No consumer meets these conditions" />
        ) : (
          <>
            <ConsumerTable consumers={pages.items} />
            <p class="list-foot">
              <span class="quiet">
                {plural(pages.items.length, "consumer")}
                {pages.hasMore ? " so far" : ""}
              </span>
              {pages.hasMore ? (
                <button type="button" class="button" onClick={pages.more} disabled={pages.loading}>
                  {pages.loading ? "Reading…" : "Read more"}
                </button>
              ) : null}
            </p>
          </>
        )}
      </section>
    </Page>
  );
}

function UuidField({ onOpen }: { onOpen: (uuid: string) => void }): JSX.Element {
  const [text, setText] = useState("");
  const valid = text.trim() === "" || isUuid(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isUuid(text)) onOpen(text.trim());
      }}
    >
      <label class="field">
        <span class="field-label">Uuid</span>
        <input value={text} aria-invalid={!valid} spellcheck={false} placeholder="open one by its uuid" onInput={(event) => setText(event.currentTarget.value)} />
      </label>
    </form>
  );
}
