// SPDX-License-Identifier: Apache-2.0

import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link as RouterLink, useSearch } from "wouter-preact";
import { ApiError, messageOf, OfflineError } from "../api/client";
import { withMoment } from "../lib/navigation";
import { shortId } from "../lib/names";
import { absolute, parseTime, relative } from "../lib/times";
import { amount, number, raw } from "../lib/units";

/** A link inside the console that keeps the moment in time. */
export function Link(props: {
  to: string;
  class?: string;
  title?: string;
  "aria-label"?: string;
  "aria-current"?: "page" | undefined;
  children: ComponentChildren;
}): JSX.Element {
  const { to, "aria-current": current, ...rest } = props;
  const search = useSearch();
  return <RouterLink {...rest} {...(current === undefined ? {} : { "aria-current": current })} href={withMoment(to, search)} />;
}

/** An amount in units that people use, with the value of the API on hover. */
export function Amount({ of, value, label }: { of: string; value: number; label?: string }): JSX.Element {
  return (
    <span class="amount" data-raw={value} title={`${label === undefined ? "" : `${label}: `}${raw(of, value)}`}>
      {amount(of, value)}
    </span>
  );
}

export function Count({ value }: { value: number }): JSX.Element {
  return (
    <span class="amount" data-raw={value}>
      {number(value)}
    </span>
  );
}

const now = signal(new Date());
let ticking = 0;
/** One timer for all times of a page. */
let timer: ReturnType<typeof setInterval> | undefined;

/** A time relative to now, with the absolute one on hover. */
export function Time({ at }: { at: string | null }): JSX.Element {
  useEffect(() => {
    ticking += 1;
    now.value = new Date();
    timer ??= setInterval(() => (now.value = new Date()), 5000);
    return () => {
      ticking -= 1;
      if (ticking > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  if (at === null) return <span class="quiet">no time</span>;
  const then = parseTime(at);
  if (Number.isNaN(then.getTime())) return <span>{at}</span>;
  // Between two ticks a time can be newer than the clock of the page.
  const present = now.value < then ? then : now.value;
  return (
    <time dateTime={then.toISOString()} title={absolute(then)}>
      {relative(then, present)}
    </time>
  );
}

/** An id: short, whole on hover, copied by a click on the button. */
export function Id({ id, to, full = false }: { id: string; to?: string; full?: boolean }): JSX.Element {
  const text = full ? id : shortId(id);
  // Names are text; ids of digits are easier to compare in a fixed width.
  const shown = /^(req-)?[0-9a-f-]{16,}$/i.test(id) ? <code>{text}</code> : text;
  return (
    <span class="id">
      {to === undefined ? (
        <span title={id}>{shown}</span>
      ) : (
        <Link to={to} title={id}>
          {shown}
        </Link>
      )}
      <CopyButton text={id} label={`Copy ${id}`} small />
    </span>
  );
}

export function CopyButton({
  text,
  label,
  small = false,
  children,
}: {
  text: string;
  label: string;
  small?: boolean;
  children?: ComponentChildren;
}): JSX.Element {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = (): void => {
    copyText(text).then(
      () => setState("copied"),
      () => setState("failed"),
    );
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setState("idle"), 1600);
  };
  return (
    <button type="button" class={small ? "copy small" : "button copy"} aria-label={label} title={label} onClick={copy} data-copy={text}>
      {state === "copied" ? <CheckIcon /> : <CopyIcon />}
      {children}
      <span class="visually-hidden" role="status">
        {state === "copied" ? "Copied" : state === "failed" ? "Could not copy" : ""}
      </span>
    </button>
  );
}

/** The clipboard needs a secure context; a console behind plain HTTP has none, so a selection is copied there. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not copied");
}

export function CopyIcon(): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
    </svg>
  );
}

export function CheckIcon(): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d="m3 8.5 3.2 3.2L13 4.8" />
    </svg>
  );
}

/** The mark of the project: a load line through a circle. */
export function Mark({ class: name = "mark" }: { class?: string }): JSX.Element {
  return (
    <svg class={name} viewBox="0 0 64 40" aria-hidden="true">
      <circle cx="32" cy="20" r="14.5" class="mark-ring" />
      <path d="M4 20h56" class="mark-line" />
    </svg>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="state" data-kind="empty">
      <Mark class="state-mark" />
      <p class="state-title">{title}</p>
      {children === undefined ? null : <div class="state-text">{children}</div>}
    </div>
  );
}

export function Loading({ what, lines = 4 }: { what: string; lines?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="skeleton-line" />
      ))}
    </div>
  );
}

/** A failure where the data would be, in the words of the service. */
export function Failure({ error, what, retry }: { error: unknown; what: string; retry?: () => void }): JSX.Element {
  const status = error instanceof ApiError ? error.status : null;
  const title =
    status === 403
      ? `You may not see ${what}`
      : status === 404
        ? `Not found: ${what}`
        : status === 400
          ? "The request is not valid"
          : error instanceof OfflineError
          ? "The service does not respond"
          : `Could not read ${what}`;
  return (
    <div class="state" data-kind={status === 403 ? "forbidden" : "error"} role="alert">
      <Mark class="state-mark" />
      <p class="state-title">{title}</p>
      <div class="state-text">
        <p>{error instanceof OfflineError ? "It is tried again until it responds." : messageOf(error)}</p>
        {error instanceof ApiError && error.requestId !== null ? (
          <p class="quiet">
            Status {error.status}, request <Id id={error.requestId} full />
          </p>
        ) : null}
        {retry === undefined || status === 400 ? null : (
          <button type="button" class="button" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onChange: (value: T) => void;
}): JSX.Element {
  return (
    <fieldset class="segmented">
      <legend>{label}</legend>
      <div class="segmented-options">
        {options.map(([option, text]) => (
          <label key={option} class={option === value ? "on" : ""}>
            <input type="radio" name={label} checked={option === value} onChange={() => onChange(option)} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export function Select<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onChange: (value: T) => void;
}): JSX.Element {
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
