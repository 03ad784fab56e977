// SPDX-License-Identifier: Apache-2.0

/** Addresses of pages. The whole state of a page is in its address. */

import { useCallback } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";

export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** The parameter that every link keeps: the moment in time. */
const KEPT = "at";

/** Add the moment of the present address to a path. */
export function withMoment(path: string, search: string): string {
  const at = new URLSearchParams(search).get(KEPT);
  if (at === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}${KEPT}=${encodeURIComponent(at)}`;
}

export type SetParams = (changes: Readonly<Record<string, string | null>>, options?: { replace?: boolean }) => void;

/** The query of the address, and a function that changes some parameters of it (null or "" removes). */
export function useParams(): readonly [URLSearchParams, SetParams] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const set = useCallback<SetParams>(
    (changes, options = {}) => {
      const next = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === "") next.delete(name);
        else next.set(name, value);
      }
      const text = next.toString();
      navigate(text === "" ? path : `${path}?${text}`, { replace: options.replace ?? true });
    },
    [path, navigate],
  );
  return [new URLSearchParams(search), set];
}
