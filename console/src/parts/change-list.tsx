// SPDX-License-Identifier: Apache-2.0

/** Changes, the newest first; a click shows before and after. */

import { Fragment, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Change } from "../api/types";
import { changeKind, changeSentence, consumerDifferences, isFocused, providerDifferences, revisionNumber, type Difference, type Focus } from "../lib/changes";
import { consumerPath, projectPath, providerPath } from "../lib/paths";
import { absolute, clockTime, dayOf, parseTime } from "../lib/times";
import { plural } from "../lib/units";
import { Id, Link, Time } from "./basics";

/** `onRead`: whether the viewer points at the list or has opened a change, so that rows should stay where they are. */
export function Changes({ changes, focus, onRead }: { changes: readonly Change[]; focus?: Focus; onRead?: (reading: boolean) => void }): JSX.Element {
  const [open, setOpen] = useState<string | null>(null);
  const [pointing, setPointing] = useState(false);
  const reading = open !== null || pointing;
  useEffect(() => onRead?.(reading), [reading, onRead]);
  useEffect(() => () => onRead?.(false), [onRead]);
  return (
    <ol
      class="changes"
      data-keys
      onPointerEnter={(event) => setPointing(event.pointerType !== "touch")}
      onPointerLeave={() => setPointing(false)}
      onFocusIn={() => setPointing(true)}
      onFocusOut={() => setPointing(false)}
    >
      {changes.map((change, place) => (
        <Fragment key={change.revision}>
          {dayBefore(changes, place)}
          <li class={open === change.revision ? "open" : ""}>
            <button type="button" class="change" aria-expanded={open === change.revision} onClick={() => setOpen(open === change.revision ? null : change.revision)}>
              <span class="change-time" title={absolute(parseTime(change.time))}>
                {clockTime(parseTime(change.time))}
              </span>
              <span class="change-age quiet">
                <Time at={change.time} />
              </span>
              <span class="change-kind" data-operation={change.operation}>
                {changeKind(change)}
              </span>
              <span class="change-text">{changeSentence(change, focus)}</span>
            </button>
            {open === change.revision ? <Details change={change} focus={focus} /> : null}
          </li>
        </Fragment>
      ))}
    </ol>
  );
}

/** The day of a change, if it is not that of the change above it (or today, above the first). */
function dayBefore(changes: readonly Change[], place: number): JSX.Element | null {
  const day = dayOf(parseTime(changes[place]?.time ?? ""));
  const above = changes[place - 1];
  if (day === dayOf(above === undefined ? new Date() : parseTime(above.time))) return null;
  return <li class="change-day">{day}</li>;
}

/** Consumers of a change that are shown at once: a change can have hundreds. */
const FIRST_CONSUMERS = 10;

function Details({ change, focus }: { change: Change; focus: Focus | undefined }): JSX.Element {
  const [all, setAll] = useState(false);
  const focused = change.consumers.filter((each) => isFocused(each, focus));
  const shown = all ? change.consumers : (focused.length > 0 ? focused : change.consumers).slice(0, FIRST_CONSUMERS);
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
      {shown.map((consumer) => (
        <Differences key={consumer.uuid} title="Consumer" id={consumer.uuid} to={consumerPath(consumer.uuid)} label={consumer.uuid} list={consumerDifferences(consumer)} />
      ))}
      {change.consumers.length > shown.length ? (
        <button type="button" class="link-button" onClick={() => setAll(true)}>
          Show all {plural(change.consumers.length, "consumer")} of this change
        </button>
      ) : null}
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
