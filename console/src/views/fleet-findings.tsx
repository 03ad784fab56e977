// SPDX-License-Identifier: Apache-2.0

/** Lists of hosts: over-full, nearly full, fragmented, empty. */

import type { JSX, TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import type { Finding, Findings } from "../data/findings";
import type { Host } from "../data/fleet";
import { amountOf } from "../lib/changes";
import { useParams } from "../lib/navigation";
import { providerPath } from "../lib/paths";
import { amount, number, percent, plural } from "../lib/units";
import { useWide } from "../lib/wide";
import { Link } from "../parts/basics";
import { LoadBar } from "../parts/loadbar";

type Kind = "over" | "nearly" | "fragmented" | "empty";

const FIRST = 6;
const FIRST_WIDE = 14;
const MOST = 200;

const TEXTS: Readonly<Record<Kind, { title: string; none: string; about: string }>> = {
  over: {
    title: "Over-full",
    none: "No host is over-full.",
    about: "More is allocated than the capacity: the inventory was reduced below its use, or another program wrote to the database.",
  },
  nearly: { title: "Nearly full", none: "No host has more than 90 % of a class allocated.", about: "At least 90 % of some class is allocated." },
  fragmented: {
    title: "Fragmented",
    none: "No host has its free amounts in small pieces.",
    about: "Enough is free for the largest piece of the empty host, but in several pieces.",
  },
  empty: { title: "Empty", none: "Something is allocated on every host.", about: "Nothing is allocated." },
};

export function FindingsPanel({ findings }: { findings: Findings }): JSX.Element {
  const [params, setParams] = useParams();
  const [all, setAll] = useState(false);
  const counts: Readonly<Record<Kind, number>> = {
    over: findings.overFull.length,
    nearly: findings.nearlyFull.length,
    fragmented: findings.fragmented.length,
    empty: findings.empty.length,
  };
  const kinds: Kind[] = ["over", "nearly", "fragmented", "empty"];
  const kind = kinds.find((each) => each === params.get("list")) ?? kinds.find((each) => counts[each] > 0) ?? "over";
  const total = counts[kind];
  const first = useWide() ? FIRST_WIDE : FIRST;
  const shown = all ? MOST : first;
  return (
    <section class="panel attention" aria-labelledby="attention-title">
      <div class="panel-head">
        <h2 id="attention-title">Attention</h2>
      </div>
      <div class="tabs counted" role="tablist" aria-labelledby="attention-title" onKeyDown={tabKeys}>
        {kinds.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={each === kind}
            aria-controls="attention-list"
            tabIndex={each === kind ? 0 : -1}
            class={each === "over" && counts.over > 0 ? "alarm" : ""}
            onClick={() => {
              setAll(false);
              setParams({ list: each });
            }}
          >
            <span class="tab-count">{number(counts[each])}</span>
            <span class="tab-title">{TEXTS[each].title}</span>
          </button>
        ))}
      </div>
      <div id="attention-list" role="tabpanel" aria-labelledby={`tab-${kind}`}>
        <p class="quiet about">{total === 0 ? TEXTS[kind].none : TEXTS[kind].about}</p>
        <ul class="findings" data-keys>
          {kind === "empty"
            ? findings.empty.slice(0, shown).map((host) => <EmptyRow key={host.uuid} host={host} />)
            : listOf(findings, kind)
                .slice(0, shown)
                .map((finding) => <FindingRow key={`${finding.host.uuid} ${finding.resourceClass}`} finding={finding} kind={kind} />)}
        </ul>
        {total > first ? (
          <button type="button" class="link-button" onClick={() => setAll(!all)}>
            {all ? "Show fewer" : `Show ${total > MOST ? `the first ${MOST} of ${number(total)}` : `all ${number(total)}`}`}
          </button>
        ) : null}
      </div>
    </section>
  );
}

function listOf(findings: Findings, kind: "over" | "nearly" | "fragmented"): Finding[] {
  return kind === "over" ? findings.overFull : kind === "nearly" ? findings.nearlyFull : findings.fragmented;
}

/** Arrow keys move between tabs. */
export function tabKeys(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (step === 0) return;
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
  const place = tabs.findIndex((tab) => tab === document.activeElement);
  const next = tabs[(place + step + tabs.length) % tabs.length];
  next?.focus();
  next?.click();
  event.preventDefault();
}

function FindingRow({ finding, kind }: { finding: Finding; kind: Kind }): JSX.Element {
  const { host, resourceClass } = finding;
  const load = host.load.get(resourceClass);
  if (load === undefined) return <li />;
  const figures =
    kind === "fragmented"
      ? `largest ${amount(resourceClass, load.largest)} of ${amount(resourceClass, load.free)} free`
      : kind === "over"
        ? `${amount(resourceClass, load.used)} of ${amount(resourceClass, load.capacity)}`
        : `${amount(resourceClass, load.free)} free`;
  return (
    <li>
      <Link to={providerPath(host.uuid)} class="finding">
        <span class="finding-name">{host.name}</span>
        <span class="finding-share">{kind === "fragmented" ? "" : percent(load.used, load.capacity)}</span>
        <span class="finding-line">
          <span>{resourceClass}</span>
          <span>{figures}</span>
        </span>
        <LoadBar of={resourceClass} load={load} />
      </Link>
    </li>
  );
}

function EmptyRow({ host }: { host: Host }): JSX.Element {
  const classes = [...host.load].slice(0, 3);
  return (
    <li>
      <Link to={providerPath(host.uuid)} class="finding plain">
        <span class="finding-name">{host.name}</span>
        <span class="finding-share">{host.members.length > 1 ? plural(host.members.length, "provider") : ""}</span>
        <span class="finding-line">{classes.map(([name, load]) => amountOf(name, load.capacity)).join(" · ")}</span>
      </Link>
    </li>
  );
}
