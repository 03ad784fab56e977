// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import { useLocation } from "wouter-preact";
import { sessionInfo, signedIn, signOut } from "../api/session";
import { headRevision, liveState, moment, paused, type LiveState } from "../data/live";
import { switchTheme, theme } from "../lib/theme";
import { Link, Mark } from "./basics";
import { sliderOpen } from "./moment-bar";
import { SearchBox } from "./search-box";

const PAGES: readonly (readonly [path: string, label: string, prefixes: readonly string[]])[] = [
  ["/", "Fleet", ["/fleet", "/providers"]],
  ["/find", "Find a place", []],
  ["/unplaced", "Unplaced", []],
  ["/consumers", "Consumers", ["/consumers", "/projects"]],
  ["/history", "History", []],
];

const LIVE: Readonly<Record<LiveState, readonly [label: string, about: string]>> = {
  connecting: ["Connecting", "Reading the fleet"],
  live: ["Live", "Changes appear as they are committed. Click to pause."],
  polling: ["Polling", "This service has no change feed: the fleet is read again when it has changed. Click to pause."],
  offline: ["Offline", "The service does not respond. It is tried again."],
  paused: ["Paused", "Nothing is updated. Click to follow again."],
  past: ["As of then", "A moment in the past is shown."],
};

export function Header(): JSX.Element {
  const [path] = useLocation();
  return (
    <header class="header">
      <div class="header-row">
        <Link to="/" class="brand" aria-label="Plimsoll: fleet">
          <Mark />
          <span class="brand-name">Plimsoll</span>
          {sessionInfo.value?.name ? <span class="brand-cloud">{sessionInfo.value.name}</span> : null}
        </Link>
        <nav aria-label="Pages">
          {PAGES.map(([to, label, prefixes]) => {
            const current = path === to || prefixes.some((prefix) => path.startsWith(prefix));
            return (
              <Link key={to} to={to} aria-current={current ? "page" : undefined}>
                {label}
              </Link>
            );
          })}
        </nav>
        <SearchBox />
        <div class="header-tools">
          <LiveButton />
          <button
            type="button"
            class="icon-button"
            aria-label="Show a moment in the past"
            title="Show a moment in the past"
            aria-pressed={sliderOpen.value || moment.value !== null}
            onClick={() => (sliderOpen.value = !sliderOpen.value)}
          >
            <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M2.8 5.2A6 6 0 1 1 2 8" />
              <path d="M2.3 2.6v2.9h2.9M8 4.8V8l2.3 1.5" />
            </svg>
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label={theme.value === "dark" ? "Light colours" : "Dark colours"}
            title={theme.value === "dark" ? "Light colours" : "Dark colours"}
            onClick={switchTheme}
          >
            <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
              <circle cx="8" cy="8" r="5.2" />
              <path class="solid" d="M8 2.8a5.2 5.2 0 0 1 0 10.4Z" />
            </svg>
          </button>
          <Account />
        </div>
      </div>
    </header>
  );
}

function LiveButton(): JSX.Element {
  const state = liveState.value;
  const [label, about] = LIVE[state];
  const fixed = state === "past" || state === "connecting";
  return (
    <button
      type="button"
      class="live"
      data-state={state}
      title={headRevision.value === "" ? about : `${about} Revision ${headRevision.value}.`}
      aria-pressed={state === "paused"}
      disabled={fixed || moment.value !== null}
      onClick={() => (paused.value = !paused.value)}
    >
      <i aria-hidden="true" />
      <span>{label}</span>
    </button>
  );
}

function Account(): JSX.Element | null {
  const session = signedIn.value;
  if (session === null) return null;
  const who = session.user?.name ?? "token";
  const where = session.project?.name;
  return (
    <button
      type="button"
      class="account"
      title={`Signed in as ${who}${where === undefined ? "" : ` in ${where}`}${session.roles === undefined ? "" : ` (${session.roles.join(", ")})`}. Click to sign out.`}
      onClick={signOut}
    >
      <span class="account-name">{who}</span> <span class="account-out">Sign out</span>
    </button>
  );
}
