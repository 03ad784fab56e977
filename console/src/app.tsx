// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Route, Router, Switch, useLocation } from "wouter-preact";
import { basePath } from "./lib/navigation";
import { Empty, Link } from "./parts/basics";
import { Header } from "./parts/header";
import { Page } from "./parts/page";
import { SignIn } from "./parts/sign-in";
import { FindView } from "./views/find";
import { FleetView } from "./views/fleet";

export function App(): JSX.Element {
  return (
    <Router base={basePath}>
      <Shell />
    </Router>
  );
}

function Shell(): JSX.Element {
  const [path] = useLocation();
  // A new page begins at its top, and a screen reader at its heading.
  useEffect(() => {
    window.scrollTo(0, 0);
  }, [path]);
  return (
    <>
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <Header />
      <Switch>
        <Route path="/" component={FleetView} />
        <Route path="/fleet" component={FleetView} />
        <Route path="/find" component={FindView} />
        <Route>
          <Page view="missing" title="No such page" state="empty">
            <Empty title="There is no page at this address">
              <p>
                <Link to="/">To the fleet</Link>
              </p>
            </Empty>
          </Page>
        </Route>
      </Switch>
      <SignIn />
    </>
  );
}

/** With a base address, a link to a fragment would leave the page. */
function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
