// SPDX-License-Identifier: Apache-2.0

/** One provider: its tree, inventories, traits, aggregates, consumers and history. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useParams as useRoute } from "wouter-preact";
import type { Consumer, ConsumerList, Inventory, Provider } from "../api/types";
import { emptyLoad, type ClassLoad, type Fleet, type Host } from "../data/fleet";
import { fleet, fleetError, moment } from "../data/live";
import { usePages } from "../data/pages";
import { useDocument } from "../data/resource";
import { shortId } from "../lib/names";
import { useParams } from "../lib/navigation";
import { decoded, projectPath, providerPath } from "../lib/paths";
import { amount, compareClasses, number, percent, plural } from "../lib/units";
import { Amount, CopyButton, Failure, Id, Link, Loading, Segmented, Time } from "../parts/basics";
import { ConsumerTable } from "../parts/consumer-table";
import { HistoryPanel } from "../parts/history-panel";
import { LoadBar } from "../parts/loadbar";
import { Crumb, OwnProjectNotice, Page } from "../parts/page";
import { ProviderTree } from "./provider-tree";

export function ProviderView(): JSX.Element {
  const { uuid } = useRoute<{ uuid: string }>();
  const current = fleet.value;
  const id = decoded(uuid);
  const known = current?.providers.get(id);
  // A name, or a provider that is not in the fleet: the service has the words for it.
  const asked = useDocument<Provider>(current !== null && known === undefined ? `plimsoll/v1/providers/${encodeURIComponent(id)}` : null);
  const provider = known ?? (asked.value === null ? undefined : current?.providers.get(asked.value.uuid));
  if (current === null || provider === undefined) {
    const error = fleetError.value ?? asked.error;
    return (
      <Page view="provider" title="Provider" heading={shortId(id)} state={error === null ? "loading" : "error"}>
        {error === null ? <Loading what="the provider" lines={8} /> : <Failure error={error} what={`provider ${id}`} retry={asked.reload} />}
      </Page>
    );
  }
  const host = current.byRoot.get(provider.root);
  return <ProviderPage fleet={current} provider={provider} host={host} />;
}

function ProviderPage({ fleet: current, provider, host }: { fleet: Fleet; provider: Provider; host: Host | undefined }): JSX.Element {
  const parents = ancestors(current, provider);
  const focus = useMemo(() => new Set(provider.parent === null ? (host?.members ?? [provider]).map(({ uuid }) => uuid) : [provider.uuid]), [provider, host]);
  const classes = Object.keys(provider.inventories).sort(compareClasses);
  return (
    <Page
      view="provider"
      title={provider.name}
      heading={
        <>
          {parents.map((each) => (
            <Crumb key={each.uuid} to={providerPath(each.uuid)}>
              {each.name}
            </Crumb>
          ))}
          {provider.name}
        </>
      }
      subtitle={
        <span class="subtitle-items">
          <Id id={provider.uuid} full />
          <span>generation {provider.generation}</span>
          <span>
            changed <Time at={provider.updated_at} />
          </span>
          {provider.traits.includes("COMPUTE_STATUS_DISABLED") ? <span class="verdict not-now">compute service disabled</span> : null}
          {provider.traits.includes("MISC_SHARES_VIA_AGGREGATE") ? <span class="verdict">shares with its aggregates</span> : null}
        </span>
      }
      state="ready"
    >
      <div class="provider-columns">
        <div class="stack">
          <section class="panel" aria-labelledby="inventories-title">
            <div class="panel-head">
              <h2 id="inventories-title">Inventories</h2>
              <span class="quiet">{plural(classes.length, "class", "classes")}</span>
            </div>
            {classes.length === 0 ? (
              <p class="quiet">This provider has no inventory of its own.</p>
            ) : (
              <div class="inventories">
                {classes.map((name) => {
                  const inventory = provider.inventories[name];
                  return inventory === undefined ? null : <InventoryRow key={name} name={name} inventory={inventory} />;
                })}
              </div>
            )}
          </section>
          <ConsumersPanel provider={provider} hasTree={(host?.members.length ?? 1) > 1} />
          <HistoryPanel filter={provider.parent === null ? "subtree" : "provider"} id={provider.uuid} focus={focus} />
        </div>
        <div class="stack">
          {host === undefined ? null : (
            <section class="panel" aria-labelledby="tree-title">
              <div class="panel-head">
                <h2 id="tree-title">Tree</h2>
                <span class="quiet">{plural(host.members.length, "provider")}</span>
              </div>
              <ProviderTree host={host} current={provider.uuid} />
            </section>
          )}
          <section class="panel" aria-labelledby="traits-title">
            <div class="panel-head">
              <h2 id="traits-title">Traits</h2>
              <span class="quiet">{number(provider.traits.length)}</span>
            </div>
            {provider.traits.length === 0 ? <p class="quiet">None.</p> : null}
            <ul class="tags">
              {[...provider.traits].sort(customFirst).map((name) => (
                <li key={name}>
                  <Link to={`/find?resources=VCPU:1&required=${encodeURIComponent(name)}`} title="Find hosts with it">
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
          <AggregatesPanel fleet={current} provider={provider} />
        </div>
      </div>
    </Page>
  );
}

function customFirst(a: string, b: string): number {
  return Number(b.startsWith("CUSTOM_")) - Number(a.startsWith("CUSTOM_")) || (a < b ? -1 : 1);
}

function ancestors(current: Fleet, provider: Provider): Provider[] {
  const found: Provider[] = [];
  let next = provider.parent === null ? undefined : current.providers.get(provider.parent);
  while (next !== undefined && found.length < 16) {
    found.unshift(next);
    next = next.parent === null ? undefined : current.providers.get(next.parent);
  }
  return found;
}

export function loadOfInventory(inventory: Inventory): ClassLoad {
  return {
    ...emptyLoad(),
    ...inventory,
    ceiling: Math.max(inventory.capacity, inventory.total * inventory.allocation_ratio),
    providers: 1,
    overfull: inventory.used > inventory.capacity ? 1 : 0,
  };
}

const NO_LIMIT = 2147483647;

function InventoryRow({ name, inventory }: { name: string; inventory: Inventory }): JSX.Element {
  const over = inventory.used > inventory.capacity;
  return (
    <div class="inventory" data-class={name}>
      <div class="inventory-head">
        <h3>{name}</h3>
        <span class={over ? "share over" : "share"}>
          {percent(inventory.used, inventory.capacity)} <small>allocated</small>
        </span>
      </div>
      <LoadBar of={name} load={loadOfInventory(inventory)} size="large" />
      <dl class="facts">
        <Fact label="allocated" of={name} value={inventory.used} />
        <Fact label="capacity" of={name} value={inventory.capacity} />
        <Fact label="free" of={name} value={inventory.free} />
        <Fact label="largest piece" of={name} value={inventory.largest} />
        <Fact label="total" of={name} value={inventory.total} />
        {inventory.reserved > 0 ? <Fact label="reserved" of={name} value={inventory.reserved} /> : null}
        <div>
          <dt>ratio</dt>
          <dd data-figure="ratio">{inventory.allocation_ratio}</dd>
        </div>
        <div title="min_unit, max_unit and step_size of one claim">
          <dt>one claim</dt>
          <dd>
            {claimLimits(name, inventory)}
            {inventory.step_size > 1 ? `, steps of ${amount(name, inventory.step_size)}` : ""}
          </dd>
        </div>
      </dl>
    </div>
  );
}

/** `1 to 128 cores`, `1 MiB or more`: the unit is written once if it is the same. */
function claimLimits(name: string, { min_unit: least, max_unit: most }: Inventory): string {
  const from = amount(name, least);
  if (most >= NO_LIMIT) return `${from} or more`;
  const to = amount(name, most);
  const unit = / .*/.exec(to)?.[0] ?? "";
  return `${from.replace(/ .*/, (own) => (own.replace(/s$/, "") === unit.replace(/s$/, "") ? "" : own))} to ${to}`;
}

