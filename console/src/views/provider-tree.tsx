// SPDX-License-Identifier: Apache-2.0

/** The tree of a host, drawn with its branches; each node with the load of its classes. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Provider } from "../api/types";
import type { Host } from "../data/fleet";
import { compareNames } from "../lib/names";
import { providerPath } from "../lib/paths";
import { compareClasses, percent, plural } from "../lib/units";
import { Link } from "../parts/basics";
import { LoadBar } from "../parts/loadbar";
import { loadOfInventory } from "./provider";

const FIRST_CHILDREN = 24;

export function ProviderTree({ host, current }: { host: Host; current: string }): JSX.Element {
  const children = new Map<string, Provider[]>();
  for (const member of host.members) {
    if (member.parent === null) continue;
    const list = children.get(member.parent);
    if (list === undefined) children.set(member.parent, [member]);
    else list.push(member);
  }
  for (const list of children.values()) list.sort((a, b) => compareNames(a.name, b.name));
  return (
    <ul class="tree">
      <Node provider={host.root} items={children} current={current} prefix="" />
    </ul>
  );
}

function Node({ provider, items, current, prefix }: { provider: Provider; items: ReadonlyMap<string, Provider[]>; current: string; prefix: string }): JSX.Element {
  const children = items.get(provider.uuid) ?? [];
  const [all, setAll] = useState(false);
  // What is common with the parent's name is written once.
  const name = prefix !== "" && provider.name.startsWith(prefix) && provider.name.length > prefix.length + 1 ? provider.name.slice(prefix.length).replace(/^[-_.:/]/, "") : provider.name;
  const here = provider.uuid === current;
  const shown = all ? children : visible(children, current);
  return (
    <li>
      <div class={here ? "node here" : "node"}>
        <div class="node-name">{here ? <strong aria-current="true">{name}</strong> : <Link to={providerPath(provider.uuid)} title={provider.name}>{name}</Link>}</div>
        <ul class="node-loads">
          {Object.keys(provider.inventories)
            .sort(compareClasses)
            .map((each) => {
              const inventory = provider.inventories[each];
              if (inventory === undefined) return null;
              return (
                <li key={each}>
                  <span class="node-class" title={each}>
                    {each}
                  </span>
                  <LoadBar of={each} load={loadOfInventory(inventory)} />
                  <span class="node-share">{percent(inventory.used, inventory.capacity)}</span>
                </li>
              );
            })}
          {Object.keys(provider.inventories).length === 0 ? <li class="quiet">no inventory</li> : null}
        </ul>
      </div>
      {children.length === 0 ? null : (
        <ul>
          {shown.map((child) => (
            <Node key={child.uuid} provider={child} items={items} current={current} prefix={provider.name} />
          ))}
          {children.length > shown.length ? (
            <li>
              <button type="button" class="link-button" onClick={() => setAll(true)}>
                and {plural(children.length - shown.length, "more provider")}
              </button>
            </li>
          ) : null}
        </ul>
      )}
    </li>
  );
}

function visible(children: readonly Provider[], current: string): Provider[] {
  return children.filter((child, place) => place < FIRST_CHILDREN || child.uuid === current);
}
