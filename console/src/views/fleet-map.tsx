// SPDX-License-Identifier: Apache-2.0

/** The map of all hosts with its controls, groups and the card of the host under the pointer. */

import { useSignal, type Signal } from "@preact/signals";
import type { CSSProperties, JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";
import type { Fit } from "../api/types";
import { fitsOnHost, type Fleet, type Host } from "../data/fleet";
import { aggregateName, groupHosts, type GroupBy, type HostGroup } from "../data/groups";
import { useDocument } from "../data/resource";
import { ABSENT, countStep, loadStep, OVER_COLOUR, scaleColours } from "../lib/colours";
import { cellSize, type Density } from "../lib/layout";
import { shortId } from "../lib/names";
import { useParams, withMoment } from "../lib/navigation";
import { providerPath } from "../lib/paths";
import { parseShape, shapeText } from "../lib/shape";
import { theme } from "../lib/theme";
import { amount, number, percent, plural } from "../lib/units";
import { Amount, CopyButton, Link, Segmented, Select } from "../parts/basics";
import { HeatMap, type Colouring, type Pointed } from "../parts/heatmap";
import { LoadBar } from "../parts/loadbar";

const DEFAULT_SHAPE = "VCPU:4,MEMORY_MB:16384";
const FIT = "fit";

export function FleetMap({ fleet }: { fleet: Fleet }): JSX.Element {
  const [params, setParams] = useParams();
  const [, navigate] = useLocation();
  const search = useSearch();
  const pointed = useSignal<Pointed | null>(null);
  const [frame, width] = useWidth();

  const asked = params.get("colour");
  const preferred = fleet.classes.includes("VCPU") ? "VCPU" : (fleet.classes[0] ?? "VCPU");
  const colour = asked !== null && (asked === FIT || fleet.classes.includes(asked)) ? asked : preferred;
  const by = oneOf<GroupBy>(params.get("group"), ["nothing", "aggregate", "trait"]);
  const order = oneOf(params.get("order"), ["name", "load"]);
  const density = oneOf<Density>(params.get("cells"), ["auto", "cells", "names"]);
  const shapeParam = params.get("shape") ?? DEFAULT_SHAPE;
  const shape = useMemo(() => parseShape(shapeParam), [shapeParam]);

  const most = useMemo(() => {
    if (colour !== FIT || shape === null) return 0;
    let largest = 0;
    for (const host of fleet.hosts) largest = Math.max(largest, fitsOnHost(host, shape));
    return largest;
  }, [fleet, colour, shape]);

  const colouring = useMemo((): Colouring => {
    if (colour === FIT) {
      const wanted = shape ?? new Map<string, number>();
      const applies = (host: Host): boolean => [...wanted.keys()].every((name) => host.load.has(name));
      return {
        scale: "fit",
        key: `fit ${shapeParam} ${most}`,
        step: (host) => (applies(host) ? countStep(fitsOnHost(host, wanted), most) : ABSENT),
        share: (host) => (most === 0 ? 0 : fitsOnHost(host, wanted) / most),
        figure: (host) => (applies(host) ? number(fitsOnHost(host, wanted)) : "–"),
        detail: (host) => (applies(host) ? "fit" : "lacks a class"),
      };
    }
    return {
      scale: "load",
      key: colour,
      step: (host) => {
        const load = host.load.get(colour);
        if (load === undefined) return ABSENT;
        return loadStep(load.overfull > 0 ? load.capacity + 1 : load.used, load.capacity);
      },
      share: (host) => {
        const load = host.load.get(colour);
        return load === undefined || load.capacity <= 0 ? 0 : load.used / load.capacity;
      },
      figure: (host) => {
        const load = host.load.get(colour);
        return load === undefined ? "–" : percent(load.used, load.capacity);
      },
      detail: (host) => {
        const load = host.load.get(colour);
        return load === undefined ? `no ${colour}` : `${amount(colour, load.free)} free`;
      },
    };
    // The fleet is in the list so that a change gives another object, and changed cells are drawn.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [fleet, colour, shape, shapeParam, most]);

  const grouping = useMemo(() => groupHosts(fleet, by), [fleet, by]);
  const groups = useMemo(() => {
    if (order === "name") return grouping.groups;
    return grouping.groups.map((group) => ({
      ...group,
      hosts: group.hosts.toSorted((a, b) => colouring.share(b) - colouring.share(a)),
    }));
  }, [grouping, order, colouring]);
  // One size for all groups, so that they can be compared by eye.
  const cell = useMemo(() => cellSize(fleet.hosts.length, width, density), [fleet.hosts.length, width, density]);

  const open = useCallback((host: Host) => navigate(withMoment(providerPath(host.uuid), search)), [navigate, search]);
  const point = useCallback((next: Pointed | null) => (pointed.value = next), [pointed]);

  const classOptions: (readonly [string, string])[] = fleet.classes.map((name) => [name, `${name} allocated`]);
  return (
    <section class="panel map" aria-labelledby="map-title">
      <div class="panel-head">
        <h2 id="map-title">Hosts</h2>
        <Legend colour={colour} most={most} named={cell.named} />
      </div>
      <div class="controls">
        <Select
          label="Colour"
          value={colour}
          options={[...classOptions, [FIT, "How many of a shape fit"]]}
          onChange={(value) => setParams({ colour: value === preferred ? null : value })}
        />
        <Segmented
          label="Group"
          value={by}
          options={[
            ["nothing", "None"],
            ["aggregate", "Aggregate"],
            ["trait", "Trait"],
          ]}
          onChange={(value) => setParams({ group: value === "nothing" ? null : value })}
        />
        <Segmented
          label="Order"
          value={order}
          options={[
            ["name", "Name"],
            ["load", colour === FIT ? "Fits" : "Load"],
          ]}
          onChange={(value) => setParams({ order: value === "name" ? null : value })}
        />
        <Segmented
          label="Cells"
          value={density}
          options={[
            ["auto", "Auto"],
            ["cells", "Small"],
            ["names", "Names"],
          ]}
          onChange={(value) => setParams({ cells: value === "auto" ? null : value })}
        />
      </div>
      {colour === FIT ? <ShapeRow text={shapeParam} shape={shape} revision={fleet.revision} onChange={(text) => setParams({ shape: text })} /> : null}
      <div ref={frame} class="map-frame">
        {width === 0
          ? null
          : groups.map((group) => (
              <div key={group.key ?? ""} class="map-group">
                {by === "nothing" ? null : <GroupHead group={group} by={by} colour={colour} fleet={fleet} />}
                <HeatMap
                  label={group.key === null ? "All hosts" : group.key}
                  hosts={group.hosts}
                  width={width}
                  cell={cell}
                  colouring={colouring}
                  theme={theme.value}
                  byName={order === "name"}
                  onPoint={point}
                  onOpen={open}
                />
              </div>
            ))}
      </div>
      {grouping.more > 0 ? <p class="quiet">and {plural(grouping.more, "more group")}, not shown</p> : null}
      {grouping.onAll.length > 0 ? (
        <p class="quiet on-all">
          On every host: {grouping.onAll.slice(0, 12).join(", ")}
          {grouping.onAll.length > 12 ? ` and ${grouping.onAll.length - 12} more` : ""}
        </p>
      ) : null}
      <HostCard pointed={pointed} colour={colour} shape={shape} />
    </section>
  );
}

function oneOf<T extends string>(value: string | null, options: readonly [T, ...T[]]): T {
  return options.find((option) => option === value) ?? options[0];
}

/** The width of an element, in whole pixels. */
function useWidth(): readonly [(element: HTMLDivElement | null) => void, number] {
  const [width, setWidth] = useState(0);
  const observer = useRef<ResizeObserver | null>(null);
  const ref = useCallback((element: HTMLDivElement | null) => {
    observer.current?.disconnect();
    if (element === null) return;
    setWidth(Math.floor(element.clientWidth));
    observer.current = new ResizeObserver((entries) => {
      for (const entry of entries) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.current.observe(element);
  }, []);
  return [ref, width];
}

function Legend({ colour, most, named }: { colour: string; most: number; named: boolean }): JSX.Element {
  const colours = scaleColours(theme.value, colour === FIT ? "fit" : "load");
  return (
    <div class="legend">
      <span class="legend-item">
        {colour === FIT ? "none" : "empty"}
        <span class="legend-scale" aria-hidden="true">
          {colours.map((each) => (
            <i key={each} style={{ background: each }} />
          ))}
        </span>
        {colour === FIT ? `${number(most)} fit` : "full"}
      </span>
      {colour === FIT ? null : (
        <span class="legend-item">
          <i class="legend-key" aria-hidden="true" style={{ background: OVER_COLOUR[theme.value] }} />
          over-full
        </span>
      )}
      <span class="legend-item">
        <i class={named ? "legend-key absent named" : "legend-key absent"} aria-hidden="true" />
        {colour === FIT ? "lacks a class" : `no ${colour}`}
      </span>
      <span class="legend-item">
        <i class="legend-key notch" aria-hidden="true" />
        disabled
      </span>
    </div>
  );
}

function GroupHead({ group, by, colour, fleet }: { group: HostGroup; by: GroupBy; colour: string; fleet: Fleet }): JSX.Element {
  const shown = colour === FIT ? (fleet.classes[0] ?? "") : colour;
  const load = group.load.get(shown);
  const first = group.hosts[0]?.name ?? "";
  const last = group.hosts.at(-1)?.name ?? "";
  const name = group.key === null ? null : aggregateName(group.hosts, group.key);
  const none = by === "aggregate" ? "In no aggregate" : "Without traits";
  return (
    <div class="group-head">
      <div class="group-name">
        {group.key === null ? (
          <h3>{none}</h3>
        ) : (
          <>
            <h3 title={group.key}>{by === "aggregate" ? (name ?? `Aggregate ${shortId(group.key)}`) : group.key}</h3>
            {by === "aggregate" && name !== null ? <code class="quiet">{shortId(group.key)}</code> : null}
            <CopyButton text={group.key} label={`Copy ${group.key}`} small />
          </>
        )}
        <span class="quiet">
          {plural(group.hosts.length, "host")}
          {by === "aggregate" && group.hosts.length > 1 ? `, ${first} to ${last}` : ""}
        </span>
      </div>
      {load === undefined ? null : (
        <div class="group-load" title="Of all providers in the trees of these hosts">
          <LoadBar of={shown} load={load} />
          <span class="group-figures">
            <strong>{percent(load.used, load.capacity)}</strong> <span class="quiet">of</span> <Amount of={shown} value={load.capacity} label="capacity" />
            <span class="quiet"> {shown}</span>
          </span>
        </div>
      )}
    </div>
  );
}

function ShapeRow({
  text,
  shape,
  revision,
  onChange,
}: {
  text: string;
  shape: ReadonlyMap<string, number> | null;
  revision: string;
  onChange: (text: string) => void;
}): JSX.Element {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const valid = parseShape(typed) !== null;
  const fit = useDocument<Fit>(shape === null ? null : "plimsoll/v1/fit", { resources: shape === null ? "" : shapeText(shape) }, { refresh: revision, every: 5000 });
  const now = fit.value?.now;
  return (
    <form
      class="shape-row"
      onSubmit={(event) => {
        event.preventDefault();
        const parsed = parseShape(typed);
        if (parsed !== null) onChange(shapeText(parsed));
      }}
    >
      <label class="field grow">
        <span class="field-label">Shape</span>
        <input
          value={typed}
          aria-invalid={!valid}
          spellcheck={false}
          placeholder="VCPU:4, MEMORY_MB:16 GiB"
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button" disabled={!valid}>
        Show
      </button>
      <p class="shape-result" role="status">
        {!valid ? (
          "Classes with amounts, such as VCPU:4, MEMORY_MB:16 GiB"
        ) : now === undefined ? (
          "…"
        ) : (
          <>
            <strong data-raw={now.instances}>
              {now.exact ? "" : "at least "}
              {number(now.instances)}
            </strong>{" "}
            fit in the whole cloud, on {plural(now.hosts, "host")}
            {now.limiting_class === null ? "" : `; ${now.limiting_class} limits most hosts`}
          </>
        )}
      </p>
    </form>
  );
}

const CARD_WIDTH = 272;

function HostCard({
  pointed,
  colour,
  shape,
}: {
  pointed: Signal<Pointed | null>;
  colour: string;
  shape: ReadonlyMap<string, number> | null;
}): JSX.Element {
  const current = pointed.value;
  // The window scrolls away from under the card.
  useEffect(() => {
    const hide = (): void => {
      if (pointed.value?.by !== "keyboard") pointed.value = null;
    };
    window.addEventListener("scroll", hide, { passive: true });
    return () => window.removeEventListener("scroll", hide);
  }, [pointed]);
  if (current === null) return <div class="host-card" hidden />;
  const { host, left, top, width, height, by } = current;
  const x = Math.max(8, Math.min(window.innerWidth - CARD_WIDTH - 8, left + width / 2 - CARD_WIDTH / 2));
  const below = top + height + 240 < window.innerHeight;
  const style: CSSProperties = below
    ? { left: `${x}px`, top: `${top + height + 8}px` }
    : { left: `${x}px`, bottom: `${window.innerHeight - top + 8}px` };
  const classes = [...host.load].slice(0, 6);
  return (
    <div class={by === "touch" ? "host-card touch" : "host-card"} style={style} role="status">
      <strong class="host-card-name">{host.name}</strong>
      <span class="quiet">
        {host.members.length > 1 ? `${plural(host.members.length, "provider")} in its tree` : "one provider"}
        {host.disabled ? ", compute service disabled" : ""}
      </span>
      {colour === FIT && shape !== null ? (
        <span>
          <strong>{number(fitsOnHost(host, shape))}</strong> of {shapeText(shape)} fit
          {host.members.length > 1 ? " at most" : ""}
        </span>
      ) : null}
      <ul>
        {classes.map(([name, load]) => (
          <li key={name} class={name === colour ? "current" : ""}>
            <span class="host-card-class">{name}</span>
            <span class="host-card-share">{percent(load.used, load.capacity)}</span>
            <LoadBar of={name} load={load} />
            <span class="quiet">{amount(name, load.free)} free</span>
          </li>
        ))}
      </ul>
      {host.load.size > classes.length ? <span class="quiet">and {host.load.size - classes.length} more classes</span> : null}
      {host.load.size === 0 ? <span class="quiet">no inventory</span> : null}
      {by === "touch" ? (
        <Link to={providerPath(host.uuid)} class="button">
          Open
        </Link>
      ) : null}
    </div>
  );
}
