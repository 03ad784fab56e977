// SPDX-License-Identifier: Apache-2.0

/** Find a place: a query, its candidates, and why there are these or none. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";
import { address } from "../api/client";
import type { Candidates, Explanation, Fit } from "../api/types";
import { fleet, headRevision } from "../data/live";
import { useDocument } from "../data/resource";
import { asCurl, asksSomething, asOpenStack, asPlacementPath, formatQuery, parseQuery, queryParts, type Query } from "../lib/query";
import { number, plural } from "../lib/units";
import { CopyButton, Empty, Failure, Link, Loading } from "../parts/basics";
import { Page } from "../parts/page";
import { Verdict } from "../parts/verdict";
import { Builder } from "./find-builder";
import { Words } from "../parts/words";
import { CandidateList } from "./find-candidates";
import { Funnel } from "./find-funnel";
import { NearMisses } from "./find-matrix";
import { Suggestions } from "./find-suggestions";

/** Parameters of the address that belong to the page, not to the query. */
const OWN = ["at", "clause"];
const NEAR_MISSES = 24;
const CANDIDATES = 100;

export function FindView(): JSX.Element {
  const search = useSearch();
  const [, navigate] = useLocation();
  const own = useMemo(() => {
    const all = new URLSearchParams(search);
    return new URLSearchParams(OWN.flatMap((name) => all.getAll(name).map((value) => [name, value])));
  }, [search]);
  const query = useMemo(() => {
    const rest = new URLSearchParams(search);
    for (const name of OWN) rest.delete(name);
    return parseQuery(rest.toString());
  }, [search]);
  const open = (next: Query): void => {
    const at = own.get("at");
    const text = formatQuery(next);
    navigate(`/find?${text}${at === null ? "" : `${text === "" ? "" : "&"}at=${encodeURIComponent(at)}`}`);
  };
  const asks = asksSomething(query);
  const params = useMemo(() => paramsOf(query), [query]);
  const refresh = headRevision.value;
  const explanation = useDocument<Explanation>(asks ? "plimsoll/v1/explain" : null, { ...params, examples: NEAR_MISSES }, { refresh, every: 4000 });
  const state = !asks ? "empty" : explanation.error !== null ? "error" : explanation.value === null ? "loading" : "ready";
  return (
    <Page view="find" title="Find a place" subtitle="Which hosts could take this, and why not the others" state={state} actions={asks ? <CopyAs query={query} /> : undefined}>
      <section class="panel" aria-label="Query">
        <Builder query={query} fleet={fleet.value} onChange={open} />
      </section>
      {!asks ? (
        <Begin />
      ) : explanation.error !== null ? (
        <section class="panel">
          <Failure error={explanation.error} what="the candidates of this query" retry={explanation.reload} />
        </section>
      ) : explanation.value === null ? (
        <section class="panel">
          <Loading what="the explanation" lines={6} />
        </section>
      ) : (
        <Results why={explanation.value} query={query} params={params} onQuery={open} />
      )}
    </Page>
  );
}

const EXAMPLES: readonly (readonly [title: string, query: string])[] = [
  ["4 cores, 16 GiB", "resources=VCPU:4,MEMORY_MB:16384"],
  ["32 cores, 128 GiB, AVX-512", "resources=VCPU:32,MEMORY_MB:131072&required=HW_CPU_X86_AVX512F"],
  ["With a GPU", "resources=VCPU:8,MEMORY_MB:32768&resources_GPU=PGPU:1"],
  ["Not on disabled hosts", "resources=VCPU:4,MEMORY_MB:8192&required=!COMPUTE_STATUS_DISABLED"],
];

function Begin(): JSX.Element {
  return (
    <Empty title="Ask for something">
      <p>Add resource classes, traits and aggregates above, or paste a query. Examples:</p>
      <ul class="begin">
        {EXAMPLES.map(([title, query]) => (
          <li key={query}>
            <Link to={`/find?${query}`} class="button">
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </Empty>
  );
}

function CopyAs({ query }: { query: Query }): JSX.Element {
  const openstack = asOpenStack(query);
  return (
    <>
      <CopyButton text={asCurl(query, address("").href)} label="Copy as a curl command">
        curl
      </CopyButton>
      {openstack === null ? (
        <button type="button" class="button" disabled title="The openstack command has no option for a part of this query">
          openstack
        </button>
      ) : (
        <CopyButton text={openstack} label="Copy as an openstack command">
          openstack
        </CopyButton>
      )}
      <CopyButton text={asPlacementPath(query)} label="Copy as a Placement URL">
        Placement URL
      </CopyButton>
    </>
  );
}

/** Parameters for the API: names that are repeated become lists. */
function paramsOf(query: Query): Record<string, string[]> {
  const params: Record<string, string[]> = {};
  for (const [name, value] of queryParts(query)) (params[name] ??= []).push(value);
  return params;
}

function Results({
  why,
  query,
  params,
  onQuery,
}: {
  why: Explanation;
  query: Query;
  params: Record<string, string[]>;
  onQuery: (query: Query) => void;
}): JSX.Element {
  const refresh = headRevision.value;
  const candidates = useDocument<Candidates>(
    "allocation_candidates",
    { ...params, limit: query.limit === null ? CANDIDATES : Math.min(query.limit, CANDIDATES) },
    { refresh, every: 4000, past: false },
  );
  const fit = useDocument<Fit>("plimsoll/v1/fit", params, { refresh, every: 8000 });
  const now = fit.value?.now;
  // A search of its own, as it undoes changes one by one.
  const since = useDocument<Explanation>(why.verdict === "found" ? null : "plimsoll/v1/explain", {
    ...params,
    since_when: true,
    examples: 0,
    relax: false,
    make_room: false,
  });
  const sinceWhen = since.value?.since_when;
  const suggestions = <Suggestions explanation={why} onQuery={(text) => onQuery(parseQuery(text))} />;
  return (
    <>
      <section class={`answer ${why.verdict.replace(" ", "-")}`} aria-live="polite" data-verdict={why.verdict}>
        <div class="answer-figure">
          <strong data-raw={why.hosts_with_candidates}>{number(why.hosts_with_candidates)}</strong>
          <span>of {plural(why.hosts, "host")}</span>
        </div>
        <div class="answer-text">
          <p class="answer-line">
            <Verdict verdict={why.verdict} />
            {now === undefined || why.verdict !== "found" ? null : (
              <span class="quiet">
                {now.exact ? "" : "at least "}
                <strong data-raw={now.instances}>{number(now.instances)}</strong> of this shape fit now
                {now.limiting_class === null ? "" : `, limited by ${now.limiting_class}`}
              </span>
            )}
          </p>
          <p>
            <Words text={why.summary} />
          </p>
          {sinceWhen === undefined ? null : (
            <p class="quiet">
              {sinceWhen.text}{" "}
              {sinceWhen.exact && sinceWhen.revision !== null ? <Link to={`/history?at=${encodeURIComponent(sinceWhen.revision)}`}>Show the change</Link> : null}
            </p>
          )}
          {why.never_together.map(({ text }) => (
            <p key={text}>
              <Words text={text} />
            </p>
          ))}
        </div>
      </section>
      <div class="find-columns">
        <div class="stack">
          {why.candidates === 0 ? null : <CandidateList candidates={candidates} query={query} total={why.candidates} />}
          {suggestions}
        </div>
        <div class="stack">
          <Funnel explanation={why} params={params} />
          <NearMisses explanation={why} />
        </div>
      </div>
    </>
  );
}
