// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ownProjectOnly } from "../api/client";
import { sessionInfo, signedIn } from "../api/session";
import { Link } from "./basics";

export type PageState = "loading" | "ready" | "empty" | "error";

/** The frame of every view: title, heading, state. */
export function Page({
  view,
  title,
  heading,
  subtitle,
  state,
  actions,
  children,
}: {
  view: string;
  title: string;
  heading?: ComponentChildren;
  subtitle?: ComponentChildren;
  state: PageState;
  actions?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  // The name of the cloud tells the tabs of several clouds apart.
  const cloud = sessionInfo.value?.name;
  useEffect(() => {
    document.title = `${title}${cloud ? ` · ${cloud}` : ""} · Plimsoll`;
  }, [title, cloud]);
  return (
    <main id="main" data-view={view} data-state={state} tabIndex={-1} aria-busy={state === "loading"}>
      <div class="page-head">
        <div class="page-title">
          <h1 tabIndex={-1}>{heading ?? title}</h1>
          {subtitle === undefined ? null : <p class="subtitle">{subtitle}</p>}
        </div>
        {actions === undefined ? null : <div class="page-actions">{actions}</div>}
      </div>
      {children}
    </main>
  );
}

/** A page above this one, before its heading. */
export function Crumb({ to, children }: { to: string; children: ComponentChildren }): JSX.Element {
  return (
    <span class="crumb">
      <Link to={to}>{children}</Link>
      <span aria-hidden="true"> / </span>
    </span>
  );
}

/** Says that consumers, searches and changes of other projects are left out, and why. */
export function OwnProjectNotice({ what }: { what: string }): JSX.Element | null {
  if (!ownProjectOnly.value) return null;
  const project = signedIn.value?.project?.name;
  return (
    <p class="notice own-project">
      You see {what} of your own project{project === undefined ? "" : ` (${project})`} only. Those of other projects need a role that the policy rule <code>plimsoll:projects:all</code> names.
    </p>
  );
}
