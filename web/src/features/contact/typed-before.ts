import { useState } from "react";
import type { ContactValues } from "@/features/contact/schema";

export const nothingTyped: ContactValues = { name: "", email: "", message: "", reason: "" };

let kept = nothingTyped;

/**
 * What a visitor has typed into the form as the server drew it. React may take that form away before the code of the real one
 * has come, so its outline asks too, while both are still there.
 */
export function useTypedBefore(): ContactValues {
  const [typed] = useState(read);
  return typed;
}

/** The real form has it now; the next one begins empty. */
export function forgetTyped(): void {
  kept = nothingTyped;
}

function read(): ContactValues {
  const drawn =
    typeof document === "undefined"
      ? null
      : document.querySelector<HTMLFormElement>("#contact form");
  if (drawn) {
    const fields = new FormData(drawn);
    const text = (name: keyof ContactValues) => {
      const value = fields.get(name);
      return typeof value === "string" ? value : "";
    };
    kept = {
      name: text("name"),
      email: text("email"),
      message: text("message"),
      reason: text("reason"),
    };
  }
  return kept;
}
