import { startTransition, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Session } from "@supabase/supabase-js";
import { useNavigate } from "react-router";
import type { Auth, SecondFactor } from "@/lib/auth";
import type { OwnerBackend } from "@/lib/backend";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { onRightsDoubted } from "@/lib/rights";
import { helperToast } from "@/lib/toast";
import { factorsOptions } from "@/features/session/api/factors";
import { roleOptions, USER_ROLES } from "@/features/session/api/role";
import { assuranceLevel } from "@/features/session/assurance";
import { isPasswordLink, linkFailure, newPasswordAddress } from "@/features/session/mailed-link";

export type KeptSession = Omit<Auth, "signIn" | "setUp">;
export type SessionKeeperProps = {
  client: OwnerBackend;
  /** The part of the address behind # that the page was opened with. */
  hash: string;
  onChange(kept: KeptSession): void;
};

const noQuery = new URLSearchParams();
const noFactors: SecondFactor[] = [];

/** Draws nothing: follows the client's session, looks up the role and tells both. */
export function SessionKeeper({ client, hash, onChange }: SessionKeeperProps) {
  const t = useT();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  // undefined means "not known yet".
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  const leaving = useRef(false);
  const choosesPassword = useRef(isPasswordLink(hash));

  useEffect(() => {
    const { data } = client.auth.onAuthStateChange((event, next) => {
      // Sign-out applies its own end below, together with the way home.
      if (!(leaving.current && event === "SIGNED_OUT")) setSession(next);
    });
    return () => data.subscription.unsubscribe();
  }, [client]);

  // A refusal by the service may mean that the role is gone; the guard then shows the way out.
  useEffect(
    () => onRightsDoubted(() => void queryClient.invalidateQueries({ queryKey: [USER_ROLES] })),
    [queryClient],
  );

  const user = session?.user ?? null;
  const { data: role } = useQuery(roleOptions(client, user?.id));
  const level = session ? assuranceLevel(session) : "aal1";
  const { data: factors } = useQuery(factorsOptions(client, user?.id, level));
  const awaitedFactors = (level === "aal1" && user && factors) || noFactors;
  const factorsUnknown = level === "aal1" && factors === undefined;
  const loading =
    session === undefined || (user !== null && (role === undefined || factorsUnknown));

  // A mailed link without a page of its own leads to the site's address. What it says is for the sign-in page.
  useLayoutEffect(() => {
    if (window.location.pathname === "/" && linkFailure(hash, noQuery))
      void navigate(`/admin/auth${hash}`, { replace: true });
  }, [hash, navigate]);

  // In the address, so that a reload does not lose the step.
  useLayoutEffect(() => {
    if (!session || !choosesPassword.current) return;
    choosesPassword.current = false;
    void navigate(newPasswordAddress(window.location.search), { replace: true });
  }, [session, navigate]);

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
      role: user && awaitedFactors.length === 0 ? (role ?? null) : null,
      awaitedFactors,
      signOut,
    });
  }, [onChange, loading, session, user, role, awaitedFactors, signOut]);

  return null;
}
