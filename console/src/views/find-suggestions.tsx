// SPDX-License-Identifier: Apache-2.0

/** What to change when nothing is found: smaller requests as buttons, and moves that make room. */

import type { JSX } from "preact";
import type { Explanation } from "../api/types";
import { consumerPath, providerPath } from "../lib/paths";
import { plural } from "../lib/units";
import { withUnits } from "../lib/words";
import { Id, Link } from "../parts/basics";
import { Resources } from "../parts/resources";

/** Of a search with candidates only the notes are left. */
export function Suggestions({ explanation, onQuery }: { explanation: Explanation; onQuery: (query: string) => void }): JSX.Element | null {
  const { relax, make_room: rooms, notes } = explanation;
  if (relax.length === 0 && rooms.length === 0 && notes.length === 0) return null;
  return (
    <div class="suggestions">
      {relax.length === 0 ? null : (
        <section class="panel" aria-labelledby="relax-title">
          <h2 id="relax-title">Changes that would give candidates</h2>
          <ul class="relax" data-keys>
            {relax.map((each) => (
              <li key={each.query}>
                <button type="button" class="button" onClick={() => onQuery(each.query)} title={each.query}>
                  <span>{withUnits(each.text.replace(/: \d+ hosts?$/, ""))}</span>
                  <strong>{plural(each.hosts, "host")}</strong>
                </button>
              </li>
            ))}
          </ul>
          {explanation.relax_is_complete ? null : <p class="quiet">Not all changes could be tried in time.</p>}
        </section>
      )}
      {rooms.length === 0 ? null : (
        <section class="panel" aria-labelledby="room-title">
          <h2 id="room-title">Moves that would make room</h2>
          <ul class="rooms">
            {rooms.map((room) => (
              <li key={room.host.uuid}>
                <p>
                  <Link to={providerPath(room.host.uuid)}>
                    <strong>{room.host.name}</strong>
                  </Link>{" "}
                  <span class="quiet">after {plural(room.moves.length, "move")}</span>
                </p>
                <ul>
                  {room.moves.map((move, place) => (
                    <li key={place}>
                      {move.consumer === null ? <span class="quiet">a consumer of another project</span> : <Id id={move.consumer} to={consumerPath(move.consumer)} />}{" "}
                      <Resources resources={move.resources} /> <span class="quiet">to</span>{" "}
                      {[...new Set(move.to.map(({ provider }) => provider.name))].join(", ")}
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </section>
      )}
      {notes.length === 0 ? null : (
        <section class="panel" aria-labelledby="notes-title">
          <h2 id="notes-title">Notes</h2>
          <ul class="notes">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
