// SPDX-License-Identifier: Apache-2.0

/** The sign-in form, over the page: what was open stays open behind it. */

import type { InputHTMLAttributes, JSX, TargetedSubmitEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { sessionInfo, signIn, signInReason, signInWithToken } from "../api/session";
import { Mark, Segmented } from "./basics";

export function SignIn(): JSX.Element | null {
  const reason = signInReason.value;
  return reason === null ? null : <SignInDialog reason={reason} />;
}

type Method = "password" | "token";

function SignInDialog({ reason }: { reason: string }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [method, setMethod] = useState<Method>("password");
  const [refusal, setRefusal] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const domain = sessionInfo.value?.default_domain ?? "Default";
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLInputElement>("input[name=user]")?.focus();
  }, []);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const text = (name: string): string => {
      const value = data.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    if (method === "token") {
      signInWithToken(text("token"));
      return;
    }
    setBusy(true);
    setRefusal(null);
    const password = data.get("password");
    const project = text("project");
    void signIn({
      user: text("user"),
      password: typeof password === "string" ? password : "",
      user_domain: text("user_domain") || domain,
      ...(project === "" ? {} : { project, project_domain: text("project_domain") || domain }),
    }).then((words) => {
      setBusy(false);
      setRefusal(words);
    });
  };
  return (
    <dialog ref={dialog} class="sign-in" aria-labelledby="sign-in-title" onCancel={(event) => event.preventDefault()}>
      <form onSubmit={submit}>
        <Mark class="state-mark" />
        <div>
          <h1 id="sign-in-title">Sign in to Plimsoll</h1>
          {sessionInfo.value?.name ? <p class="quiet">{sessionInfo.value.name}</p> : null}
        </div>
        {reason === "" ? null : <p class="notice">{reason} Sign in again; the page stays as it is.</p>}
        <Segmented
          label="With"
          value={method}
          options={[
            ["password", "User and password"],
            ["token", "Token"],
          ]}
          onChange={setMethod}
        />
        {method === "password" ? (
          <>
            <Field name="user" label="User" autoComplete="username" required />
            <Field name="password" label="Password" type="password" autoComplete="current-password" required />
            <Field name="project" label="Project" autoComplete="organization" />
            <details>
              <summary>Domains</summary>
              <Field name="user_domain" label="Domain of the user" placeholder={domain} />
              <Field name="project_domain" label="Domain of the project" placeholder={domain} />
            </details>
          </>
        ) : (
          <Field name="token" label="Keystone token" type="password" autoComplete="off" required />
        )}
        {refusal === null ? null : (
          <p class="notice bad" role="alert">
            {refusal}
          </p>
        )}
        <button type="submit" class="button primary" disabled={busy}>
          {busy ? "Signing in…" : "Sign in"}
        </button>
        <p class="quiet">The token stays in this tab and is dropped when it is closed.</p>
      </form>
    </dialog>
  );
}

function Field({ label, ...input }: { label: string; name: string } & InputHTMLAttributes): JSX.Element {
  return (
    <label class="field block">
      <span class="field-label">{label}</span>
      <input {...input} />
    </label>
  );
}
