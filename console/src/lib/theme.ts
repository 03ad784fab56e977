// SPDX-License-Identifier: Apache-2.0

/** Light or dark: the system's choice, or the viewer's. */

import { effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const KEY = "plimsoll.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

const system = (): Theme => (dark.matches ? "dark" : "light");

export const theme = signal<Theme>(chosen() ?? system());

dark.addEventListener("change", () => {
  if (chosen() === null) theme.value = system();
});

export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
  });
}

/** Change to the other theme. A choice that equals the system's is not stored, so that it follows the system again. */
export function switchTheme(): void {
  const next = theme.value === "dark" ? "light" : "dark";
  try {
    if (next === system()) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // The choice lasts until the page is closed.
  }
  theme.value = next;
}
