import { createContext, useContext } from "react";
import type { Session, User } from "@supabase/supabase-js";

export type Role = "admin" | null;

export type Auth = {
  /** True until both the session and the role are known. */
  loading: boolean;
  session: Session | null;
  user: User | null;
  role: Role;
  signIn(email: string, password: string): Promise<{ error?: string }>;
  /** Turns a one-time set-up token into an account and signs it in. */
  setUp(token: string, email: string, password: string): Promise<{ error?: SetUpError }>;
  signOut(): Promise<void>;
};

export type SetUpError = { code: string; message: string };

const AuthContext = createContext<Auth | null>(null);
export const AuthContextProvider = AuthContext.Provider;

export function useAuth(): Auth {
  const auth = useContext(AuthContext);
  if (!auth) throw new Error("useAuth must be used within an AuthProvider");
  return auth;
}
