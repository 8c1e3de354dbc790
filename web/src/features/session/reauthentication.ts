import { createContext, useContext } from "react";
import type { AuthFailure } from "@/lib/auth";

/** The result of a request to the server; `error` is undefined after success. */
type Result = { error?: AuthFailure };

/** The functions of useReauthentication. */
export type Reauthentication = {
  /**
   * Calls `request`. If the server demands reauthentication (the password again, or a mailed code), opens the dialog for it and then
   * calls `request` again. Resolves with the result of the request, or with null if the user closes the dialog.
   */
  withReauthentication<R extends Result>(request: () => Promise<R>): Promise<R | null>;
  /** Whether the dialog is open. */
  isDialogOpen: boolean;
};

const ReauthenticationContext = createContext<Reauthentication | null>(null);
/** Provides the value of useReauthentication. Only ReauthenticationProvider renders it. */
export const ReauthenticationContextProvider = ReauthenticationContext.Provider;

/** The functions that reauthenticate the user. They need a ReauthenticationProvider around the component. */
export function useReauthentication(): Reauthentication {
  const reauthentication = useContext(ReauthenticationContext);
  if (!reauthentication)
    throw new Error("useReauthentication must be used within a ReauthenticationProvider");
  return reauthentication;
}
