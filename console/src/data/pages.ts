// SPDX-License-Identifier: Apache-2.0

/** A list that is read page by page. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get, OfflineError, type Params } from "../api/client";
import { merged, type Page } from "../lib/merge";
import { useReadingAgain } from "./reading-again";
import { Refresher } from "./refresher";

export interface Paged<T> {
  items: readonly T[];
  loading: boolean;
  error: unknown;
  hasMore: boolean;
  /** The cursor of the next page: how far the list was read. */
  next: string | null;
  more: () => void;
  reload: () => void;
}

interface State<T> extends Page<T> {
  key: string;
  pages: number;
  error: unknown;
  loading: boolean;
}

interface Options<T> {
  /** The name of the parameter that takes `next`. */
  cursor?: string;
  /** The first page is read again when this changes, at most every `every` milliseconds. */
  refresh?: string;
  every?: number;
  /** Tells items apart: new ones are put before those that are there. Without it, a list of several pages is not read again. */
  identity?: (item: T) => string;
}

/** A page can have nothing although there is more behind it; so many of them are read without being asked. */
const EMPTY_PAGES = 60;

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the document is given by `pick`
export function usePages<D, T>(path: string, params: Params, pick: (document: D) => Page<T>, options: Options<T> = {}): Paged<T> {
  const { cursor = "after", refresh = "", every = 2000, identity } = options;
  const key = `${path}?${JSON.stringify(params)}`;
  const [state, setState] = useState<State<T>>({ key: "", items: [], next: null, pages: 0, error: null, loading: true });
  const refresher = useRef<Refresher | null>(null);
  /** Pages that were read; a viewer who has read on is not thrown back to the first one. */
  const pages = useRef(0);
  const further = useRef<AbortController | null>(null);

  useEffect(() => {
    pages.current = 0;
    const reading = new Refresher(every, async (signal) => {
      if (pages.current > 1 && identity === undefined) return;
      setState((old) => (old.key === key ? { ...old, loading: true } : { key, items: [], next: null, pages: 0, error: null, loading: true }));
      try {
        const page = pick(await get<D>(path, params, { signal }));
        if (signal.aborted || (pages.current > 1 && identity === undefined)) return;
        pages.current = Math.max(1, pages.current);
        setState((old) => ({ ...(old.key === key && old.pages > 1 && identity !== undefined ? merged(old, page, identity) : page), key, pages: pages.current, error: null, loading: false }));
      } catch (error) {
        if (signal.aborted) return;
        // A service that does not respond for a while takes nothing away that was read; the header says that it is offline.
        setState((old) =>
          old.key === key && old.items.length > 0 && error instanceof OfflineError ? { ...old, loading: false } : { key, items: [], next: null, pages: 0, error, loading: false },
        );
      }
    });
    refresher.current = reading;
    reading.ask();
    return () => {
      reading.stop();
      further.current?.abort();
    };
    // The key stands for path and parameters.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, every]);

  useEffect(() => refresher.current?.ask(), [refresh]);
  useReadingAgain(refresher, state.error);

  const more = (): void => {
    if (state.next === null || pages.current === 0) return;
    further.current?.abort();
    const { signal } = (further.current = new AbortController());
    pages.current += 1;
    setState((old) => ({ ...old, loading: true }));
    get<D>(path, { ...params, [cursor]: state.next }, { signal }).then(
      (document) => {
        if (signal.aborted) return;
        const { items, next } = pick(document);
        setState((old) => (old.key === key ? { ...old, items: [...old.items, ...items], next, pages: pages.current, loading: false } : old));
      },
      (error: unknown) => {
        if (!signal.aborted) setState((old) => ({ ...old, error, loading: false }));
      },
    );
  };
  const current = state.key === key;
  const readsOn = current && !state.loading && state.error === null && state.items.length === 0 && state.next !== null && state.pages < EMPTY_PAGES;
  useEffect(() => {
    if (readsOn) more();
    // Once for each page that has nothing.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [readsOn, state.pages]);
  return {
    items: current ? state.items : [],
    loading: !current || state.loading || readsOn,
    error: current ? state.error : null,
    hasMore: current && state.next !== null,
    next: current ? state.next : null,
    more,
    reload: () => {
      pages.current = 0;
      refresher.current?.askNow();
    },
  };
}
