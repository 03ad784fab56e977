// SPDX-License-Identifier: Apache-2.0

import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/fleet.css";
import "./styles/find.css";
import "./styles/pages.css";
import { render } from "preact";
import { loadSession } from "./api/session";
import { App } from "./app";
import { startLive } from "./data/live";
import { startMoment } from "./data/moment";
import { startListKeys } from "./lib/list-keys";
import { startTheme } from "./lib/theme";

startTheme();
startListKeys();
startMoment();
const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
  void loadSession().then(startLive);
}
