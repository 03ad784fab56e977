// SPDX-License-Identifier: Apache-2.0

/** Who the viewer is. A token lives in the storage of this tab only. */

import { signal } from "@preact/signals";

export interface SessionInfo {
  sign_in: "none" | "keystone";
  token?: string;
  version?: string;
  name?: string | null;
  default_domain?: string;
}

export interface SignedIn {
  token: string;
  expires_at?: string;
  user?: { id: string; name: string };
  project?: { id: string; name: string } | null;
  roles?: string[];
}

export interface Credentials {
  user: string;
  password: string;
  user_domain?: string;
  project?: string;
  project_domain?: string;
}

const KEY = "plimsoll.session";

export const sessionInfo = signal<SessionInfo | null>(null);
export const signedIn = signal<SignedIn | null>(stored());

/** The reason why the form is open; null if it is closed. */
export const signInReason = signal<string | null>(null);
let waiting: (() => void)[] = [];

function stored(): SignedIn | null {
  try {
    const text = sessionStorage.getItem(KEY);
    const value: unknown = text === null ? null : JSON.parse(text);
    return typeof value === "object" && value !== null && "token" in value && typeof value.token === "string"
      ? (value as SignedIn)
      : null;
  } catch {
    return null;
  }
}

export function currentToken(): string | null {
  return signedIn.value?.token ?? sessionInfo.value?.token ?? null;
}

const base = document.baseURI;

let ready: () => void = () => undefined;
/** Resolved when it is known how one signs in: no request is sent before. */
export const sessionReady = new Promise<void>((resolve) => (ready = resolve));

/** Read how one signs in here. On Vite's own server without the route: development auth. */
export async function loadSession(): Promise<void> {
  try {
    const response = await fetch(new URL("session", base), { cache: "no-store", credentials: "omit" });
    if (response.ok && response.headers.get("content-type")?.includes("json") === true) {
      sessionInfo.value = (await response.json()) as SessionInfo;
    }
  } catch {
    // The first request to the API shows that the service does not respond.
  }
  sessionInfo.value ??= import.meta.env.DEV ? { sign_in: "none", token: "admin" } : { sign_in: "keystone" };
  if (sessionInfo.value.sign_in === "keystone" && signedIn.value === null) signInReason.value = "";
  ready();
}

/** Wait until the viewer has signed in with another token than `refused`. */
export function requestSignIn(refused: string | null, reason: Error): Promise<void> {
  if (currentToken() !== refused) return Promise.resolve();
  signInReason.value = refused === null ? "" : `The session has ended: ${reason.message}`;
  return new Promise((resolve) => waiting.push(resolve));
}

function accept(session: SignedIn): void {
  signedIn.value = session;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(session));
  } catch {
    // Without storage the session lasts until the page is closed.
  }
  signInReason.value = null;
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
}

export function signInWithToken(token: string): void {
  accept({ token });
}

/** Ask the service for a token of Keystone. Returns the words of a refusal, or null. */
export async function signIn(credentials: Credentials): Promise<string | null> {
  let response: Response;
  try {
    response = await fetch(new URL("sign-in", base), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(credentials),
      credentials: "omit",
    });
  } catch {
    return "The service did not respond. Check the connection and try again.";
  }
  if (response.ok) {
    accept((await response.json()) as SignedIn);
    return null;
  }
  try {
    const { errors } = (await response.json()) as { errors?: { detail?: string }[] };
    const detail = errors?.[0]?.detail?.split("\n\n").at(-1)?.trim();
    if (detail !== undefined && detail !== "") return detail;
  } catch {
    // Not the error document: the status has to do.
  }
  return response.status === 401 ? "User, password or project is wrong." : `Sign-in failed (status ${response.status}).`;
}

/** Drop the token; it ends in Keystone at its time. */
export function signOut(): void {
  sessionStorage.removeItem(KEY);
  signedIn.value = null;
  location.assign(base);
}
