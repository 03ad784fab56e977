// SPDX-License-Identifier: Apache-2.0

/** Whether the window is a wall screen, on which lists have room for more rows, or as narrow as a phone. */

import { useEffect, useState } from "preact/hooks";

const WIDE = matchMedia("(min-width: 2000px)");
const NARROW = matchMedia("(max-width: 620px)");

export function useWide(): boolean {
  return useMatch(WIDE);
}

export function useNarrow(): boolean {
  return useMatch(NARROW);
}

function useMatch(media: MediaQueryList): boolean {
  const [matches, setMatches] = useState(media.matches);
  useEffect(() => {
    const change = (): void => setMatches(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, [media]);
  return matches;
}
