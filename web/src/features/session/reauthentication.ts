import { createContext, useContext } from "react";
import type { AuthFailure } from "@/lib/auth";

/** The result of a call; `error` is undefined after success. */
type Result = { error?: AuthFailure };

/** The functions of useReauthentication. */
export type Reauthentication = {
  /**
   * Makes a call. If the server demands reauthentication for it, opens the dialog and afterwards retries the call. Resolves
   * with the result of the call, or null if the owner closes the dialog.
   */
  withReauthentication<R extends Result>(call: () => Promise<R>): Promise<R | null>;
  /** Whether the dialog is open. */
  isDialogOpen: boolean;
};

const ReauthenticationContext = createContext<Reauthentication | null>(null);
/** Provides the value of useReauthentication. */
export const ReauthenticationContextProvider = ReauthenticationContext.Provider;

/** The reauthentication of the account page; ReauthenticationProvider provides it. */
export function useReauthentication(): Reauthentication {
  const reauthentication = useContext(ReauthenticationContext);
  if (!reauthentication)
    throw new Error("useReauthentication must be used within a ReauthenticationProvider");
  return reauthentication;
}
