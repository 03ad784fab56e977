// SPDX-License-Identifier: Apache-2.0

/** Whether the window is a wall screen, on which lists have room for more rows. */

import { useEffect, useState } from "preact/hooks";

const WIDE = matchMedia("(min-width: 2000px)");

export function useWide(): boolean {
  const [wide, setWide] = useState(WIDE.matches);
  useEffect(() => {
    const change = (): void => setWide(WIDE.matches);
    WIDE.addEventListener("change", change);
    return () => WIDE.removeEventListener("change", change);
  }, []);
  return wide;
}
