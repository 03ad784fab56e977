// SPDX-License-Identifier: Apache-2.0

/** A query for allocation candidates: read from and written to the text that the Placement API takes. */

/** A trait or aggregate that is wanted or not; with several names, one of them is enough (or none may be there). */
export interface Condition {
  names: string[];
  not: boolean;
}

export interface Group {
  /** Empty for the group without suffix. */
  suffix: string;
  resources: [resourceClass: string, amount: number][];
  traits: Condition[];
  aggregates: Condition[];
  inTree: string | null;
}

export interface Query {
  groups: Group[];
  groupPolicy: "none" | "isolate" | null;
  sameSubtree: string[][];
  rootTraits: Condition[];
  limit: number | null;
  /** Parameters that are kept as they are. */
  other: [name: string, value: string][];
}

export const EMPTY_GROUP: Readonly<Omit<Group, "suffix">> = { resources: [], traits: [], aggregates: [], inTree: null };

export function emptyQuery(): Query {
  return { groups: [{ suffix: "", ...EMPTY_GROUP }], groupPolicy: null, sameSubtree: [], rootTraits: [], limit: null, other: [] };
}

const SUFFIXED = /^(resources|required|member_of|in_tree)([A-Za-z0-9_-]{0,64})$/;

function conditionOf(text: string): Condition {
  const not = text.startsWith("!");
  const rest = not ? text.slice(1) : text;
  return { names: (rest.startsWith("in:") ? rest.slice(3) : rest).split(",").filter((name) => name !== ""), not };
}

/** `A,!B` are two conditions; `in:A,B` is one. */
function traitConditions(text: string): Condition[] {
  if (/^!?in:/.test(text)) return [conditionOf(text)];
  return text
    .split(",")
    .filter((part) => part !== "")
    .map(conditionOf);
}

export function parseQuery(text: string): Query {
  const query = emptyQuery();
  const groups = new Map<string, Group>();
  const groupOf = (suffix: string): Group => {
    let group = groups.get(suffix);
    if (group === undefined) groups.set(suffix, (group = { suffix, resources: [], traits: [], aggregates: [], inTree: null }));
    return group;
  };
  for (const [name, value] of new URLSearchParams(text.replace(/^.*\?/s, ""))) {
    const suffixed = SUFFIXED.exec(name);
    if (suffixed !== null) {
      const group = groupOf(suffixed[2] ?? "");
      if (suffixed[1] === "resources") {
        for (const part of value.split(",")) {
          const [resourceClass = "", amountText = ""] = part.split(":");
          const amount = Number(amountText);
          if (resourceClass !== "" && Number.isSafeInteger(amount)) group.resources.push([resourceClass, amount]);
        }
      } else if (suffixed[1] === "required") group.traits.push(...traitConditions(value));
      else if (suffixed[1] === "member_of") group.aggregates.push(conditionOf(value));
      else group.inTree = value;
    } else if (name === "group_policy" && (value === "none" || value === "isolate")) query.groupPolicy = value;
    else if (name === "same_subtree") query.sameSubtree.push(value.split(","));
    else if (name === "root_required") query.rootTraits.push(...traitConditions(value));
    else if (name === "limit" && /^\d+$/.test(value)) query.limit = Number(value);
    else query.other.push([name, value]);
  }
  if (groups.size > 0) query.groups = [...groups.values()];
  return query;
}

function conditionText({ names, not }: Condition): string {
  return `${not ? "!" : ""}${names.length > 1 ? "in:" : ""}${names.join(",")}`;
}

function traitValues(conditions: readonly Condition[]): string[] {
  const single = conditions.filter(({ names }) => names.length === 1).map(conditionText);
  const several = conditions.filter(({ names }) => names.length > 1).map(conditionText);
  return [...(single.length > 0 ? [single.join(",")] : []), ...several];
}

/** Characters that may stand in a query as they are; everything else is escaped. */
function escaped(value: string): string {
  return encodeURIComponent(value).replace(/%(3A|2C|21|2F|40)/g, (code) => decodeURIComponent(code));
}

export function queryParts(query: Query): [name: string, value: string][] {
  const parts: [string, string][] = [];
  for (const { suffix, resources, traits, aggregates, inTree } of query.groups) {
    if (resources.length > 0) parts.push([`resources${suffix}`, resources.map(([name, amount]) => `${name}:${amount}`).join(",")]);
    for (const value of traitValues(traits)) parts.push([`required${suffix}`, value]);
    for (const condition of aggregates) if (condition.names.length > 0) parts.push([`member_of${suffix}`, conditionText(condition)]);
    if (inTree !== null && inTree !== "") parts.push([`in_tree${suffix}`, inTree]);
  }
  for (const value of traitValues(query.rootTraits)) parts.push(["root_required", value]);
  for (const groups of query.sameSubtree) parts.push(["same_subtree", groups.join(",")]);
  if (query.groupPolicy !== null) parts.push(["group_policy", query.groupPolicy]);
  if (query.limit !== null) parts.push(["limit", String(query.limit)]);
  parts.push(...query.other);
  return parts;
}

export function formatQuery(query: Query): string {
  return queryParts(query)
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .join("&");
}

/** Whether there is anything to search for. */
export function asksSomething(query: Query): boolean {
  return query.groups.some((group) => group.resources.length > 0 || group.suffix !== "");
}

/** Several groups with a suffix need a policy; the API refuses them without one. */
export function needsPolicy(query: Query): boolean {
  return query.groups.filter((group) => group.suffix !== "" && group.resources.length > 0).length > 1;
}

/** A suffix that no group has yet. */
export function nextSuffix(query: Query): string {
  const taken = new Set(query.groups.map((group) => group.suffix));
  let number = 1;
  while (taken.has(`_${number}`)) number += 1;
  return `_${number}`;
}

const shellSafe = /^[A-Za-z0-9_./:=,@%+-]+$/;

function quoted(text: string): string {
  return shellSafe.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function asPlacementPath(query: Query): string {
  return `/allocation_candidates?${formatQuery(query)}`;
}

export function asCurl(query: Query, origin: string): string {
  return [
    "curl -s -H \"x-auth-token: $TOKEN\" -H 'openstack-api-version: placement 1.39'",
    quoted(`${origin.replace(/\/$/, "")}${asPlacementPath(query)}`),
  ].join(" ");
}

/** The command of osc-placement. Null if it has no option for a part of the query. */
export function asOpenStack(query: Query): string | null {
  if (query.sameSubtree.length > 0 || query.rootTraits.length > 0 || query.other.length > 0) return null;
  const words = ["openstack --os-placement-api-version 1.39 allocation candidate list"];
  for (const { suffix, resources, traits, aggregates, inTree } of query.groups) {
    if (inTree !== null) return null;
    if (suffix !== "") words.push("--group", quoted(suffix));
    for (const [name, amount] of resources) words.push("--resource", quoted(`${name}=${amount}`));
    for (const { names, not } of traits) {
      if (names.length > 1 && not) return null;
      words.push(not ? "--forbidden" : "--required", quoted(names.join(",")));
    }
    for (const { names, not } of aggregates) words.push(not ? "--forbidden-aggregate" : "--aggregate", quoted(names.join(",")));
  }
  if (query.groupPolicy !== null) words.push("--group-policy", query.groupPolicy);
  if (query.limit !== null) words.push("--limit", String(query.limit));
  return words.join(" ");
}
