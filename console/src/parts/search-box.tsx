// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";
import { get } from "../api/client";
import type { ConsumerUsage } from "../api/types";
import { fleet } from "../data/live";
import { withMoment } from "../lib/navigation";
import { searchHits, type Hit } from "../lib/search";

/** The projects, read when the box is used for the first time. */
let projects: Promise<string[]> | null = null;

function readProjects(): Promise<string[]> {
  projects ??= get<ConsumerUsage>("plimsoll/v1/usage", { group_by: "project" }).then(
    (usage) => usage.groups.flatMap((group) => (group.group === null ? [] : [group.group])),
    () => [],
  );
  return projects;
}

export function SearchBox(): JSX.Element {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [known, setKnown] = useState<string[]>([]);
  const input = useRef<HTMLInputElement>(null);
  const [, navigate] = useLocation();
  const search = useSearch();
  const hits = useMemo(() => (open ? searchHits(text, fleet.value, known) : []), [open, text, known]);

  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement | null;
      const typing = target !== null && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);

  const go = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    setOpen(false);
    setText("");
    input.current?.blur();
    navigate(withMoment(hit.to, search));
  };
  const visible = open && text.trim() !== "";
  return (
    <div class="search" role="search" aria-label="Everything">
      <svg class="icon search-icon" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="7" cy="7" r="4.5" />
        <path d="m10.5 10.5 3.2 3.2" />
      </svg>
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search for a provider, consumer, project, trait, class or request id"
        aria-expanded={visible}
        aria-controls="search-hits"
        aria-autocomplete="list"
        aria-activedescendant={visible && hits.length > 0 ? `hit-${chosen}` : undefined}
        placeholder="Search: host, uuid, project, trait, req-…"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onFocus={() => {
          setOpen(true);
          void readProjects().then(setKnown);
        }}
        onBlur={() => setOpen(false)}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
          setOpen(true);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setChosen((place) => Math.min(hits.length - 1, place + 1));
          else if (event.key === "ArrowUp") setChosen((place) => Math.max(0, place - 1));
          else if (event.key === "Enter") go(hits[chosen]);
          else if (event.key === "Escape") {
            setText("");
            event.currentTarget.blur();
          } else return;
          event.preventDefault();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
      {visible ? (
        <ul id="search-hits" class="search-hits" role="listbox" aria-label="Results" tabIndex={-1}>
          {hits.map((hit, place) => (
            <li
              key={`${hit.kind} ${hit.to}`}
              id={`hit-${place}`}
              role="option"
              aria-selected={place === chosen}
              onPointerDown={(event) => {
                event.preventDefault();
                go(hit);
              }}
              onPointerMove={() => setChosen(place)}
            >
              <span class="hit-kind">{hit.kind}</span>
              <span class="hit-label">{hit.label}</span>
              <span class="hit-detail">{hit.detail}</span>
            </li>
          ))}
          {hits.length === 0 ? (
            <li class="no-hit" role="option" aria-selected={false}>
              Nothing has this in its name. A consumer is found by its whole uuid.
            </li>
          ) : null}
        </ul>
      ) : null}
    </div>
  );
}
