import { createContext, useContext } from "react";
import type { Session, User } from "@supabase/supabase-js";

export type Role = "admin" | null;

export type Auth = {
  /** True until both the session and the role are known. */
  loading: boolean;
  session: Session | null;
  user: User | null;
  /** Null also as long as a second factor is awaited: the server gives no rights before. */
  role: Role;
  /** The account's factors of which one must be shown before the session counts (READING §3.17); usually none. */
  awaitedFactors: SecondFactor[];
  signIn(email: string, password: string): Promise<{ error?: AuthFailure }>;
  /** Turns a one-time set-up token into an account and signs it in. */
  setUp(token: string, email: string, password: string): Promise<{ error?: AuthFailure }>;
  signOut(): Promise<void>;
};

export type SecondFactor = { id: string; type: "totp" | "phone"; name: string; phone: string };

/** A refusal of the service: its code, its own words, and why a password is weak. */
export type AuthFailure = { code: string; message: string; reasons?: string[] };

const AuthContext = createContext<Auth | null>(null);
export const AuthContextProvider = AuthContext.Provider;

export function useAuth(): Auth {
  const auth = useContext(AuthContext);
  if (!auth) throw new Error("useAuth must be used within an AuthProvider");
  return auth;
}
