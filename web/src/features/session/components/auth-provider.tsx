import {
  startTransition,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from "react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Session } from "@supabase/supabase-js";
import { useLocation, useNavigate } from "react-router";
import { AuthContextProvider, type Auth } from "@/lib/auth";
import {
  hasStoredSession,
  ownerBackend,
  OwnerBackendProvider,
  sessionStorageKey,
  type OwnerBackend,
} from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { helperToast } from "@/lib/toast";
import { roleOptions } from "@/features/session/api/role";
import { setUpAccount } from "@/features/session/api/set-up";

/**
 * Session and role for the whole site. The client is loaded only when a session is stored or somebody
 * is under /admin; everyone else is a visitor without a byte of session code.
 */
export function AuthProvider({ children }: { children: ReactNode }) {
  const boot = useBoot();
  const t = useT();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { pathname } = useLocation();
  const underAdmin = pathname === "/admin" || pathname.startsWith("/admin/");

  // null and undefined mean "not known yet".
  const [needed, setNeeded] = useState<boolean | null>(null);
  const [client, setClient] = useState<OwnerBackend | null>(null);
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  const leaving = useRef(false);

  useEffect(() => {
    setNeeded((before) => before || underAdmin || hasStoredSession(boot));
  }, [boot, underAdmin]);

  // Signing in on another tab reaches this one through the storage.
  useEffect(() => {
    const onStorage = (event: StorageEvent) => {
      if (event.key === sessionStorageKey(boot) && event.newValue) setNeeded(true);
    };
    window.addEventListener("storage", onStorage);
    return () => window.removeEventListener("storage", onStorage);
  }, [boot]);

  useEffect(() => {
    if (!needed) return;
    let over = false;
    let unsubscribe: (() => void) | undefined;
    ownerBackend(boot)
      .then((loaded) => {
        if (over) return;
        setClient(loaded);
        const { data } = loaded.auth.onAuthStateChange((event, next) => {
          // Sign-out applies its own end below, together with the way home.
          if (!(leaving.current && event === "SIGNED_OUT")) setSession(next);
        });
        unsubscribe = () => data.subscription.unsubscribe();
      })
      .catch((error: unknown) => {
        if (over) return;
        // The page stays usable as a visitor's; signing in tries again.
        setSession(null);
        helperToast({
          title: t("common.error"),
          description: messageOf(error, t("auth.unexpected")),
          destructive: true,
        });
      });
    return () => {
      over = true;
      unsubscribe?.();
    };
    // The language of that one toast is no reason to subscribe anew.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [boot, needed]);

  const user = session?.user ?? null;
  const { data: role } = useQuery(roleOptions(client, user?.id));

  const loading =
    needed === null ||
    ((needed || underAdmin) && (session === undefined || (user !== null && role === undefined)));

  const signIn = useCallback<Auth["signIn"]>(
    async (email, password) => {
      try {
        const loaded = await ownerBackend(boot);
        const { error } = await loaded.auth.signInWithPassword({ email, password });
        if (error) return { error: messageOf(error, t("auth.unexpected")) };
        setNeeded(true);
        helperToast({ title: t("auth.welcomeTitle"), description: t("auth.welcomeBody") });
        return {};
      } catch (error) {
        return { error: messageOf(error, t("auth.unexpected")) };
      }
    },
    [boot, t],
  );

  const setUp = useCallback<Auth["setUp"]>(
    async (token, email, password) => {
      try {
        const answer = await setUpAccount(boot, { token, email, password });
        if (answer.error) return { error: answer.error };
        const loaded = await ownerBackend(boot);
        const { error } = await loaded.auth.setSession(answer.tokens);
        // The account exists by now and the link is spent: signing in is what remains.
        if (error) return { error: { code: "sign_in_needed", message: error.message } };
        setNeeded(true);
        helperToast({ title: t("auth.welcomeTitle"), description: t("auth.welcomeBody") });
        return {};
      } catch (error) {
        return { error: { code: "unexpected", message: messageOf(error) } };
      }
    },
    [boot, t],
  );

  const signOut = useCallback<Auth["signOut"]>(async () => {
    leaving.current = true;
    try {
      const loaded = await ownerBackend(boot);
      const { error } = await loaded.auth.signOut({ scope: "local" });
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
  }, [boot, navigate, queryClient, t]);

  const auth = useMemo<Auth>(
    () => ({
      loading,
      session: session ?? null,
      user,
      role: user ? (role ?? null) : null,
      signIn,
      setUp,
      signOut,
    }),
    [loading, session, user, role, signIn, setUp, signOut],
  );

  return (
    <AuthContextProvider value={auth}>
      <OwnerBackendProvider value={client}>{children}</OwnerBackendProvider>
    </AuthContextProvider>
  );
}
