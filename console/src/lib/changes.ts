// SPDX-License-Identifier: Apache-2.0

/** Changes of the history in words, and what differs between before and after. */

import type { Change, ChangedConsumer, ChangedProvider, ConsumerState } from "../api/types";
import { allocationDeltas } from "../data/fleet";
import { shortId } from "./names";
import { amount, compareClasses, exactAmount, plural } from "./units";

/** Uuids of a page's consumer or providers: of a change of many, those are told about. */
export type Focus = ReadonlySet<string>;

/** Whether a consumer is one of the focus, or holds (or held) something of its providers. */
export function isFocused(consumer: ChangedConsumer, focus: Focus | undefined): boolean {
  if (focus === undefined || focus.has(consumer.uuid)) return true;
  return [consumer.before, consumer.after].some((state) => Object.keys(state?.allocations ?? {}).some((uuid) => focus.has(uuid)));
}

export interface Difference {
  what: string;
  before: string | null;
  after: string | null;
}

/** The number after the epoch; 0 if the text is no revision. */
export function revisionNumber(revision: string): number {
  return Number(/:(\d+)/.exec(revision)?.[1] ?? 0);
}

export function revisionEpoch(revision: string): string {
  return revision.split(":")[0] ?? "";
}

const OPERATIONS: Readonly<Record<string, string>> = {
  "provider.create": "Provider created",
  "provider.update": "Provider changed",
  "provider.delete": "Provider removed",
  "provider.traits.set": "Traits set",
  "provider.traits.clear": "Traits removed",
  "provider.aggregates.set": "Aggregates set",
  "inventory.add": "Inventory added",
  "inventory.update": "Inventory changed",
  "inventory.remove": "Inventory removed",
  "inventories.replace": "Inventories replaced",
  "inventories.clear": "Inventories removed",
  "allocations.claim": "Claimed",
  "allocations.release": "Released",
  reshape: "Reshaped",
  "class.create": "Class created",
  "class.rename": "Class renamed",
  "class.delete": "Class removed",
  "trait.create": "Trait created",
  "trait.delete": "Trait removed",
  "standards.synchronise": "Standard names added",
};

export const OPERATION_NAMES: readonly string[] = Object.keys(OPERATIONS);

export function operationWords(operation: string): string {
  return OPERATIONS[operation] ?? operation;
}

/** The operation in words; a claim that moves or changes a consumer is called so. */
export function changeKind(change: Change): string {
  const [consumer] = change.consumers;
  if (change.operation === "allocations.claim" && change.consumers.length === 1 && consumer !== undefined) {
    const word = /^(moved|changed|released)/.exec(consumerSentence(consumer))?.[0];
    if (word !== undefined) return word.charAt(0).toUpperCase() + word.slice(1);
  }
  return operationWords(change.operation);
}

