// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import type { Consumer } from "../api/types";
import { consumerPath, projectPath, providerPath } from "../lib/paths";
import { Id, Link, Time } from "./basics";
import { Resources } from "./resources";

/** Consumers with what they hold. `of`: only what they hold of this provider. */
export function ConsumerTable({ consumers, of, showProject = true }: { consumers: readonly Consumer[]; of?: string; showProject?: boolean }): JSX.Element {
  return (
    <div class="table-scroll">
      <table class="list-table">
        <thead>
          <tr>
            <th scope="col">Consumer</th>
            <th scope="col">Type</th>
            {showProject ? <th scope="col">Project</th> : null}
            <th scope="col">Holds</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody data-keys>
          {consumers.map((consumer) => (
            <tr key={consumer.uuid}>
              <td>
                <Id id={consumer.uuid} to={consumerPath(consumer.uuid)} />
              </td>
              <td>{consumer.type === "unknown" ? <span class="quiet">no type</span> : consumer.type}</td>
              {showProject ? (
                <td>
                  <Id id={consumer.project} to={projectPath(consumer.project)} />
                </td>
              ) : null}
              <td class="holds">
                {Object.entries(consumer.allocations)
                  .filter(([uuid]) => of === undefined || uuid === of)
                  .map(([uuid, { name, resources }]) => (
                    <div key={uuid} class="held">
                      {of === undefined ? <Link to={providerPath(uuid)}>{name}</Link> : null} <Resources resources={resources} />
                    </div>
                  ))}
              </td>
              <td class="quiet">
                <Time at={consumer.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
