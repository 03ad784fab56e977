// SPDX-License-Identifier: Apache-2.0

/** Searches that found nothing: by nova's request id, or all recent ones grouped by reason. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { UnplacedList, UnplacedSearch } from "../api/types";
import { headRevision } from "../data/live";
import { usePages } from "../data/pages";
import { useDocument } from "../data/resource";
import { useParams } from "../lib/navigation";
import { projectPath } from "../lib/paths";
import { failureWords } from "../lib/reasons";
import { number, plural } from "../lib/units";
import { Empty, Failure, Id, Link, Loading, Select, Time } from "../parts/basics";
import { OwnProjectNotice, Page } from "../parts/page";
import { Verdict } from "../parts/verdict";
import { Words } from "../parts/words";

const pick = (list: UnplacedList): { items: UnplacedSearch[]; next: string | null } => ({ items: list.unplaced, next: list.next });

export function UnplacedView(): JSX.Element {
  const [params, setParams] = useParams();
  const requestId = params.get("request_id");
  return (
    <Page view="unplaced" title="Unplaced" subtitle="Searches that found no host, with the reason at that time" state="ready">
      <OwnProjectNotice what="the searches" />
      <RequestForm initial={requestId ?? ""} onSubmit={(text) => setParams({ request_id: text }, { replace: false })} />
      {requestId === null ? <Recent /> : <OneRequest id={requestId} />}
    </Page>
  );
}

/** Nova's log lines and tables have more than the id. */
function requestIdIn(text: string): string {
  return /req-[0-9a-f-]{36}/i.exec(text)?.[0] ?? text.trim();
}

function RequestForm({ initial, onSubmit }: { initial: string; onSubmit: (text: string | null) => void }): JSX.Element {
  const [text, setText] = useState(initial);
  return (
    <form
      class="panel ask"
      role="search"
      aria-label="Request id"
      onSubmit={(event) => {
        event.preventDefault();
        const id = requestIdIn(text);
        setText(id);
        onSubmit(id === "" ? null : id);
      }}
    >
      <label class="field grow">
        <span class="field-label">Nova's request id</span>
        <input value={text} spellcheck={false} autocomplete="off" placeholder="req-… or a line of nova's log that has it" onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="button primary">
        Why?
      </button>
      {initial === "" ? null : (
        <button
          type="button"
          class="button"
          onClick={() => {
            setText("");
            onSubmit(null);
          }}
        >
          All recent ones
        </button>
      )}
    </form>
  );
}

function OneRequest({ id }: { id: string }): JSX.Element {
  const list = useDocument<UnplacedList>("plimsoll/v1/unplaced", { request_id: id }, { past: false });
  if (list.error !== null) return <Failure error={list.error} what={`request ${id}`} retry={list.reload} />;
  if (list.value === null) return <Loading what="the request" />;
  if (list.value.unplaced.length === 0) {
    return (
      <Empty title="No search of this request is stored">
        <p>
          Either its searches found hosts, or it is older than what is kept. What it changed is in the <Link to={`/history?request_id=${encodeURIComponent(id)}`}>history</Link>.
        </p>
      </Empty>
    );
  }
  return (
    <ul class="entries panel" data-keys>
      {list.value.unplaced.map((entry) => (
        <Entry key={`${entry.query} ${entry.microversion}`} entry={entry} open />
      ))}
    </ul>
  );
}

const AGES: readonly (readonly [string, string])[] = [
  ["1h", "last hour"],
  ["24h", "last 24 h"],
  ["7d", "last 7 days"],
];

