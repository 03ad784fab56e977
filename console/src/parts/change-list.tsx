// SPDX-License-Identifier: Apache-2.0

/** Changes, the newest first; a click shows before and after. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Change } from "../api/types";
import { changeKind, changeSentence, consumerDifferences, providerDifferences, revisionNumber, type Difference } from "../lib/changes";
import { consumerPath, projectPath, providerPath } from "../lib/paths";
import { absolute, clockTime, parseTime } from "../lib/times";
import { Id, Link, Time } from "./basics";

export function Changes({ changes }: { changes: readonly Change[] }): JSX.Element {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <ol class="changes" data-keys>
      {changes.map((change) => (
        <li key={change.revision} class={open === change.revision ? "open" : ""}>
          <button type="button" class="change" aria-expanded={open === change.revision} onClick={() => setOpen(open === change.revision ? null : change.revision)}>
            <span class="change-time" title={absolute(parseTime(change.time))}>
              {clockTime(parseTime(change.time))}
            </span>
            <span class="change-kind" data-operation={change.operation}>
              {changeKind(change)}
            </span>
            <span class="change-text">{changeSentence(change)}</span>
            <span class="change-age quiet">
              <Time at={change.time} />
            </span>
          </button>
          {open === change.revision ? <Details change={change} /> : null}
        </li>
      ))}
    </ol>
  );
}

function Details({ change }: { change: Change }): JSX.Element {
  return (
    <div class="change-details">
      <dl class="facts">
        <Fact name="revision">
          <Link to={`/?at=${encodeURIComponent(change.revision)}`} title="Show the fleet right after this change">
            {change.revision}
          </Link>{" "}
          {revisionNumber(change.revision) > 0 ? (
            <Link to={`/?at=${encodeURIComponent(change.revision.replace(/\d+$/, String(revisionNumber(change.revision) - 1)))}`}>before it</Link>
          ) : null}
        </Fact>
        <Fact name="time">{absolute(parseTime(change.time))}</Fact>
        <Fact name="operation">
          <code>{change.operation}</code>
        </Fact>
        {change.user === null ? null : <Fact name="by user">{change.user}</Fact>}
        {change.project === null ? null : (
          <Fact name="of project">
            <Link to={projectPath(change.project)}>{change.project}</Link>
          </Fact>
        )}
        {change.request_id === null ? null : (
          <Fact name="request">
            <Id id={change.request_id} />
          </Fact>
        )}
        {change.global_request_id === null ? null : (
          <Fact name="nova's request">
            <Id id={change.global_request_id} />
          </Fact>
        )}
      </dl>
      {change.consumers.map((consumer) => (
        <Differences key={consumer.uuid} title="Consumer" id={consumer.uuid} to={consumerPath(consumer.uuid)} label={consumer.uuid} list={consumerDifferences(consumer)} />
      ))}
      {change.providers.map((provider) => (
        <Differences
          key={provider.uuid}
          title="Provider"
          id={provider.uuid}
          to={providerPath(provider.uuid)}
          label={provider.name ?? provider.uuid}
          list={providerDifferences(provider)}
        />
      ))}
      {change.names.length === 0 ? null : (
        <ul>
          {change.names.map(({ kind, before, after }) => (
            <li key={`${kind} ${before ?? ""} ${after ?? ""}`}>
              {kind.replace("_", " ")}: {before ?? "–"} → {after ?? "–"}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: JSX.Element | string | (JSX.Element | string | null)[] }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Differences({ title, id, to, label, list }: { title: string; id: string; to: string; label: string; list: readonly Difference[] }): JSX.Element {
  return (
    <div class="differences">
      <p>
        <span class="quiet">{title}</span>{" "}
        <Link to={to} title={id}>
          {label}
        </Link>
      </p>
      {list.length === 0 ? (
        <p class="quiet">nothing else</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">what</th>
              <th scope="col">before</th>
              <th scope="col">after</th>
            </tr>
          </thead>
          <tbody>
            {list.map(({ what, before, after }) => (
              <tr key={what}>
                <th scope="row">{what}</th>
                <td class="before">{before ?? "–"}</td>
                <td class="after">{after ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
