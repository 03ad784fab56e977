// SPDX-License-Identifier: Apache-2.0

/** Requests to the service: token, moment in time, errors as values with the words of the service. */

import { signal } from "@preact/signals";
import { currentToken, requestSignIn, sessionReady } from "./session";

export type Params = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** The service's root: the console is served one level below it. */
const root = new URL("../", document.baseURI);

export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly code: string,
    readonly requestId: string | null,
  ) {
    super(detail);
  }
}

/** The service could not be reached: no response at all. */
export class OfflineError extends Error {
  override readonly name = "OfflineError";
}

export function address(path: string, params: Params = {}): URL {
  const url = new URL(path, root);
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined || value === "") continue;
    if (typeof value === "object") for (const each of value) url.searchParams.append(name, each);
    else url.searchParams.append(name, String(value));
  }
  return url;
}

/** Whether the service leaves out consumers and searches of other projects, because the viewer may not see them. */
export const ownProjectOnly = signal(false);

/** The revision down to which the service has undone changes for a moment in the past that takes it long; null if none does. */
export const undoneTo = signal<string | null>(null);
const UNFINISHED = "plimsoll.changes.unfinished";
const UNFINISHED_PAUSE = 1000;

export interface Options {
  signal?: AbortSignal | undefined;
  etag?: string | null;
}

export interface Received<T> {
  /** Null if nothing has changed since the given etag. */
  body: T | null;
  etag: string | null;
}

async function send(url: URL, options: Options): Promise<Response> {
  const headers: Record<string, string> = {
    accept: "application/json",
    "openstack-api-version": "placement 1.39",
  };
  const token = currentToken();
  if (token !== null) headers["x-auth-token"] = token;
  if (options.etag !== undefined && options.etag !== null) headers["if-none-match"] = options.etag;
  try {
    return await fetch(url, { headers, cache: "no-store", credentials: "omit", signal: options.signal ?? null });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new OfflineError("The service did not respond.");
  }
}

interface ErrorDocument {
  errors?: { status?: number; title?: string; detail?: string; code?: string; request_id?: string }[];
}

/** Sentences of the service begin with the generic text of the status; what follows it is the news. */
function newsOf(detail: string): string {
  const parts = detail.split("\n\n").map((part) => part.trim());
  return (parts.length > 1 ? parts.slice(1).join("\n") : detail).trim();
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  let first: NonNullable<ErrorDocument["errors"]>[number] | undefined;
  try {
    first = (JSON.parse(text) as ErrorDocument).errors?.[0];
  } catch {
    first = undefined;
  }
  const title = first?.title ?? (response.statusText || `Status ${response.status}`);
  const detail = first?.detail === undefined ? text.slice(0, 500) : newsOf(first.detail);
  const requestId = first?.request_id ?? response.headers.get("x-openstack-request-id");
  return new ApiError(response.status, title, detail || title, first?.code ?? "", requestId);
}

/** GET with an etag. A 401 opens the sign-in form, and the request is repeated after it. */
export async function getIfChanged<T>(path: string, params: Params = {}, options: Options = {}): Promise<Received<T>> {
  const url = address(path, params);
  await sessionReady;
  options.signal?.throwIfAborted();
  for (;;) {
    const used = currentToken();
    const response = await send(url, options);
    if (response.headers.get("plimsoll-projects") === "own") ownProjectOnly.value = true;
    if (response.status === 304) return { body: null, etag: options.etag ?? null };
    if (response.ok) {
      if (params["at"] !== undefined) undoneTo.value = null;
      return { body: (await response.json()) as T, etag: response.headers.get("etag") };
    }
    const error = await errorOf(response);
    if (response.status === 401) await requestSignIn(used, error);
    else if (error.code === UNFINISHED) {
      // The service continues where it stopped.
      undoneTo.value = /revision (\S+?);/.exec(error.detail)?.[1] ?? "";
      await new Promise((resolve) => setTimeout(resolve, UNFINISHED_PAUSE));
    } else throw error;
    options.signal?.throwIfAborted();
  }
}

export async function get<T>(path: string, params: Params = {}, options: Options = {}): Promise<T> {
  const received = await getIfChanged<T>(path, params, options);
  if (received.body === null) throw new ApiError(304, "Not Modified", "No body.", "", null);
  return received.body;
}

/** A sentence for a person about any failure. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.detail;
  if (error instanceof Error) return error.message;
  return "Something failed without a message.";
}
