// SPDX-License-Identifier: Apache-2.0

/** A hook for one document of the API: loading, value, error; read again when its parameters or the revision change. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get, type Params } from "../api/client";
import { asOf, moment } from "./live";

export interface Loaded<T> {
  value: T | null;
  error: unknown;
  /** True also while a newer value is being read. */
  loading: boolean;
  reload: () => void;
}

interface State<T> {
  key: string;
  value: T | null;
  error: unknown;
  loading: boolean;
}

/** `path` null: nothing is read. `refresh`: when this changes, the document is read again, at most every `every` milliseconds. */
export function useDocument<T>(
  path: string | null,
  params: Params = {},
  options: { refresh?: string; every?: number; past?: boolean } = {},
): Loaded<T> {
  const at = options.past === false ? null : moment.value;
  const key = path === null ? "" : `${path}?${JSON.stringify(params)}&${at ?? ""}`;
  const [state, setState] = useState<State<T>>({ key: "", value: null, error: null, loading: true });
  const [attempt, setAttempt] = useState(0);
  const read = useRef({ key: "", time: 0 });
  const { refresh = "", every = 1500 } = options;

  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    const again = read.current.key === key;
    const delay = again ? Math.max(0, read.current.time + every - Date.now()) : 0;
    const timer = setTimeout(() => {
      read.current = { key, time: Date.now() };
      setState((old) => ({ key, value: old.key === key ? old.value : null, error: null, loading: true }));
      get<T>(path, options.past === false ? params : asOf(params), { signal: stop.signal }).then(
        (value) => setState({ key, value, error: null, loading: false }),
        (error: unknown) => {
          if (!stop.signal.aborted) setState({ key, value: null, error, loading: false });
        },
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // The key stands for path, parameters and moment.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, attempt, refresh, every]);

  const reload = (): void => {
    read.current.time = 0;
    setAttempt((count) => count + 1);
  };
  if (state.key !== key) return { value: null, error: null, loading: path !== null, reload };
  return { value: state.value, error: state.error, loading: state.loading, reload };
}
