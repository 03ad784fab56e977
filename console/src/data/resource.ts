// SPDX-License-Identifier: Apache-2.0

/** A hook for one document of the API: loading, value, error; read again when its parameters or the revision change. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get, OfflineError, type Params } from "../api/client";
import { asOf, moment } from "./live";
import { useReadingAgain } from "./reading-again";
import { Refresher } from "./refresher";

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

interface Options {
  /** When this changes, the document is read again, at most every `every` milliseconds. */
  refresh?: string;
  every?: number;
  /** False: the route has no `at`, and shows now. */
  past?: boolean;
}

/** `path` null: nothing is read. */
export function useDocument<T>(path: string | null, params: Params = {}, options: Options = {}): Loaded<T> {
  const { refresh = "", every = 1500, past = true } = options;
  const at = past ? moment.value : null;
  const key = path === null ? "" : `${path}?${JSON.stringify(params)}&${at ?? ""}`;
  const [state, setState] = useState<State<T>>({ key: "", value: null, error: null, loading: true });
  const refresher = useRef<Refresher | null>(null);

  useEffect(() => {
    if (path === null) return;
    const sent = past ? asOf(params) : params;
    const reading = new Refresher(every, async (signal) => {
      setState((old) => ({ key, value: old.key === key ? old.value : null, error: null, loading: true }));
      try {
        const value = await get<T>(path, sent, { signal });
        if (!signal.aborted) setState({ key, value, error: null, loading: false });
      } catch (error) {
        if (signal.aborted) return;
        // A service that does not respond for a while takes nothing away that was read; the header says that it is offline.
        setState((old) => (old.key === key && old.value !== null && error instanceof OfflineError ? { ...old, loading: false } : { key, value: null, error, loading: false }));
      }
    });
    refresher.current = reading;
    reading.ask();
    return () => reading.stop();
    // The key stands for path, parameters and moment.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, every]);

  useEffect(() => refresher.current?.ask(), [refresh]);

  useReadingAgain(refresher, state.error);

  const reload = (): void => refresher.current?.askNow();
  if (state.key !== key) return { value: null, error: null, loading: path !== null, reload };
  return { value: state.value, error: state.error, loading: state.loading, reload };
}
