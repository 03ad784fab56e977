// SPDX-License-Identifier: Apache-2.0

/** Arrow keys in lists: up and down move between the first controls of the rows of an element with `data-keys`. */

const CONTROLS = "a[href], button:not(:disabled), summary";

function moveInList(event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const target = event.target;
  if (step === 0 || event.defaultPrevented || !(target instanceof HTMLElement) || !target.matches(CONTROLS)) return;
  const list = target.closest("[data-keys]");
  if (list === null) return;
  const rows = [...list.children].filter((row) => row.querySelector(CONTROLS) !== null);
  const place = rows.findIndex((row) => row.contains(target));
  const next = rows[place + step]?.querySelector<HTMLElement>(CONTROLS);
  if (next === undefined || next === null) return;
  event.preventDefault();
  next.focus();
}

export function startListKeys(): void {
  document.addEventListener("keydown", moveInList);
}
