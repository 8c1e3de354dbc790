import { startTransition, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Session } from "@supabase/supabase-js";
import { useNavigate } from "react-router";
import type { Auth } from "@/lib/auth";
import type { OwnerBackend } from "@/lib/backend";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { helperToast } from "@/lib/toast";
import { roleOptions } from "@/features/session/api/role";

export type KeptSession = Omit<Auth, "signIn" | "setUp">;
export type SessionKeeperProps = { client: OwnerBackend; onChange(kept: KeptSession): void };

/** Draws nothing: follows the client's session, looks up the role and tells both. */
export function SessionKeeper({ client, onChange }: SessionKeeperProps) {
  const t = useT();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  // undefined means "not known yet".
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  const leaving = useRef(false);

  useEffect(() => {
    const { data } = client.auth.onAuthStateChange((event, next) => {
      // Sign-out applies its own end below, together with the way home.
      if (!(leaving.current && event === "SIGNED_OUT")) setSession(next);
    });
    return () => data.subscription.unsubscribe();
  }, [client]);

  const user = session?.user ?? null;
  const { data: role } = useQuery(roleOptions(client, user?.id));
  const loading = session === undefined || (user !== null && role === undefined);

  const signOut = useCallback<Auth["signOut"]>(async () => {
    leaving.current = true;
    try {
      const { error } = await client.auth.signOut({ scope: "local" });
      if (error) {
        helperToast({
          title: t("auth.signOutError"),
          description: messageOf(error, t("auth.unexpected")),
          destructive: true,
        });
        return;
      }
      helperToast({ title: t("auth.signedOut") });
      void navigate("/");
      // In one transition with the navigation: otherwise the admin guard would see the missing session
      // first and lead to the sign-in page.
      startTransition(() => setSession(null));
      queryClient.removeQueries({
        predicate: ({ queryKey }) => queryKey[1] === "admin" || queryKey[1] === "count",
      });
    } catch {
      helperToast({
        title: t("auth.signOutError"),
        description: t("auth.unexpected"),
        destructive: true,
      });
    } finally {
      leaving.current = false;
    }
  }, [client, navigate, queryClient, t]);

  // Before the browser paints: the page never shows a state that is already over.
  useLayoutEffect(() => {
    onChange({
      loading,
      session: session ?? null,
      user,
      role: user ? (role ?? null) : null,
      signOut,
    });
  }, [onChange, loading, session, user, role, signOut]);

  return null;
}
