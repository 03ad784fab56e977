// SPDX-License-Identifier: Apache-2.0

import type { JSX } from "preact";
import { useState } from "preact/hooks";

/** A text that takes effect with Enter, or when the field is left. */
export function FilterField({ label, placeholder, value, onChange }: { label: string; placeholder: string; value: string; onChange: (value: string) => void }): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  const submit = (): void => {
    if (typed !== null && typed.trim() !== value) onChange(typed.trim());
    setTyped(null);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label class="field">
        <span class="field-label">{label}</span>
        <input class="filter" value={typed ?? value} spellcheck={false} placeholder={placeholder} onInput={(event) => setTyped(event.currentTarget.value)} onBlur={submit} />
      </label>
    </form>
  );
}
