// SPDX-License-Identifier: Apache-2.0

/** The form that builds a query: groups with resources, traits, aggregates; completion for all names. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Fleet } from "../data/fleet";
import { shortId } from "../lib/names";
import { EMPTY_GROUP, formatQuery, needsPolicy, nextSuffix, parseQuery, type Condition, type Group, type Query } from "../lib/query";
import { amount, compareClasses, parseAmount, plural } from "../lib/units";
import { Segmented } from "../parts/basics";
import { Combobox } from "../parts/combobox";

interface Names {
  classes: readonly string[];
  traits: readonly string[];
  aggregates: readonly string[];
  providers: readonly string[];
  hostsOf: (kind: "trait" | "aggregate", name: string) => string;
  isOnHost: (trait: string) => boolean;
}

let allTraits: Promise<string[]> | null = null;
let allClasses: Promise<string[]> | null = null;

/** Names for completion: those of the fleet first, then all that the service has. */
export function useNames(fleet: Fleet | null): Names {
  const [traits, setTraits] = useState<string[]>([]);
  const [classes, setClasses] = useState<string[]>([]);
  useEffect(() => {
    allTraits ??= get<{ traits: string[] }>("traits").then((list) => list.traits, () => []);
    allClasses ??= get<{ resource_classes: { name: string }[] }>("resource_classes").then(
      (list) => list.resource_classes.map(({ name }) => name),
      () => [],
    );
    void allTraits.then(setTraits);
    void allClasses.then(setClasses);
  }, []);
  return useMemo(() => {
    const traitHosts = new Map<string, number>();
    const aggregateHosts = new Map<string, number>();
    for (const host of fleet?.hosts ?? []) {
      for (const name of host.traits) traitHosts.set(name, (traitHosts.get(name) ?? 0) + 1);
      for (const uuid of host.aggregates) aggregateHosts.set(uuid, (aggregateHosts.get(uuid) ?? 0) + 1);
    }
    const inUse = [...traitHosts.keys()].sort();
    return {
      classes: [...new Set([...(fleet?.classes ?? []), ...classes.toSorted(compareClasses)])],
      traits: [...new Set([...inUse, ...traits])],
      aggregates: [...aggregateHosts.keys()].sort(),
      providers: [...(fleet?.hosts ?? [])].map((host) => host.name),
      isOnHost: (trait) => traitHosts.has(trait),
      hostsOf: (kind, name) => {
        const count = (kind === "trait" ? traitHosts : aggregateHosts).get(name) ?? 0;
        return count === 0 ? "on no host" : plural(count, "host");
      },
    };
  }, [fleet, traits, classes]);
}

export function Builder({ query: asked, fleet, onChange: ask }: { query: Query; fleet: Fleet | null; onChange: (query: Query) => void }): JSX.Element {
  const names = useNames(fleet);
  // A group that asks for nothing is not in the address yet: it is kept here.
  const [added, setAdded] = useState<readonly string[]>([]);
  const query = useMemo(() => withGroups(asked, added), [asked, added]);
  const onChange = (next: Query): void => {
    setAdded(next.groups.filter((group) => group.suffix !== "" && !asksAnything(group)).map(({ suffix }) => suffix));
    ask(next);
  };
  const setGroup = (place: number, group: Group | null): void => {
    const groups = query.groups.flatMap((each, index) => (index === place ? (group === null ? [] : [group]) : [each]));
    const suffixes = new Set(groups.map(({ suffix }) => suffix));
    const next: Query = {
      ...query,
      groups: groups.length > 0 ? groups : [{ suffix: "", ...EMPTY_GROUP }],
      sameSubtree: query.sameSubtree.map((each) => each.filter((suffix) => suffixes.has(suffix))).filter((each) => each.length > 1),
    };
    onChange(needsPolicy(next) && next.groupPolicy === null ? { ...next, groupPolicy: "none" } : next);
  };
  const suffixes = query.groups.map(({ suffix }) => suffix).filter((suffix) => suffix !== "");
  return (
    <div class="builder">
      {query.groups.map((group, place) => (
        <GroupEditor
          key={group.suffix}
          group={group}
          names={names}
          fleet={fleet}
          removable={query.groups.length > 1}
          onChange={(next) => setGroup(place, next)}
        />
      ))}
      <div class="builder-foot">
        <button
          type="button"
          class="button"
          onClick={() => setAdded([...added, nextSuffix(query)])}
        >
          Add a group
        </button>
        {suffixes.length > 1 ? (
          <>
            <Segmented
              label="Groups on one provider"
              value={query.groupPolicy ?? "none"}
              options={[
                ["none", "may share"],
                ["isolate", "isolate"],
              ]}
              onChange={(value) => onChange({ ...query, groupPolicy: value })}
            />
            <label class="check">
              <input
                type="checkbox"
                checked={query.sameSubtree.length > 0}
                onChange={(event) => onChange({ ...query, sameSubtree: event.currentTarget.checked ? [suffixes] : [] })}
              />
              in one subtree
            </label>
          </>
        ) : null}
        <QueryText query={query} onChange={onChange} />
      </div>
    </div>
  );
}

