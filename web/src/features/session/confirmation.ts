import { createContext, useContext } from "react";
import type { AuthFailure } from "@/lib/auth";

type Answer = { error?: AuthFailure };

export type Confirmation = {
  /**
   * Makes a call for which the server may demand reauthentication. In that case it opens the dialog and repeats the call
   * after it. Resolves with the answer of the call, or null if the owner closes the dialog.
   */
  confirmed<A extends Answer>(call: () => Promise<A>): Promise<A | null>;
  /** Whether the dialog is open. */
  asking: boolean;
};

const ConfirmationContext = createContext<Confirmation | null>(null);
export const ConfirmationContextProvider = ConfirmationContext.Provider;

/** Reauthentication for calls of the account page (ConfirmationProvider). */
export function useConfirmation(): Confirmation {
  const confirmation = useContext(ConfirmationContext);
  if (!confirmation) throw new Error("useConfirmation must be used within a ConfirmationProvider");
  return confirmation;
}
