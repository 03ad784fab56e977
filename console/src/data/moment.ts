// SPDX-License-Identifier: Apache-2.0

/** The moment in the address, `at=`, shows every page as of then. */

import { moment } from "./live";

function read(): void {
  moment.value = new URLSearchParams(location.search).get("at");
}

/** Follow the address. The router announces its own navigation with events of the same names. */
export function startMoment(): void {
  read();
  for (const name of ["popstate", "pushState", "replaceState"]) window.addEventListener(name, read);
}
