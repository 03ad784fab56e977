// SPDX-License-Identifier: Apache-2.0

/** Projects: what each has allocated; and one project by consumer type, with its consumers. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useLocation, useParams as useRoute } from "wouter-preact";
import type { ConsumerGroup, ConsumerUsage } from "../api/types";
import { headRevision, moment } from "../data/live";
import { usePages } from "../data/pages";
import { useDocument } from "../data/resource";
import { shortId } from "../lib/names";
import { useParams } from "../lib/navigation";
import { decoded, projectPath } from "../lib/paths";
import { compareClasses, number, plural } from "../lib/units";
import { Amount, Count, Empty, Failure, Id, Link, Loading, Segmented } from "../parts/basics";
import { ConsumerTable } from "../parts/consumer-table";
import { breakable } from "../parts/breakable";
import { Crumb, OwnProjectNotice, Page } from "../parts/page";
import { pickConsumers } from "./consumers";

export function SubNavigation(): JSX.Element {
  const [path] = useLocation();
  return (
    <nav class="sub-navigation" aria-label="Consumers and projects">
      <Link to="/consumers" aria-current={path.startsWith("/consumers") ? "page" : undefined}>
        Consumers
      </Link>
      <Link to="/projects" aria-current={path.startsWith("/projects") ? "page" : undefined}>
        Projects
      </Link>
    </nav>
  );
}

type By = "project" | "consumer_type" | "user";

const MOST_ROWS = 200;

export function ProjectsView(): JSX.Element {
  const [params, setParams] = useParams();
  const by: By = params.get("by") === "type" ? "consumer_type" : params.get("by") === "user" ? "user" : "project";
  const usage = useDocument<ConsumerUsage>("plimsoll/v1/usage", { group_by: by }, { refresh: headRevision.value, every: 5000 });
  const state = usage.value !== null ? (usage.value.groups.length === 0 ? "empty" : "ready") : usage.error !== null ? "error" : "loading";
  return (
    <Page
      view="projects"
      title={by === "project" ? "Projects" : by === "user" ? "Users" : "Consumer types"}
      subtitle={usage.value === null ? "What is allocated, and to whom" : plural(usage.value.groups.length, by === "project" ? "project" : by === "user" ? "user" : "consumer type")}
      state={state}
      actions={<SubNavigation />}
    >
      <OwnProjectNotice what="the consumers" />
      <section class="panel" aria-label="Allocated amounts">
        <div class="controls">
          <Segmented
            label="By"
            value={by}
            options={[
              ["project", "Project"],
              ["consumer_type", "Consumer type"],
              ["user", "User"],
            ]}
            onChange={(value) => setParams({ by: value === "project" ? null : value === "user" ? "user" : "type", sort: null })}
          />
          <span class="quiet controls-note">Allocated amounts; the bars compare with the largest of a column</span>
        </div>
        {usage.error !== null ? (
          <Failure error={usage.error} what="usage by project" retry={usage.reload} />
        ) : usage.value === null ? (
          <Loading what="usage by project" lines={8} />
        ) : usage.value.groups.length === 0 ? (
          <Empty title="Nothing is allocated" />
        ) : (
          <UsageTable groups={usage.value.groups} by={by} sort={params.get("sort") ?? "VCPU"} onSort={(name) => setParams({ sort: name })} />
        )}
      </section>
    </Page>
  );
}

/** Rows are groups, columns are classes; the bar compares with the largest group of the class. */
function UsageTable({ groups, by, sort, onSort }: { groups: readonly ConsumerGroup[]; by: By; sort: string; onSort: (name: string) => void }): JSX.Element {
  const [all, setAll] = useState(false);
  const most = new Map<string, number>();
  for (const { resources } of groups) {
    for (const [name, { used }] of Object.entries(resources)) most.set(name, Math.max(most.get(name) ?? 0, used));
  }
  const classes = [...most.keys()].sort(compareClasses);
  const value = (group: ConsumerGroup): number => (sort === "consumers" ? group.consumers : (group.resources[sort]?.used ?? 0));
  const ordered = groups.toSorted((a, b) => value(b) - value(a));
  const shown = all ? ordered.slice(0, MOST_ROWS * 10) : ordered.slice(0, MOST_ROWS);
  const sortable = (name: string, label: string): JSX.Element => (
    <th key={name} scope="col" class="figure" aria-sort={sort === name ? "descending" : "none"}>
      <button type="button" class="sort" onClick={() => onSort(name)} title={`Sort by ${label}`}>
        {breakable(label)}
      </button>
    </th>
  );
  return (
    <div class="table-scroll">
      <table class="list-table usage-table">
        <thead>
          <tr>
            <th scope="col">{by === "project" ? "Project" : by === "user" ? "User" : "Type"}</th>
            {sortable("consumers", "Consumers")}
            {classes.map((name) => sortable(name, name))}
          </tr>
        </thead>
        <tbody data-keys>
          {shown.map((group) => (
            <tr key={group.group ?? ""} data-group={group.group ?? ""}>
              <th scope="row">
                <GroupName by={by} group={group.group} />
              </th>
              <td class="figure">
                <Count value={group.consumers} />
              </td>
              {classes.map((name) => {
                const used = group.resources[name]?.used ?? 0;
                const largest = most.get(name) ?? 0;
                return (
                  <td key={name} class="figure share-cell" data-class={name}>
                    {used === 0 ? (
                      <span class="quiet">–</span>
                    ) : (
                      <>
                        <Amount of={name} value={used} />
                        <span class="share-bar" aria-hidden="true">
                          <i style={{ width: `${largest === 0 ? 0 : (used / largest) * 100}%` }} />
                        </span>
                      </>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {ordered.length > shown.length ? (
        <button type="button" class="link-button" onClick={() => setAll(true)}>
          Show {number(Math.min(ordered.length, MOST_ROWS * 10))} of {number(ordered.length)}
        </button>
      ) : null}
    </div>
  );
}

function GroupName({ by, group }: { by: By; group: string | null }): JSX.Element {
  if (group === null) return <Link to="/consumers?type=unknown">no type</Link>;
  if (by === "consumer_type") return <Link to={`/consumers?type=${encodeURIComponent(group)}`}>{group}</Link>;
  return <Id id={group} to={by === "project" ? projectPath(group) : `/consumers?user=${encodeURIComponent(group)}`} />;
}

export function ProjectView(): JSX.Element {
  const { id: encoded } = useRoute<{ id: string }>();
  const id = decoded(encoded);
  const [params, setParams] = useParams();
  const usage = useDocument<ConsumerUsage>("plimsoll/v1/usage", { group_by: "consumer_type", project: id }, { refresh: headRevision.value, every: 5000 });
  const pages = usePages("plimsoll/v1/consumers", { project: id, limit: 100 }, pickConsumers, { refresh: headRevision.value, every: 5000 });
  const groups = usage.value?.groups ?? [];
  const consumers = groups.reduce((sum, group) => sum + group.consumers, 0);
  const state = usage.value !== null ? "ready" : usage.error !== null ? "error" : "loading";
  return (
    <Page
      view="project"
      title={`Project ${shortId(id)}`}
      heading={
        <>
          <Crumb to="/projects">Projects</Crumb>
          {shortId(id)}
        </>
      }
      subtitle={
        <span class="subtitle-items">
          <Id id={id} full />
          {usage.value === null ? null : <span>{plural(consumers, "consumer")}</span>}
          <Link to={`/history?project=${encodeURIComponent(id)}`}>History</Link>
        </span>
      }
      state={state}
    >
      <div class="stack">
        <section class="panel" aria-labelledby="types-title">
          <div class="panel-head">
            <h2 id="types-title">Allocated, by consumer type</h2>
          </div>
          {usage.error !== null ? (
            <Failure error={usage.error} what="its usage" retry={usage.reload} />
          ) : usage.value === null ? (
            <Loading what="its usage" />
          ) : groups.length === 0 ? (
            <p class="quiet">Nothing is allocated to this project.</p>
          ) : (
            <UsageTable groups={groups} by="consumer_type" sort={params.get("sort") ?? "VCPU"} onSort={(name) => setParams({ sort: name })} />
          )}
        </section>
        <section class="panel" aria-labelledby="consumers-title">
          <div class="panel-head">
            <h2 id="consumers-title">Consumers</h2>
          </div>
          {moment.value === null ? null : <p class="notice">The log has no list of the consumers of then: these are the consumers of now.</p>}
          {pages.error !== null ? (
            <Failure error={pages.error} what="its consumers" retry={pages.reload} />
          ) : pages.items.length === 0 && pages.loading ? (
            <Loading what="its consumers" />
          ) : pages.items.length === 0 ? (
            <p class="quiet">None.</p>
          ) : (
            <ConsumerTable consumers={pages.items} showProject={false} />
          )}
          {pages.hasMore ? (
            <button type="button" class="link-button" onClick={pages.more} disabled={pages.loading}>
              {pages.loading ? "Reading…" : "Read more"}
            </button>
          ) : null}
        </section>
      </div>
    </Page>
  );
}
