import { createContext, useContext } from "react";
import type { Session, User } from "@supabase/supabase-js";

// The context through which components know who is signed in, and sign in or out (useAuth).

/** The role of the signed-in account: "admin" for an owner of the site; null if the account has no role or nobody is signed in. */
export type Role = "admin" | null;

/** Who uses the page, and the functions that sign in and out. AuthProvider provides it. */
export type Auth = {
  /** True until the session and the role are known. */
  loading: boolean;
  session: Session | null;
  user: User | null;
  /** Also null until a required second factor is verified, because the session has no rights before that. */
  role: Role;
  /** The account's second factors while one of them must still be verified (docs/product.md, rule 5). Empty if none is needed. */
  pendingFactors: SecondFactor[];
  /**
   * True if the site requires a second factor and the account has none. The session has no rights until the account has one.
   */
  mustEnrol?: boolean;
  /** Signs in. `error` is undefined after success. */
  signIn(email: string, password: string): Promise<{ error?: AuthFailure }>;
  /** Creates the owner's account with the token of a set-up link (it works once), and signs in. */
  setUp(token: string, email: string, password: string): Promise<{ error?: AuthFailure }>;
  /** Ends the session of this browser and shows a toast with the result. */
  signOut(): Promise<void>;
};

/** An authenticator app (totp) or a phone. `name` is empty if the owner gave none; `phone` is empty for an app. */
export type SecondFactor = { id: string; type: "totp" | "phone"; name: string; phone: string };

/** An error of the auth service: the code, the message, and in `reasons` why a password is weak. */
export type AuthFailure = { code: string; message: string; reasons?: string[] };

const AuthContext = createContext<Auth | null>(null);
/** Provides the value of useAuth. */
export const AuthContextProvider = AuthContext.Provider;

/** The session, role and sign-in functions of the page. */
export function useAuth(): Auth {
  const auth = useContext(AuthContext);
  if (!auth) throw new Error("useAuth must be used within an AuthProvider");
  return auth;
}
