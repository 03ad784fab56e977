// SPDX-License-Identifier: Apache-2.0

/** A text field with completion: arrows choose, Enter or a click takes. */

import type { JSX } from "preact";
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { bestNames } from "../lib/search";

interface Props {
  label: string;
  placeholder: string;
  options: readonly string[];
  /** Something to show beside an option. */
  detail?: (option: string) => string;
  /** Whether the cloud has it; those come first. */
  inUse?: (option: string) => boolean;
  /** Take also what is not among the options. */
  free?: boolean;
  initial?: string;
  class?: string;
  onTake: (value: string) => void;
}

const MOST = 12;

export function Combobox({ label, placeholder, options, detail, inUse, free = false, initial = "", class: name, onTake }: Props): JSX.Element {
  const id = useId();
  const [text, setText] = useState(initial);
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const before = useRef(initial);
  if (before.current !== initial) {
    before.current = initial;
    setText(initial);
  }
  const matches = useMemo(() => {
    if (!open) return [];
    return text.trim() === "" || text === initial ? options.slice(0, MOST) : bestNames(options, text.trim(), MOST, inUse);
  }, [open, text, initial, options, inUse]);
  const take = (value: string | undefined): void => {
    if (value === undefined || value === "") return;
    setOpen(false);
    setText(initial);
    onTake(value);
  };
  return (
    <span class={`combobox ${name ?? ""}`}>
      <input
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded={open && matches.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={open && matches.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onFocus={(event) => {
          setOpen(true);
          event.currentTarget.select();
        }}
        onBlur={() => {
          setOpen(false);
          setText(initial);
        }}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
          setOpen(true);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setChosen((place) => Math.min(matches.length - 1, place + 1));
          else if (event.key === "ArrowUp") setChosen((place) => Math.max(0, place - 1));
          else if (event.key === "Enter") {
            const exact = matches.find((option) => option.toLowerCase() === text.trim().toLowerCase());
            take(exact ?? (free && text.trim() !== "" && chosen === 0 && matches.length === 0 ? text.trim() : matches[chosen]));
          } else if (event.key === "Escape") setOpen(false);
          else return;
          event.preventDefault();
        }}
      />
      {open && matches.length > 0 ? (
        // A list that scrolls would be a stop of the Tab key, and vanish with the focus.
        <ul id={`${id}-list`} role="listbox" aria-label={label} class="combobox-list" tabIndex={-1}>
          {matches.map((option, place) => (
            <li
              key={option}
              id={`${id}-${place}`}
              role="option"
              aria-selected={place === chosen}
              onPointerDown={(event) => {
                event.preventDefault();
                take(option);
              }}
              onPointerMove={() => setChosen(place)}
            >
              <span>{option}</span>
              {detail === undefined ? null : <span class="quiet">{detail(option)}</span>}
            </li>
          ))}
        </ul>
      ) : null}
    </span>
  );
}