function Fact({ label, of, value }: { label: string; of: string; value: number }): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd data-figure={label}>
        <Amount of={of} value={value} />
      </dd>
    </div>
  );
}

function AggregatesPanel({ fleet: current, provider }: { fleet: Fleet; provider: Provider }): JSX.Element {
  const counts = useMemo(() => {
    const found = new Map<string, number>(provider.aggregates.map((uuid) => [uuid, 0]));
    for (const host of current.hosts) {
      for (const uuid of host.aggregates) if (found.has(uuid)) found.set(uuid, (found.get(uuid) ?? 0) + 1);
    }
    return found;
  }, [current, provider]);
  return (
    <section class="panel" aria-labelledby="aggregates-title">
      <div class="panel-head">
        <h2 id="aggregates-title">Aggregates</h2>
        <span class="quiet">{number(provider.aggregates.length)}</span>
      </div>
      {provider.aggregates.length === 0 ? <p class="quiet">None.</p> : null}
      <ul class="aggregate-list">
        {[...counts].map(([uuid, hosts]) => (
          <li key={uuid}>
            <Link to={`/find?resources=VCPU:1&member_of=${uuid}`} title="Find hosts in it">
              <code>{uuid}</code>
            </Link>
            <CopyButton text={uuid} label={`Copy ${uuid}`} small />
            <span class="quiet">{plural(hosts, "host")}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const MOST_PROJECTS = 12;

/** How often each value occurs, the most frequent first. */
function ranked(values: readonly string[]): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
}

function countsOf(values: readonly string[]): string {
  return ranked(values)
    .map(([value, count]) => `${number(count)} ${value}`)
    .join(", ");
}

const pickConsumers = (list: ConsumerList): { items: Consumer[]; next: string | null } => ({ items: list.consumers, next: list.next });

function ConsumersPanel({ provider, hasTree }: { provider: Provider; hasTree: boolean }): JSX.Element {
  const [params, setParams] = useParams();
  const scope = hasTree && params.get("of") === "tree" ? "tree" : "provider";
  const pages = usePages("plimsoll/v1/consumers", { [scope]: provider.uuid, limit: 50 }, pickConsumers, { refresh: String(provider.generation), every: 2000 });
  return (
    <section class="panel" aria-labelledby="consumers-title">
      <div class="panel-head">
        <h2 id="consumers-title">Consumers</h2>
        {hasTree ? (
          <Segmented
            label="Of"
            value={scope}
            options={[
              ["provider", "this provider"],
              ["tree", "the whole tree"],
            ]}
            onChange={(value) => setParams({ of: value === "tree" ? "tree" : null })}
          />
        ) : null}
      </div>
      <OwnProjectNotice what="the consumers" />
      {moment.value === null ? null : <p class="notice">The log has no list of the consumers of then: these are the consumers of now.</p>}
      {pages.error !== null ? (
        <Failure error={pages.error} what="its consumers" retry={pages.reload} />
      ) : pages.items.length === 0 ? (
        pages.loading ? (
          <Loading what="its consumers" />
        ) : (
          <p class="quiet">Nothing is allocated here{scope === "provider" && hasTree ? "; look at the whole tree" : ""}.</p>
        )
      ) : (
        <>
          <p class="quiet about">
            {plural(pages.items.length, "consumer")}
            {pages.hasMore ? " so far" : ""}: {countsOf(pages.items.map(({ type }) => (type === "unknown" ? "no type" : type)))}
          </p>
          <ul class="tags about">
            {ranked(pages.items.map(({ project }) => project))
              .slice(0, MOST_PROJECTS)
              .map(([project, count]) => (
                <li key={project}>
                  <Link to={projectPath(project)}>
                    {shortId(project)} <strong>{number(count)}</strong>
                  </Link>
                </li>
              ))}
          </ul>
          <ConsumerTable consumers={pages.items} {...(scope === "provider" ? { of: provider.uuid } : {})} />
          {pages.hasMore ? (
            <button type="button" class="link-button" onClick={pages.more} disabled={pages.loading}>
              {pages.loading ? "Reading…" : "Read more"}
            </button>
          ) : null}
        </>
      )}
    </section>
  );
}
