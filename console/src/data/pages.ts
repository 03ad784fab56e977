// SPDX-License-Identifier: Apache-2.0

/** A list that is read page by page. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get, type Params } from "../api/client";

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

/** `cursor` is the name of the parameter that takes `next`. `refresh`: the first page is read again when it changes. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the document is given by `pick`
export function usePages<D, T>(
  path: string,
  params: Params,
  pick: (document: D) => Page<T>,
  options: { cursor?: string; refresh?: string; every?: number } = {},
): Paged<T> {
  const { cursor = "after", refresh = "", every = 2000 } = options;
  const key = `${path}?${JSON.stringify(params)}`;
  const [state, setState] = useState<State<T>>({ key: "", items: [], next: null, error: null, loading: true });
  const [attempt, setAttempt] = useState(0);
  const read = useRef({ key: "", time: 0, pages: 0 });
  const stopMore = useRef<AbortController | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    const again = read.current.key === key;
    // A viewer who has read on is not thrown back to the first page.
    if (again && read.current.pages > 1 && attempt === 0) return;
    const timer = setTimeout(
      () => {
        read.current = { key, time: Date.now(), pages: 1 };
        setState((old) => (old.key === key ? { ...old, loading: true } : { key, items: [], next: null, error: null, loading: true }));
        get<D>(path, params, { signal: stop.signal }).then(
          (document) => {
            const { items, next } = pick(document);
            setState({ key, items, next, error: null, loading: false });
          },
          (error: unknown) => {
            if (!stop.signal.aborted) setState({ key, items: [], next: null, error, loading: false });
          },
        );
      },
      again ? Math.max(0, read.current.time + every - Date.now()) : 0,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // The key stands for path and parameters.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, refresh, attempt]);

  useEffect(() => () => stopMore.current?.abort(), [key]);

  const more = (): void => {
    if (state.next === null || state.loading) return;
    const stop = (stopMore.current = new AbortController());
    read.current.pages += 1;
    setState((old) => ({ ...old, loading: true }));
    get<D>(path, { ...params, [cursor]: state.next }, { signal: stop.signal }).then(
      (document) => {
        const { items, next } = pick(document);
        setState((old) => (old.key === key ? { ...old, items: [...old.items, ...items], next, loading: false } : old));
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setState((old) => ({ ...old, error, loading: false }));
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
    reload: () => setAttempt((count) => count + 1),
  };
}
