// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Route, Router, Switch, useLocation } from "wouter-preact";
import { basePath } from "./lib/navigation";
import { Empty, Link } from "./parts/basics";
import { Header } from "./parts/header";
import { MomentBar } from "./parts/moment-bar";
import { Page } from "./parts/page";
import { SignIn } from "./parts/sign-in";
import { StaleBar } from "./parts/stale-bar";
import { ConsumerView } from "./views/consumer";
import { ConsumersView } from "./views/consumers";
import { FindView } from "./views/find";
import { FleetView } from "./views/fleet";
import { HistoryView } from "./views/history";
import { ProjectsView, ProjectView } from "./views/projects";
import { ProviderView } from "./views/provider";
import { UnplacedView } from "./views/unplaced";

export function App(): JSX.Element {
  return (
    <Router base={basePath}>
      <Shell />
    </Router>
  );
}

function Shell(): JSX.Element {
  const [path] = useLocation();
  const shown = useRef(path);
  // A new page begins at its top, and the keyboard and a screen reader at its heading.
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    window.scrollTo(0, 0);
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [path]);
  return (
    <>
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <Header />
      <StaleBar />
      <MomentBar />
      <Switch>
        <Route path="/" component={FleetView} />
        <Route path="/fleet" component={FleetView} />
        <Route path="/find" component={FindView} />
        <Route path="/providers/:uuid" component={ProviderView} />
        <Route path="/unplaced" component={UnplacedView} />
        <Route path="/consumers" component={ConsumersView} />
        <Route path="/consumers/:uuid" component={ConsumerView} />
        <Route path="/projects" component={ProjectsView} />
        <Route path="/projects/:id" component={ProjectView} />
        <Route path="/history" component={HistoryView} />
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
