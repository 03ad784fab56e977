// SPDX-License-Identifier: Apache-2.0

/** A hook that reads again what failed while the service did not respond. */

import { type MutableRef, useEffect, useRef } from "preact/hooks";
import { OfflineError } from "../api/client";
import { liveState } from "./live";
import type { Refresher } from "./refresher";

export function useReadingAgain(refresher: MutableRef<Refresher | null>, error: unknown): void {
  const failed = useRef(false);
  failed.current = error instanceof OfflineError;
  const responds = liveState.value !== "offline";
  useEffect(() => {
    if (responds && failed.current) refresher.current?.askNow();
    // Once when the service responds again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [responds]);
}
