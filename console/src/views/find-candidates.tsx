// SPDX-License-Identifier: Apache-2.0

/** The candidates, by host. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Candidate, Candidates } from "../api/types";
import { fleet, moment } from "../data/live";
import type { Loaded } from "../data/resource";
import { amountOf } from "../lib/changes";
import { shortId } from "../lib/names";
import { providerPath } from "../lib/paths";
import type { Query } from "../lib/query";
import { compareClasses, number, plural } from "../lib/units";
import { Failure, Link, Loading } from "../parts/basics";
import { Resources } from "../parts/resources";

const FIRST = 12;

interface OfHost {
  root: string;
  candidates: Candidate[];
}

function byHost({ allocation_requests: requests, provider_summaries: summaries }: Candidates): OfHost[] {
  const hosts = new Map<string, Candidate[]>();
  for (const candidate of requests) {
    // Shared storage is of another tree; the host is the one with the most providers of the candidate.
    const roots = Object.keys(candidate.allocations).map((uuid) => summaries[uuid]?.root_provider_uuid ?? uuid);
    const root = mostOften(roots);
    const list = hosts.get(root);
    if (list === undefined) hosts.set(root, [candidate]);
    else list.push(candidate);
  }
  return [...hosts].map(([root, candidates]) => ({ root, candidates }));
}

function mostOften(values: readonly string[]): string {
  let best = values[0] ?? "";
  let most = 0;
  for (const value of values) {
    const count = values.filter((each) => each === value).length;
    if (count > most) [best, most] = [value, count];
  }
  return best;
}

export function CandidateList({ candidates, query, total }: { candidates: Loaded<Candidates>; query: Query; total: number }): JSX.Element {
  const [all, setAll] = useState(false);
  const list = candidates.value === null ? [] : byHost(candidates.value);
  const summaries = candidates.value?.provider_summaries ?? {};
  const received = candidates.value?.allocation_requests.length ?? 0;
  const name = (uuid: string): string => fleet.value?.providers.get(uuid)?.name ?? shortId(uuid);
  return (
    <section class="panel" aria-labelledby="candidates-title">
      <div class="panel-head">
        <h2 id="candidates-title">
          {plural(total, "candidate")}
          {moment.value === null ? "" : " then"}
        </h2>
        {total > received && received > 0 ? <span class="quiet">the first {number(received)}</span> : null}
      </div>
      {moment.value !== null ? (
        <p class="quiet about">Candidates are those of now; the funnel is as of then.</p>
      ) : null}
      {candidates.error !== null ? (
        <Failure error={candidates.error} what="candidates" retry={candidates.reload} />
      ) : candidates.value === null ? (
        <Loading what="candidates" />
      ) : list.length === 0 ? (
        <p class="quiet">No host can take it now.</p>
      ) : (
        <>
          <ul class="candidates" data-keys>
            {list.slice(0, all ? undefined : FIRST).map(({ root, candidates: each }) => {
              const detailed = query.groups.length > 1 || each.length > 1 || !isOfOne(each[0], root);
              return (
                <li key={root}>
                  <div class="candidate-host">
                    <Link to={providerPath(root)}>{name(root)}</Link>
                    {each.length > 1 ? (
                      <span class="quiet">{number(each.length)} ways</span>
                    ) : detailed ? null : (
                      <span class="quiet leaves">leaves {leavesOf(each[0], summaries)}</span>
                    )}
                  </div>
                  {detailed ? <Ways candidates={each} name={name} /> : null}
                </li>
              );
            })}
          </ul>
          {list.length > FIRST ? (
            <button type="button" class="link-button" onClick={() => setAll(!all)}>
              {all ? "Show fewer" : `Show all ${number(list.length)} hosts that were read`}
            </button>
          ) : null}
        </>
      )}
    </section>
  );
}

/** Whether everything is of this provider: its name needs no second line. */
function isOfOne(candidate: Candidate | undefined, uuid: string): boolean {
  return Object.keys(candidate?.allocations ?? {}).every((each) => each === uuid);
}

/** What is free on the one provider of a candidate after it is claimed. */
function leavesOf(candidate: Candidate | undefined, summaries: Candidates["provider_summaries"]): string {
  return Object.entries(candidate?.allocations ?? {})
    .flatMap(([uuid, { resources }]) =>
      Object.keys(resources)
        .sort(compareClasses)
        .map((name) => {
          const { capacity = 0, used = 0 } = summaries[uuid]?.resources[name] ?? {};
          return amountOf(name, Math.max(0, capacity - used - (resources[name] ?? 0)));
        }),
    )
    .join(", ");
}

const FIRST_WAYS = 2;

function Ways({ candidates, name }: { candidates: readonly Candidate[]; name: (uuid: string) => string }): JSX.Element {
  return (
    <ul class="ways">
      {candidates.slice(0, FIRST_WAYS).map((candidate, place) => (
        <li key={place}>
          {Object.entries(candidate.allocations).map(([uuid, { resources }]) => (
            <div key={uuid} class="way">
              <Link to={providerPath(uuid)}>{name(uuid)}</Link> <Resources resources={resources} />
              {groupsOf(candidate, uuid).map((suffix) => (
                <span key={suffix} class="badge">
                  {suffix}
                </span>
              ))}
            </div>
          ))}
        </li>
      ))}
      {candidates.length > FIRST_WAYS ? <li class="quiet">and {number(candidates.length - FIRST_WAYS)} more ways</li> : null}
    </ul>
  );
}

function groupsOf(candidate: Candidate, uuid: string): string[] {
  return Object.entries(candidate.mappings).flatMap(([suffix, uuids]) => (suffix !== "" && uuids.includes(uuid) ? [suffix] : []));
}
