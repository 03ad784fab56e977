// SPDX-License-Identifier: Apache-2.0

/** Near misses: hosts by clauses, the nearest first. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Explanation } from "../api/types";
import { providerPath } from "../lib/paths";
import { reasonWords } from "../lib/reasons";
import { number, plural } from "../lib/units";
import { Link } from "../parts/basics";
import { breakable } from "../parts/breakable";
import { Words } from "../parts/words";

const FIRST = 12;

export function NearMisses({ explanation }: { explanation: Explanation }): JSX.Element | null {
  const { examples, clauses, more_hosts: more } = explanation;
  const [all, setAll] = useState(false);
  if (examples.length === 0) return null;
  const columns = clauses.filter(({ failed }) => failed > 0);
  return (
    <section class="panel" aria-labelledby="misses-title">
      <div class="panel-head">
        <h2 id="misses-title">Near misses</h2>
        <span class="quiet">
          {plural(examples.length, "host")}, the nearest first{more > 0 ? `, of ${number(more + examples.length)} without candidates` : ""}
        </span>
      </div>
      <div class="matrix-scroll" tabIndex={0} role="group" aria-label="Hosts by clauses">
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">Host</th>
              {columns.map((clause) => (
                <th key={clause.number} scope="col" title={`${clause.asked}: ${reasonWords(clause.reason)}`}>
                  <span class="matrix-number">#{clause.number}</span>
                  <small class="matrix-asked">{breakable(clause.resource_class ?? clause.asked.split("=")[1] ?? "")}</small>
                  <small>{reasonWords(clause.reason)}</small>
                </th>
              ))}
              <th scope="col" class="matrix-why">
                Why not
              </th>
            </tr>
          </thead>
          <tbody data-keys>
            {examples.slice(0, all ? undefined : FIRST).map((host) => {
              const failed = new Map(host.obstacles.map((obstacle) => [obstacle.clause, obstacle.text]));
              return (
                <tr key={host.uuid}>
                  <th scope="row">
                    <Link to={providerPath(host.uuid)}>{host.name}</Link>
                  </th>
                  {columns.map(({ number: clause }) => {
                    const text = failed.get(clause);
                    return (
                      <td key={clause} class={text === undefined ? "met" : "failed"} title={text ?? "met, or not asked"}>
                        <i aria-hidden="true" />
                        <span class="visually-hidden">{text === undefined ? "met" : "fails"}</span>
                      </td>
                    );
                  })}
                  <td class="matrix-why">
                    {[...new Set(host.obstacles.map(({ text }) => text))].map((text) => (
                      <div key={text}>
                        <Words text={text} />
                      </div>
                    ))}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {examples.length > FIRST ? (
        <button type="button" class="link-button" onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show ${number(examples.length)} hosts`}
        </button>
      ) : null}
    </section>
  );
}
