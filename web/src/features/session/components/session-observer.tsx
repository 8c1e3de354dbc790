import "@/features/session/session-texts";
import { startTransition, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import type { Session } from "@supabase/supabase-js";
import { useNavigate } from "react-router";
import type { Auth, SecondFactor } from "@/lib/auth";
import type { OwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { deletePictureDrafts } from "@/lib/drafts";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { onAccessDenied } from "@/lib/token-refresh";
import { singleToast } from "@/lib/toast";
import { factorsOptions } from "@/features/session/api/factors";
import { roleOptions, ROLE_KEY } from "@/features/session/api/role";
import { assuranceLevel } from "@/features/session/assurance";
import { isPasswordLink, linkFailure, newPasswordUrl } from "@/features/session/mailed-link";

/** What the observer reports: the value of useAuth without the functions that sign in. */
export type SessionState = Omit<Auth, "signIn" | "setUp">;
/** The props of SessionObserver. */
export type SessionObserverProps = {
  client: OwnerBackend;
  /** The hash of the URL when the page was opened. It may contain the session or error of a mailed link. */
  hash: string;
  onChange(state: SessionState): void;
};

const noQuery = new URLSearchParams();
const noFactors: SecondFactor[] = [];

/**
 * Observes the session that supabase-js holds, fetches the role and the second factors of the session's account, and reports all of
 * this by `onChange`. Renders nothing.
 */
export function SessionObserver({ client, hash, onChange }: SessionObserverProps) {
  const t = useT();
  const boot = useBoot();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  // Null without a session; undefined until the client has reported the session for the first time.
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  const isSigningOut = useRef(false);
  // Whether a mailed link for choosing a password has opened the page. False again once the URL selects the step "new password".
  const choosesPassword = useRef(isPasswordLink(hash));

  useEffect(() => {
    const { data } = client.auth.onAuthStateChange((event, next) => {
      // While signOut below runs, the client's event is ignored: signOut sets the session together with the navigation.
      if (isSigningOut.current && event === "SIGNED_OUT") return;
      setSession(next);
      if (event !== "SIGNED_OUT") return;
      // With the token of an ended session the server returns the rows that a visitor may read. The next session fetches the rows again.
      removeAdminQueries(queryClient);
      void queryClient.invalidateQueries({ refetchType: "none" });
    });
    return () => data.subscription.unsubscribe();
  }, [client, queryClient]);

  // A rejected request may mean that the role was removed, so the role is fetched again. Without a role AdminGuard redirects.
  useEffect(
    () => onAccessDenied(() => void queryClient.invalidateQueries({ queryKey: [ROLE_KEY] })),
    [queryClient],
  );

  const user = session?.user ?? null;
  const { data: role } = useQuery(roleOptions(client, user?.id));
  // The level is aal1 until a second factor is verified, and then aal2.
  const level = session ? assuranceLevel(session) : "aal1";
  const { data: factors } = useQuery(factorsOptions(client, user?.id, level));
  const pendingFactors = (level === "aal1" && user && factors) || noFactors;
  const mustEnrol = boot.secondFactorRequired === true && level === "aal1" && factors?.length === 0;
  const factorsUnknown = level === "aal1" && factors === undefined;
  const loading =
    session === undefined || (user !== null && (role === undefined || factorsUnknown));

  // Mailed links without a target page lead to the home page. Their errors are shown on the sign-in page.
  useLayoutEffect(() => {
    if (window.location.pathname === "/" && linkFailure(hash, noQuery))
      void navigate(`/admin/auth${hash}`, { replace: true });
  }, [hash, navigate]);

  // Puts the step "new password" into the URL, so that a reload does not lose the step.
  useLayoutEffect(() => {
    if (!session || !choosesPassword.current) return;
    choosesPassword.current = false;
    void navigate(newPasswordUrl(window.location.search), { replace: true });
  }, [session, navigate]);

  const signOut = useCallback<Auth["signOut"]>(async () => {
    isSigningOut.current = true;
    try {
      const { error } = await client.auth.signOut({ scope: "local" });
      if (error) {
        singleToast({
          title: t("auth.signOutError"),
          description: messageOf(error, t("auth.unexpected")),
          destructive: true,
        });
        return;
      }
      if (user) deletePictureDrafts(user.id);
      singleToast({ title: t("auth.signedOut") });
      void navigate("/");
      // In one transition with the navigation, because otherwise the admin guard would first redirect to the sign-in
      // page.
      startTransition(() => setSession(null));
      removeAdminQueries(queryClient);
    } catch {
      singleToast({
        title: t("auth.signOutError"),
        description: t("auth.unexpected"),
        destructive: true,
      });
    } finally {
      isSigningOut.current = false;
    }
  }, [client, user, navigate, queryClient, t]);

  // A layout effect, so that the browser never paints an outdated state.
  useLayoutEffect(() => {
    onChange({
      loading,
      session: session ?? null,
      user,
      role: user && pendingFactors.length === 0 ? (role ?? null) : null,
      pendingFactors,
      mustEnrol,
      signOut,
    });
  }, [onChange, loading, session, user, role, pendingFactors, mustEnrol, signOut]);

  return null;
}

/** Removes the lists and counts of the admin pages from the cache. */
function removeAdminQueries(queryClient: QueryClient) {
  queryClient.removeQueries({
    predicate: ({ queryKey }) => queryKey[1] === "admin" || queryKey[1] === "count",
  });
}
