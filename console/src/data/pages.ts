// SPDX-License-Identifier: Apache-2.0

/** A list that is read page by page. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get, type Params } from "../api/client";
import { Refresher } from "./refresher";

interface Page<T> {
  items: T[];
  next: string | null;
}

export interface Paged<T> {
  items: readonly T[];
  loading: boolean;
  error: unknown;
  hasMore: boolean;
  more: () => void;
  reload: () => void;
}

interface State<T> {
  key: string;
  items: T[];
  next: string | null;
  error: unknown;
  loading: boolean;
}

interface Options {
  /** The name of the parameter that takes `next`. */
  cursor?: string;
  /** The first page is read again when this changes, at most every `every` milliseconds. */
  refresh?: string;
  every?: number;
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the document is given by `pick`
export function usePages<D, T>(path: string, params: Params, pick: (document: D) => Page<T>, options: Options = {}): Paged<T> {
  const { cursor = "after", refresh = "", every = 2000 } = options;
  const key = `${path}?${JSON.stringify(params)}`;
  const [state, setState] = useState<State<T>>({ key: "", items: [], next: null, error: null, loading: true });
  const refresher = useRef<Refresher | null>(null);
  /** Pages that were read; a viewer who has read on is not thrown back to the first one. */
  const pages = useRef(0);
  const further = useRef<AbortController | null>(null);

  useEffect(() => {
    pages.current = 0;
    const reading = new Refresher(every, async (signal) => {
      if (pages.current > 1) return;
      setState((old) => (old.key === key ? { ...old, loading: true } : { key, items: [], next: null, error: null, loading: true }));
      try {
        const { items, next } = pick(await get<D>(path, params, { signal }));
        if (signal.aborted || pages.current > 1) return;
        pages.current = 1;
        setState({ key, items, next, error: null, loading: false });
      } catch (error) {
        if (!signal.aborted) setState({ key, items: [], next: null, error, loading: false });
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

  const more = (): void => {
    if (state.next === null || pages.current === 0) return;
    const { signal } = (further.current = new AbortController());
    pages.current += 1;
    setState((old) => ({ ...old, loading: true }));
    get<D>(path, { ...params, [cursor]: state.next }, { signal }).then(
      (document) => {
        const { items, next } = pick(document);
        setState((old) => (old.key === key ? { ...old, items: [...old.items, ...items], next, loading: false } : old));
      },
      (error: unknown) => {
        if (!signal.aborted) setState((old) => ({ ...old, error, loading: false }));
      },
    );
  };
  const current = state.key === key;
  return {
    items: current ? state.items : [],
    loading: !current || state.loading,
    error: current ? state.error : null,
    hasMore: current && state.next !== null,
    more,
    reload: () => {
      pages.current = 0;
      refresher.current?.askNow();
    },
  };
}
