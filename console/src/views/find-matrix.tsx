// SPDX-License-Identifier: Apache-2.0

/** Near misses: hosts by clauses, the nearest first. */

import type { JSX } from "preact";
import type { Explanation } from "../api/types";
import { providerPath } from "../lib/paths";
import { reasonWords } from "../lib/reasons";
import { plural } from "../lib/units";
import { Link } from "../parts/basics";

export function NearMisses({ explanation }: { explanation: Explanation }): JSX.Element | null {
  const { examples, clauses, more_hosts: more } = explanation;
  if (examples.length === 0) return null;
  const columns = clauses.filter(({ failed }) => failed > 0);
  return (
    <section class="panel" aria-labelledby="misses-title">
      <div class="panel-head">
        <h2 id="misses-title">Near misses</h2>
        <span class="quiet">
          {plural(examples.length, "host")}, the nearest first{more > 0 ? `, of ${(more + examples.length).toLocaleString("en")} without candidates` : ""}
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
                  <small>{clause.resource_class ?? (clause.asked.split("=")[1] ?? "")}</small>
                  <small>{clause.reason}</small>
                </th>
              ))}
              <th scope="col" class="matrix-why">
                Why not
              </th>
            </tr>
          </thead>
          <tbody data-keys>
            {examples.map((host) => {
              const failed = new Map(host.obstacles.map((obstacle) => [obstacle.clause, obstacle.text]));
              return (
                <tr key={host.uuid}>
                  <th scope="row">
                    <Link to={providerPath(host.uuid)}>{host.name}</Link>
                  </th>
                  {columns.map(({ number }) => {
                    const text = failed.get(number);
                    return (
                      <td key={number} class={text === undefined ? "met" : "failed"} title={text ?? "met, or not asked"}>
                        <i aria-hidden="true" />
                        <span class="visually-hidden">{text === undefined ? "met" : "fails"}</span>
                      </td>
                    );
                  })}
                  <td class="matrix-why">{host.obstacles.map(({ text }) => text).join("; ")}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
