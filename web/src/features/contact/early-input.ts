import { useLayoutEffect, useRef, useState } from "react";
import type { ContactValues } from "@/features/contact/schema";

// Keeps what visitors type into the contact form of the server's HTML before React has hydrated the form.

/** The values of an empty form. */
export const emptyValues: ContactValues = { name: "", email: "", message: "", reason: "" };

/** The values that were read most recently from the form of the server's HTML. */
let latestValues = emptyValues;

/**
 * Returns the values that were typed into the server's form before the first render, and records further input from then on. The
 * skeleton of the form calls this hook too, because React may replace the server's form by the skeleton before the code of the form
 * has loaded.
 */
export function useInputBeforeHydration(): ContactValues {
  const [typed] = useState(() => {
    if (typeof document !== "undefined") document.addEventListener("input", readServerForm, true);
    return readServerForm();
  });
  return typed;
}

/**
 * Restores what the visitor types between the first render of the form and its hydration. Hydration resets the fields to `initialValues`,
 * the values of the first render. This hook calls `setField` with the recorded value of each field that differs. Forms that mount
 * later start empty.
 */
export function useInputDuringHydration(
  initialValues: ContactValues,
  setField: (name: keyof ContactValues, text: string) => void,
): void {
  const hydrated = useRef(false);
  useLayoutEffect(() => {
    if (hydrated.current) return;
    hydrated.current = true;
    for (const name of Object.keys(latestValues) as (keyof ContactValues)[])
      if (latestValues[name] !== initialValues[name]) setField(name, latestValues[name]);
    latestValues = emptyValues;
    document.removeEventListener("input", readServerForm, true);
  });
}

/** Reads the fields of the server's form into `latestValues` and returns them. Without that form `latestValues` does not change. */
function readServerForm(): ContactValues {
  const serverForm =
    typeof document === "undefined"
      ? null
      : document.querySelector<HTMLFormElement>("#contact form");
  if (serverForm) {
    const fields = new FormData(serverForm);
    const text = (name: keyof ContactValues) => {
      const value = fields.get(name);
      return typeof value === "string" ? value : "";
    };
    latestValues = {
      name: text("name"),
      email: text("email"),
      message: text("message"),
      reason: text("reason"),
    };
  }
  return latestValues;
}