function asksAnything({ resources, traits, aggregates, inTree }: Group): boolean {
  return resources.length > 0 || traits.length > 0 || aggregates.length > 0 || inTree !== null;
}

function withGroups(query: Query, suffixes: readonly string[]): Query {
  const present = new Set(query.groups.map(({ suffix }) => suffix));
  const missing = suffixes.filter((suffix) => !present.has(suffix));
  return missing.length === 0 ? query : { ...query, groups: [...query.groups, ...missing.map((suffix) => ({ suffix, ...EMPTY_GROUP }))] };
}

/** The query as text: to read, to change, to paste. */
function QueryText({ query, onChange }: { query: Query; onChange: (query: Query) => void }): JSX.Element {
  const text = formatQuery(query);
  const [typed, setTyped] = useState<string | null>(null);
  const submit = (): void => {
    if (typed !== null && typed !== text) onChange(parseQuery(typed));
    setTyped(null);
  };
  return (
    <form
      class="query-text"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label class="field grow">
        <span class="field-label">Query</span>
        <input
          aria-label="The query as text; paste one here"
          placeholder="Paste a query or the URL of a search"
          spellcheck={false}
          value={typed ?? text}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onBlur={submit}
        />
      </label>
    </form>
  );
}

function GroupEditor({
  group,
  names,
  fleet,
  removable,
  onChange,
}: {
  group: Group;
  names: Names;
  fleet: Fleet | null;
  removable: boolean;
  onChange: (group: Group | null) => void;
}): JSX.Element {
  const left = names.classes.filter((name) => !group.resources.some(([taken]) => taken === name));
  return (
    <fieldset class="group">
      <legend>{group.suffix === "" ? "Request" : `Group ${group.suffix}`}</legend>
      {removable ? (
        <button type="button" class="remove group-remove" aria-label={`Remove group ${group.suffix}`} onClick={() => onChange(null)}>
          ×
        </button>
      ) : null}
      <Row label="Resources">
        {group.resources.map(([resourceClass, value], place) => (
          <ResourceChip
            key={resourceClass}
            resourceClass={resourceClass}
            value={value}
            onChange={(next) => {
              const resources = group.resources.flatMap((each, index): Group["resources"] =>
                index !== place ? [each] : next === null ? [] : [[resourceClass, next]],
              );
              onChange({ ...group, resources });
            }}
          />
        ))}
        <Combobox
          label="Add a resource class"
          placeholder={group.resources.length === 0 ? "Add a class, such as VCPU" : "Add a class"}
          options={left}
          free
          onTake={(name) => {
            if (!group.resources.some(([taken]) => taken === name)) onChange({ ...group, resources: [...group.resources, [name, 1]] });
          }}
        />
      </Row>
      <Row label="Traits">
        {group.traits.map((condition, place) => (
          <ConditionChip
            key={condition.names.join()}
            condition={condition}
            show={(name) => name}
            onChange={(next) => onChange({ ...group, traits: replaced(group.traits, place, next) })}
          />
        ))}
        <Combobox
          label="Add a trait"
          placeholder="Add a trait"
          options={names.traits}
          detail={(name) => names.hostsOf("trait", name)}
          inUse={names.isOnHost}
          free
          onTake={(name) => onChange({ ...group, traits: [...group.traits, conditionFrom(name)] })}
        />
      </Row>
      <Row label="Aggregates">
        {group.aggregates.map((condition, place) => (
          <ConditionChip
            key={condition.names.join()}
            condition={condition}
            show={shortId}
            onChange={(next) => onChange({ ...group, aggregates: replaced(group.aggregates, place, next) })}
          />
        ))}
        <Combobox
          label="Add an aggregate"
          placeholder="Add an aggregate"
          options={names.aggregates}
          detail={(name) => names.hostsOf("aggregate", name)}
          free
          onTake={(name) => onChange({ ...group, aggregates: [...group.aggregates, conditionFrom(name)] })}
        />
      </Row>
      <Row label="In the tree of">
        {group.inTree === null ? (
          <Combobox
            label="In the tree of a host"
            placeholder="Any host"
            options={names.providers}
            onTake={(name) => onChange({ ...group, inTree: fleet?.hosts.find((host) => host.name === name)?.uuid ?? name })}
          />
        ) : (
          <span class="chip">
            <span title={group.inTree}>{fleet?.providers.get(group.inTree)?.name ?? shortId(group.inTree)}</span>
            <button type="button" class="remove" aria-label="Any host" onClick={() => onChange({ ...group, inTree: null })}>
              ×
            </button>
          </span>
        )}
      </Row>
    </fieldset>
  );
}

