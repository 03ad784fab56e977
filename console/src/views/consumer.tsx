// SPDX-License-Identifier: Apache-2.0

/** One consumer: what it holds and where, and its history. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useParams as useRoute } from "wouter-preact";
import type { Consumer } from "../api/types";
import { fleet, headRevision, moment } from "../data/live";
import { useDocument } from "../data/resource";
import { shortId } from "../lib/names";
import { decoded, projectPath, providerPath } from "../lib/paths";
import { compareClasses, percent } from "../lib/units";
import { Amount, Failure, Id, Link, Loading, Time } from "../parts/basics";
import { HistoryPanel } from "../parts/history-panel";
import { LoadBar } from "../parts/loadbar";
import { Crumb, Page } from "../parts/page";
import { loadOfInventory } from "./provider";

export function ConsumerView(): JSX.Element {
  const { uuid } = useRoute<{ uuid: string }>();
  const id = decoded(uuid);
  const consumer = useDocument<Consumer>(`plimsoll/v1/consumers/${encodeURIComponent(id)}`, {}, { refresh: headRevision.value, every: 2000, past: false });
  const value = consumer.value;
  const focus = useMemo(() => new Set([id]), [id]);
  const state = value !== null ? "ready" : consumer.error !== null ? "error" : "loading";
  return (
    <Page
      view="consumer"
      title={`Consumer ${shortId(id)}`}
      heading={
        <>
          <Crumb to="/consumers">Consumers</Crumb>
          {shortId(id)}
        </>
      }
      subtitle={
        <span class="subtitle-items">
          <Id id={id} full />
          {value === null ? null : (
            <>
              <span>{value.type === "unknown" ? "no type" : value.type}</span>
              <span>
                project <Id id={value.project} to={projectPath(value.project)} />
              </span>
              <span>
                user <Id id={value.user} to={`/consumers?user=${encodeURIComponent(value.user)}`} />
              </span>
              <span>generation {value.generation}</span>
              <span>
                created <Time at={value.created_at} />
              </span>
            </>
          )}
        </span>
      }
      state={state}
    >
      <div class="stack">
        <section class="panel" aria-labelledby="holds-title">
          <div class="panel-head">
            <h2 id="holds-title">Holds</h2>
          </div>
          {moment.value === null ? null : <p class="notice">This is the consumer of now; what happened to it is in its history.</p>}
          {consumer.error !== null ? (
            <Failure error={consumer.error} what={`consumer ${id}`} retry={consumer.reload} />
          ) : value === null ? (
            <Loading what="the consumer" />
          ) : (
            <Holdings consumer={value} />
          )}
        </section>
        <HistoryPanel filter="consumer" id={id} focus={focus} />
      </div>
    </Page>
  );
}

function Holdings({ consumer }: { consumer: Consumer }): JSX.Element {
  return (
    <ul class="holdings">
      {Object.entries(consumer.allocations).map(([uuid, { name, resources }]) => {
        const provider = fleet.value?.providers.get(uuid);
        const root = provider === undefined ? undefined : fleet.value?.providers.get(provider.root);
        return (
          <li key={uuid}>
            <p>
              <Link to={providerPath(uuid)}>
                <strong>{name}</strong>
              </Link>{" "}
              {root === undefined || root.uuid === uuid ? null : (
                <span class="quiet">
                  in <Link to={providerPath(root.uuid)}>{root.name}</Link>
                </span>
              )}
            </p>
            <table class="holding">
              <tbody>
                {Object.keys(resources)
                  .sort(compareClasses)
                  .map((each) => {
                    const inventory = provider?.inventories[each];
                    return (
                      <tr key={each} data-class={each}>
                        <th scope="row">{each}</th>
                        <td class="figure">
                          <Amount of={each} value={resources[each] ?? 0} />
                        </td>
                        <td class="holding-bar">{inventory === undefined ? null : <LoadBar of={each} load={loadOfInventory(inventory)} part={resources[each] ?? 0} />}</td>
                        <td class="quiet">
                          {inventory === undefined
                            ? ""
                            : `${percent(resources[each] ?? 0, inventory.capacity)} of the capacity; ${percent(inventory.used, inventory.capacity)} with all other consumers`}
                        </td>
                      </tr>
                    );
                  })}
              </tbody>
            </table>
          </li>
        );
      })}
    </ul>
  );
}
