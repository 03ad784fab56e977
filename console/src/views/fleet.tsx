// SPDX-License-Identifier: Apache-2.0

/** The whole cloud: load by class, a map of all hosts, what needs attention. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { findingsOf } from "../data/findings";
import { SHARES, sumOf, type ClassLoad, type Fleet, type Load } from "../data/fleet";
import { fleet, fleetError } from "../data/live";
import { number, percent, plural } from "../lib/units";
import { useNarrow } from "../lib/wide";
import { Amount, Empty, Failure, Loading } from "../parts/basics";
import { LoadBar } from "../parts/loadbar";
import { Page } from "../parts/page";
import { FindingsPanel } from "./fleet-findings";
import { FleetMap } from "./fleet-map";
import { RecentUnplaced } from "./recent-unplaced";

export function FleetView(): JSX.Element {
  const current = fleet.value;
  if (current === null) {
    const error = fleetError.value;
    return (
      <Page view="fleet" title="Fleet" state={error === null ? "loading" : "error"}>
        {error === null ? <Loading what="the fleet" lines={8} /> : <Failure error={error} what="the fleet" />}
      </Page>
    );
  }
  if (current.hosts.length === 0) {
    return (
      <Page view="fleet" title="Fleet" state="empty">
        <Empty title="No providers yet">
          <p>
            Compute services report their hosts when they start. To look around in a made-up cloud: <code>plimsoll demo</code>.
          </p>
        </Empty>
      </Page>
    );
  }
  return <FleetPage fleet={current} />;
}

function FleetPage({ fleet: current }: { fleet: Fleet }): JSX.Element {
  const totals = useMemo(() => sumOf(current.hosts), [current]);
  const findings = useMemo(() => findingsOf(current), [current]);
  const pools = useMemo(() => current.hosts.filter(({ root }) => root.traits.includes(SHARES)).length, [current]);
  const summary = `${plural(current.hosts.length, "host")}${pools > 0 ? ` (${number(pools)} of them shared storage)` : ""}, ${plural(current.providers.size, "provider")}`;
  return (
    <Page view="fleet" title="Fleet" subtitle={summary} state="ready">
      <section aria-labelledby="load-title">
        <h2 id="load-title" class="visually-hidden">
          Load by resource class
        </h2>
        <ClassTable fleet={current} totals={totals} stranded={findings.stranded} />
      </section>
      <div class={current.hosts.length <= FEW_HOSTS ? "fleet-columns few" : "fleet-columns"}>
        <FleetMap fleet={current} />
        <FindingsPanel findings={findings} />
        <RecentUnplaced />
      </div>
    </Page>
  );
}

/** The map of so few hosts is low: there is room below it. */
const FEW_HOSTS = 64;

/** The classes that are shown before the viewer asks for all. */
const FIRST_CLASSES = 8;
/** On a phone a class takes several lines. */
const FIRST_CLASSES_NARROW = 4;

function ClassTable({ fleet: current, totals, stranded }: { fleet: Fleet; totals: Load; stranded: Map<string, number> }): JSX.Element {
  const [all, setAll] = useState(false);
  const first = useNarrow() ? FIRST_CLASSES_NARROW : FIRST_CLASSES;
  const shown = all ? current.classes : current.classes.slice(0, first);
  return (
    <div class="panel load-panel">
      <table class="load-table">
        <thead>
          <tr>
            <th scope="col">Class</th>
            <th scope="col" class="load-bar-cell">
              <span class="bar-legend">
                <i class="used" />
                allocated
                <i class="free" />
                free
                <i class="limit" />
                capacity
                <i class="reserved" />
                reserved
              </span>
            </th>
            <th scope="col" colSpan={2}>
              Allocated
            </th>
            <th scope="col">Free</th>
            <th scope="col" title="The largest amount that one claim on one provider can have">
              Largest piece
            </th>
            <th scope="col">Reserved</th>
            <th scope="col" title="Free on hosts on which another class is used up">
              Stranded
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((name) => (
            <ClassRow key={name} name={name} load={totals.get(name)} stranded={stranded.get(name) ?? 0} />
          ))}
        </tbody>
      </table>
      {current.classes.length > first ? (
        <button type="button" class="link-button" onClick={() => setAll(!all)}>
          {all ? "Show fewer classes" : `Show all ${current.classes.length} classes`}
        </button>
      ) : null}
    </div>
  );
}

function ClassRow({ name, load, stranded }: { name: string; load: ClassLoad | undefined; stranded: number }): JSX.Element | null {
  if (load === undefined) return null;
  const optional = (value: number): JSX.Element => (value === 0 ? <span class="quiet none">–</span> : <Amount of={name} value={value} />);
  return (
    <tr data-class={name}>
      <th scope="row">
        <span class="class-name" title={name}>
          {name}
        </span>
        {load.overfull > 0 ? (
          <span class="over-chip" title="More of it is allocated than the capacity">
            {plural(load.overfull, "provider")} over-full
          </span>
        ) : null}
      </th>
      <td class="load-bar-cell">
        <LoadBar of={name} load={load} size="large" />
      </td>
      <td class="share">{percent(load.used, load.capacity)}</td>
      <td data-figure="used" class="allocated">
        <Amount of={name} value={load.used} /> <span class="quiet">of</span> <Amount of={name} value={load.capacity} label="capacity" />
      </td>
      <td data-label="Free" data-figure="free">
        <Amount of={name} value={load.free} />
      </td>
      <td data-label="Largest piece" data-figure="largest">
        {optional(load.largest)}
      </td>
      <td data-label="Reserved" data-figure="reserved">
        {optional(load.reserved)}
      </td>
      <td data-label="Stranded" data-figure="stranded">
        {optional(stranded)}
      </td>
    </tr>
  );
}