function conditionFrom(text: string): Condition {
  return text.startsWith("!") ? { names: [text.slice(1)], not: true } : { names: [text], not: false };
}

function replaced(conditions: readonly Condition[], place: number, next: Condition | null): Condition[] {
  return conditions.flatMap((each, index) => (index !== place ? [each] : next === null ? [] : [next]));
}

function Row({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="group-row" role="group" aria-label={label}>
      <span class="field-label">{label}</span>
      <div class="chips">{children}</div>
    </div>
  );
}

function ResourceChip({
  resourceClass,
  value,
  onChange,
}: {
  resourceClass: string;
  value: number;
  onChange: (value: number | null) => void;
}): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  const parsed = typed === null ? value : parseAmount(resourceClass, typed);
  const submit = (): void => {
    if (parsed !== null && parsed !== value) onChange(parsed);
    setTyped(null);
  };
  const words = amount(resourceClass, parsed ?? value);
  return (
    <span class="chip resource">
      <span class="chip-name">{resourceClass}</span>
      <input
        aria-label={`Amount of ${resourceClass}`}
        aria-invalid={parsed === null}
        title={`${resourceClass}: ${value}. Units may be typed, such as 16 GiB.`}
        inputMode="decimal"
        size={Math.max(3, (typed ?? String(value)).length)}
        value={typed ?? String(value)}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={submit}
        onKeyDown={(event) => {
          if (event.key === "Enter") submit();
          if (event.key === "Escape") setTyped(null);
        }}
      />
      {/[A-Z]/i.test(words) ? <span class="chip-unit">{words}</span> : null}
      <button type="button" class="remove" aria-label={`Remove ${resourceClass}`} onClick={() => onChange(null)}>
        ×
      </button>
    </span>
  );
}

function ConditionChip({
  condition,
  show,
  onChange,
}: {
  condition: Condition;
  show: (name: string) => string;
  onChange: (condition: Condition | null) => void;
}): JSX.Element {
  const { names, not } = condition;
  const words = names.map(show).join(" or ");
  return (
    <span class={not ? "chip not" : "chip"} title={names.join(", ")}>
      <button type="button" class="toggle" aria-pressed={not} onClick={() => onChange({ ...condition, not: !not })} title={not ? "Forbidden. Click to require it." : "Required. Click to forbid it."}>
        {not ? "not" : "with"}
      </button>
      <span class="chip-name">{words}</span>
      <button type="button" class="remove" aria-label={`Remove ${words}`} onClick={() => onChange(null)}>
        ×
      </button>
    </span>
  );
}