/** Sums of a consumer's allocations by class. */
function amountsOf(state: ConsumerState | null): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { resources } of Object.values(state?.allocations ?? {})) {
    for (const [name, value] of Object.entries(resources)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return sums;
}

/** An amount with its class, unless the unit makes the class plain. */
export function amountOf(name: string, value: number): string {
  return name === "VCPU" || name === "MEMORY_MB" ? amount(name, value) : `${amount(name, value)} ${name === "DISK_GB" ? "disk" : name}`;
}

function amountsText(sums: ReadonlyMap<string, number>): string {
  return [...sums]
    .sort(([a], [b]) => compareClasses(a, b))
    .map(([name, value]) => amountOf(name, value))
    .join(", ");
}

function placesOf(state: ConsumerState | null): string[] {
  return Object.entries(state?.allocations ?? {}).map(([uuid, { name }]) => name ?? shortId(uuid));
}

function firstOf(names: readonly string[], most = 3): string {
  const unique = [...new Set(names)];
  const more = unique.length - most;
  return unique.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** What happened to a consumer: claimed, released, moved, resized. */
export function consumerSentence({ before, after }: ChangedConsumer): string {
  const from = placesOf(before);
  const to = placesOf(after);
  if (to.length === 0) return from.length === 0 ? "changed" : `released ${amountsText(amountsOf(before))} on ${firstOf(from)}`;
  if (from.length === 0) return `claimed ${amountsText(amountsOf(after))} on ${firstOf(to)}`;
  const moved = firstOf(from) !== firstOf(to);
  const text = amountsText(amountsOf(after));
  if (moved) return `moved from ${firstOf(from)} to ${firstOf(to)} with ${text}`;
  return allocationDeltas(before, after).length > 0 ? `changed from ${amountsText(amountsOf(before))} to ${text} on ${firstOf(to)}` : `changed on ${firstOf(to)}`;
}

/** One line about a change. */
export function changeSentence(change: Change, focus?: Focus): string {
  if (change.reload) return "The log does not describe this change.";
  const focused = change.consumers.filter((each) => isFocused(each, focus));
  const consumer = focused[0] ?? change.consumers[0];
  if (consumer !== undefined) {
    const more = Math.max(1, focused.length) - 1;
    return `${shortId(consumer.uuid)} ${consumerSentence(consumer)}${more > 0 ? `, and ${plural(more, "more consumer")}` : ""}`;
  }
  const [provider] = change.providers;
  if (provider !== undefined && change.providers.length === 1) {
    const name = provider.name ?? shortId(provider.uuid);
    const news = providerNews(provider);
    return news === "" ? name : `${name}: ${news}`;
  }
  if (change.providers.length > 0) {
    const members = [...new Set(change.providers.flatMap(({ before, after }) => changedMembers(before, after)))];
    return `${firstOf(change.providers.map(({ name, uuid }) => name ?? shortId(uuid)))}: ${members.join(", ")}`;
  }
  return firstOf(change.names.map(({ before, after }) => (before !== null && after !== null ? `${before} to ${after}` : (after ?? before ?? ""))), 6);
}

function changedMembers(before: ChangedProvider["before"], after: ChangedProvider["after"]): string[] {
  if (before === null) return ["created"];
  if (after === null) return ["removed"];
  return Object.keys(after).filter((member) => member !== "generation");
}

const MOST_NEWS = 3;

/** What is new of a provider, in a line: `VCPU total 96 cores to 80 cores, +CUSTOM_RDMA`. */
export function providerNews({ before, after }: ChangedProvider): string {
  if (before === null) return "created";
  if (after === null) return "removed";
  const news: string[] = [];
  if (after.name !== undefined && after.name !== before.name) news.push(`was ${before.name ?? "without a name"}`);
  if (after.parent !== undefined && after.parent !== before.parent) news.push("has another parent");
  for (const name of Object.keys(after.inventories ?? {}).sort(compareClasses)) {
    const [old, now] = [before.inventories?.[name] ?? null, after.inventories?.[name] ?? null];
    if (now === null) news.push(`no more ${name}`);
    else if (old === null) news.push(amountOf(name, now.total));
    else {
      if (old.total !== now.total) news.push(`${name} ${amount(name, old.total)} to ${amount(name, now.total)}`);
      if (old.reserved !== now.reserved) news.push(`${name} reserved ${amount(name, old.reserved)} to ${amount(name, now.reserved)}`);
      if (old.allocation_ratio !== now.allocation_ratio) news.push(`${name} ratio ${old.allocation_ratio} to ${now.allocation_ratio}`);
      for (const unit of ["min_unit", "max_unit", "step_size"] as const) {
        if (old[unit] !== now[unit]) news.push(`${name} ${unit} ${amount(name, old[unit])} to ${amount(name, now[unit])}`);
      }
    }
  }
  for (const [old, now, show] of [
    [before.traits, after.traits, (name: string) => name],
    [before.aggregates, after.aggregates, (uuid: string) => `aggregate ${shortId(uuid)}`],
  ] as const) {
    if (now === undefined) continue;
    news.push(...now.filter((name) => !(old ?? []).includes(name)).map((name) => `+${show(name)}`));
    news.push(...(old ?? []).filter((name) => !now.includes(name)).map((name) => `−${show(name)}`));
  }
  const more = news.length - MOST_NEWS;
  return news.slice(0, MOST_NEWS).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const list = (values: readonly string[] | undefined): string | null => (values === undefined || values.length === 0 ? null : [...values].sort().join(", "));

/** Traits and aggregates: only what was added and removed. */
function listDifference(what: string, before: readonly string[] | undefined, after: readonly string[] | undefined): Difference[] {
  const old = before ?? [];
  const now = after ?? [];
  const removed = old.filter((name) => !now.includes(name));
  const added = now.filter((name) => !old.includes(name));
  if (removed.length === 0 && added.length === 0) return [];
  return [{ what, before: list(removed), after: list(added) }];
}

export function providerDifferences({ before, after }: ChangedProvider): Difference[] {
  const found: Difference[] = [];
  const scalar = (what: string, old: string | number | null | undefined, now: string | number | null | undefined): void => {
    if ((old ?? null) !== (now ?? null)) found.push({ what, before: old === undefined || old === null ? null : String(old), after: now === undefined || now === null ? null : String(now) });
  };
  scalar("name", before?.name, after?.name);
  scalar("parent", before?.parent, after?.parent);
  scalar("root", before?.root, after?.root);
  const classes = new Set([...Object.keys(before?.inventories ?? {}), ...Object.keys(after?.inventories ?? {})]);
  for (const name of [...classes].sort(compareClasses)) {
    const old = before?.inventories?.[name] ?? null;
    const now = after?.inventories?.[name] ?? null;
    if (old === null || now === null) {
      const state = old ?? now;
      const text = state === null ? null : `total ${exactAmount(name, state.total)}, reserved ${exactAmount(name, state.reserved)}, ratio ${state.allocation_ratio}`;
      found.push({ what: name, before: old === null ? null : text, after: now === null ? null : text });
      continue;
    }
    for (const member of ["total", "reserved", "allocation_ratio", "min_unit", "max_unit", "step_size"] as const) {
      if (member === "allocation_ratio") scalar(`${name} ${member}`, old[member], now[member]);
      else if (old[member] !== now[member]) found.push({ what: `${name} ${member}`, before: exactAmount(name, old[member]), after: exactAmount(name, now[member]) });
    }
  }
  found.push(...listDifference("traits", before?.traits, after?.traits));
  found.push(...listDifference("aggregates", before?.aggregates, after?.aggregates));
  scalar("generation", before?.generation, after?.generation);
  return found;
}

export function consumerDifferences({ before, after }: ChangedConsumer): Difference[] {
  const found: Difference[] = [];
  const scalar = (what: string, old: string | number | undefined, now: string | number | undefined): void => {
    if (old !== now) found.push({ what, before: old === undefined ? null : String(old), after: now === undefined ? null : String(now) });
  };
  const uuids = new Set([...Object.keys(before?.allocations ?? {}), ...Object.keys(after?.allocations ?? {})]);
  for (const uuid of uuids) {
    const old = before?.allocations?.[uuid];
    const now = after?.allocations?.[uuid];
    const name = now?.name ?? old?.name ?? shortId(uuid);
    const classes = new Set([...Object.keys(old?.resources ?? {}), ...Object.keys(now?.resources ?? {})]);
    for (const resourceClass of [...classes].sort(compareClasses)) {
      const [held, holds] = [old?.resources[resourceClass], now?.resources[resourceClass]];
      const text = (value: number | undefined): string | null => (value === undefined ? null : exactAmount(resourceClass, value));
      if (held !== holds) found.push({ what: `${name} ${resourceClass}`, before: text(held), after: text(holds) });
    }
  }
  scalar("project", before?.project, after?.project);
  scalar("user", before?.user, after?.user);
  scalar("type", before?.type, after?.type);
  scalar("generation", before?.generation, after?.generation);
  return found;
}
