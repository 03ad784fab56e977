// SPDX-License-Identifier: Apache-2.0

/** The funnel: each clause of the query with the hosts that are left after it. A click opens the hosts lost there. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Params } from "../api/client";
import type { Clause, Explanation } from "../api/types";
import { useDocument } from "../data/resource";
import { useParams } from "../lib/navigation";
import { providerPath } from "../lib/paths";
import { reasonWords } from "../lib/reasons";
import { breakable } from "../parts/breakable";
import { amount, number, plural } from "../lib/units";
import { Failure, Link, Loading } from "../parts/basics";
import { Words } from "../parts/words";

const LOST = 50;

export function Funnel({ explanation, params }: { explanation: Explanation; params: Params }): JSX.Element {
  const [all, setAll] = useState(false);
  const [own, setOwn] = useParams();
  const opened = Number(own.get("clause") ?? 0);
  const { clauses, hosts } = explanation;
  const failing = clauses.filter((clause) => clause.failed > 0);
  const shown = all ? clauses : failing;
  let before = hosts;
  const lostAt = new Map<number, number>();
  for (const clause of clauses) {
    lostAt.set(clause.number, before - clause.left);
    before = clause.left;
  }
  return (
    <section class="panel" aria-labelledby="funnel-title">
      <div class="panel-head">
        <h2 id="funnel-title">From {plural(hosts, "host")}</h2>
        <span class="quiet">in the order of the search</span>
      </div>
      <table class="funnel">
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">Clause</th>
            <th scope="col" class="figure" title="Hosts that fail neither this clause nor any before it">
              Left
            </th>
            <th scope="col" class="figure" title="Hosts that this clause removes">
              Lost
            </th>
            <th scope="col" class="figure" title="Hosts that would have candidates without this clause alone">
              Sole obstacle
            </th>
            <th scope="col" class="figure overlap" title="The clause that fails at the most of the same hosts">
              Overlap
            </th>
          </tr>
        </thead>
        <tbody data-keys>
          {shown.map((clause) => (
            <ClauseRow
              key={clause.number}
              clause={clause}
              hosts={hosts}
              lost={lostAt.get(clause.number) ?? 0}
              open={opened === clause.number}
              params={params}
              onToggle={() => setOwn({ clause: opened === clause.number ? null : String(clause.number) })}
            />
          ))}
          {shown.length === 0 ? (
            <tr>
              <td colSpan={6} class="quiet">
                No clause fails at any host.
              </td>
            </tr>
          ) : null}
        </tbody>
      </table>
      {clauses.length > failing.length ? (
        <button type="button" class="link-button" onClick={() => setAll(!all)}>
          {all ? "Only clauses that fail somewhere" : `Show also ${plural(clauses.length - failing.length, "clause")} that fail nowhere`}
        </button>
      ) : null}
    </section>
  );
}

function ClauseRow({
  clause,
  hosts,
  lost,
  open,
  params,
  onToggle,
}: {
  clause: Clause;
  hosts: number;
  lost: number;
  open: boolean;
  params: Params;
  onToggle: () => void;
}): JSX.Element {
  const share = hosts === 0 ? 0 : (clause.left / hosts) * 100;
  const lostShare = hosts === 0 ? 0 : (lost / hosts) * 100;
  const best = clause.best === undefined || clause.resource_class === undefined ? null : amount(clause.resource_class, Math.max(0, clause.best));
  return (
    <>
      <tr class={open ? "open" : ""}>
        <td class="clause-number">{clause.number}</td>
        <td class="clause">
          <button type="button" class="clause-button" aria-expanded={open} disabled={lost === 0} onClick={onToggle}>
            <code>{breakable(clause.asked)}</code>
            <span class="quiet">
              {reasonWords(clause.reason)}
              {clause.group === null || clause.group === "" ? "" : `, group ${clause.group}`}
              {best === null || clause.failed === 0 ? "" : `; of those that fail, the best: ${best}`}
            </span>
          </button>
          <span class="funnel-bar" aria-hidden="true">
            <i class="left" style={{ width: `${share}%` }} />
            <i class="lost" style={{ width: `${lostShare}%` }} />
          </span>
        </td>
        <td class="figure" data-raw={clause.left}>
          {number(clause.left)}
        </td>
        <td class="figure lost" data-raw={lost}>
          {lost === 0 ? "" : `−${number(lost)}`}
        </td>
        <td class="figure" data-raw={clause.sole}>
          {clause.sole === 0 ? "" : <strong>{number(clause.sole)}</strong>}
        </td>
        <td class="figure overlap" title={clause.overlap === null ? "" : `Fails together with clause ${clause.overlap.clause} at ${clause.overlap.hosts} hosts`}>
          {clause.overlap === null ? "" : `#${clause.overlap.clause}: ${number(clause.overlap.hosts)}`}
        </td>
      </tr>
      {open ? (
        <tr class="lost-row">
          <td colSpan={6}>
            <LostHosts clause={clause.number} params={params} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

function LostHosts({ clause, params }: { clause: number; params: Params }): JSX.Element {
  const list = useDocument<Explanation>("plimsoll/v1/explain", { ...params, clause, examples: LOST, relax: false, make_room: false });
  if (list.error !== null) return <Failure error={list.error} what="the hosts lost here" retry={list.reload} />;
  if (list.value === null) return <Loading what="the hosts lost here" lines={3} />;
  return (
    <ul class="lost-hosts">
      {list.value.examples.map((host) => (
        <li key={host.uuid}>
          <Link to={providerPath(host.uuid)}>{host.name}</Link>
          <ul>
            {host.obstacles.map((obstacle) => (
              <li key={obstacle.clause} class={obstacle.clause === clause ? "" : "quiet"}>
                <Words text={obstacle.text} />
              </li>
            ))}
          </ul>
        </li>
      ))}
      {list.value.more_hosts > 0 ? <li class="quiet">and {plural(list.value.more_hosts, "more host")}</li> : null}
    </ul>
  );
}