function Recent(): JSX.Element {
  const [params, setParams] = useParams();
  const since = AGES.find(([age]) => age === params.get("since"))?.[0] ?? "24h";
  const pages = usePages("plimsoll/v1/unplaced", { limit: 200, since }, pick, { refresh: headRevision.value, every: 5000 });
  const groups = new Map<string, UnplacedSearch[]>();
  for (const entry of pages.items) {
    const group = groups.get(entry.reason);
    if (group === undefined) groups.set(entry.reason, [entry]);
    else group.push(entry);
  }
  const searches = (entries: readonly UnplacedSearch[]): number => entries.reduce((sum, entry) => sum + entry.searches, 0);
  const ordered = [...groups].sort(([, a], [, b]) => searches(b) - searches(a));
  const most = Math.max(1, ...ordered.map(([, entries]) => searches(entries)));
  const chosen = params.get("reason");
  const shown = chosen === null ? pages.items : (groups.get(chosen) ?? []);
  return (
    <>
      <div class="controls">
        <Select label="Since" value={since} options={AGES} onChange={(value) => setParams({ since: value === "24h" ? null : value })} />
      </div>
      {pages.error !== null ? (
        <Failure error={pages.error} what="unplaced searches" retry={pages.reload} />
      ) : pages.items.length === 0 ? (
        pages.loading ? (
          <Loading what="unplaced searches" />
        ) : (
          <Empty title="Every search found candidates">
            <p>Searches without a result are stored with their reason, and appear here.</p>
          </Empty>
        )
      ) : (
        <div class="unplaced-columns">
          <section class="panel" aria-labelledby="reasons-title">
            <div class="panel-head">
              <h2 id="reasons-title">Reasons</h2>
              <span class="quiet">the clause that alone excludes the most hosts</span>
            </div>
            <ul class="reasons" data-keys>
              {ordered.map(([reason, entries]) => (
                <li key={reason}>
                  <button type="button" aria-pressed={reason === chosen} onClick={() => setParams({ reason: reason === chosen ? null : reason })}>
                    <span class="reason-name">
                      <span>{failureWords(reason)}</span> <code class="quiet">{reason}</code>
                    </span>
                    <span class="reason-count">
                      {plural(searches(entries), "search", "searches")}
                      <span class="quiet">, {plural(entries.length, "query", "queries")}</span>
                    </span>
                    <span class="reason-bar" aria-hidden="true">
                      <i style={{ width: `${(searches(entries) / most) * 100}%` }} />
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
          <section class="panel" aria-labelledby="searches-title">
            <div class="panel-head">
              <h2 id="searches-title">Searches</h2>
              <span class="quiet">the newest first</span>
            </div>
            <ul class="entries" data-keys>
              {shown.map((entry) => (
                <Entry key={`${entry.project} ${entry.query} ${entry.microversion}`} entry={entry} />
              ))}
            </ul>
            {pages.hasMore ? (
              <button type="button" class="link-button" onClick={pages.more}>
                Read more
              </button>
            ) : null}
          </section>
        </div>
      )}
    </>
  );
}

function readable(query: string): string {
  try {
    return decodeURIComponent(query.replaceAll("+", " "));
  } catch {
    return query;
  }
}

function Entry({ entry, open = false }: { entry: UnplacedSearch; open?: boolean }): JSX.Element {
  const last = entry.requests[0];
  return (
    <li class="entry" data-verdict={entry.verdict}>
      <details open={open}>
        <summary>
          <span class="entry-head">
            <Verdict verdict={entry.verdict} />
            <span class="entry-reason" title={`The clause that alone excludes the most hosts: ${entry.reason}`}>
              {failureWords(entry.reason) || entry.reason}
            </span>
            <span class="quiet">
              {plural(entry.searches, "search", "searches")}, <Time at={entry.last_at} />
            </span>
          </span>
          <span class={open ? "" : "clamp"}><Words text={entry.summary} /></span>
        </summary>
        <div class="entry-body">
          <code class="entry-query">{readable(entry.query)}</code>
          <p class="entry-actions">
            <Link to={`/find?${entry.query}`} class="button">
              Try it now
            </Link>
            {last === undefined ? null : (
              <Link to={`/find?${entry.query}&at=${encodeURIComponent(last.revision)}`} class="button">
                As of then
              </Link>
            )}
          </p>
          <p class="quiet">
            Project <Link to={projectPath(entry.project)}>{entry.project}</Link>, microversion {entry.microversion}
            {entry.searches > 1 ? (
              <>
                , first <Time at={entry.first_at} />
              </>
            ) : null}
          </p>
          <ul class="requests">
            {entry.requests.map((request) => (
              <li key={request.request_id}>
                <Time at={request.at} />
                <span>
                  <span class="quiet">nova's</span> {request.global_request_id === null ? <span class="quiet">none</span> : <Id id={request.global_request_id} full />}
                </span>
                <span>
                  <span class="quiet">Plimsoll's</span> <Id id={request.request_id} full />
                </span>
                {request.summary === entry.summary ? null : <p class="quiet"><Words text={request.summary} /></p>}
              </li>
            ))}
          </ul>
          {entry.searches > entry.requests.length ? <p class="quiet">and {number(entry.searches - entry.requests.length)} earlier</p> : null}
        </div>
      </details>
    </li>
  );
}
