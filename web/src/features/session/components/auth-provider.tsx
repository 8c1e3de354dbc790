import { useEffect, useMemo, useState, type ComponentType, type ReactNode } from "react";
import { useLocation } from "react-router";
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
import type * as Ways from "@/features/session/sign-in";
import type { KeptSession, SessionKeeperProps } from "@/features/session/components/session-keeper";

type Loaded = { Keeper: ComponentType<SessionKeeperProps>; client: OwnerBackend };

const visitor: KeptSession = {
  loading: false,
  session: null,
  user: null,
  role: null,
  awaitedFactors: [],
  signOut: async () => undefined,
};
const refused = (error: unknown) => ({ error: { code: "", message: messageOf(error) } });
const waiting: KeptSession = { ...visitor, loading: true };

/**
 * Session and role for the whole site. Their code is loaded only when a session is stored or somebody is
 * under /admin, and beside the page, which stays as it is; everyone else is a visitor without a byte of it.
 */
export function AuthProvider({ children }: { children: ReactNode }) {
  const boot = useBoot();
  const t = useT();
  const { pathname, hash } = useLocation();
  const underAdmin = pathname === "/admin" || pathname.startsWith("/admin/");

  // As it was before the client takes the session of a mailed link out of it.
  const [arrivedWith] = useState(hash);
  // null means "not known yet".
  const [needed, setNeeded] = useState<boolean | null>(null);
  const [signIns, setSignIns] = useState(0);
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [failed, setFailed] = useState(false);
  const [kept, setKept] = useState<KeptSession | null>(null);

  useEffect(() => {
    setNeeded(
      (before) =>
        before ||
        underAdmin ||
        // A mailed link may lead to any page.
        arrivedWith.includes("=") ||
        hasStoredSession(boot),
    );
  }, [boot, underAdmin, arrivedWith]);

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
    Promise.all([import("@/features/session/components/session-keeper"), ownerBackend(boot)]).then(
      ([{ SessionKeeper }, client]) => {
        if (!over) setLoaded({ Keeper: SessionKeeper, client });
      },
      (error: unknown) => {
        if (over) return;
        // The page stays usable as a visitor's; signing in tries again.
        setFailed(true);
        helperToast({
          title: t("common.error"),
          description: messageOf(error, t("auth.unexpected")),
          destructive: true,
        });
      },
    );
    return () => {
      over = true;
    };
    // The language of that one toast is no reason to load anew.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [boot, needed, signIns]);

  const ways = useMemo<Pick<Auth, "signIn" | "setUp">>(() => {
    const by = async (act: (way: typeof Ways) => ReturnType<Auth["signIn"]>) => {
      const answer = await import("@/features/session/sign-in").then(act).catch(refused);
      if (!answer.error) setSignIns((before) => before + 1);
      return answer;
    };
    return {
      signIn: (...credentials) => by((way) => way.signIn(boot, t, ...credentials)),
      setUp: (...account) => by((way) => way.setUp(boot, t, ...account)),
    };
  }, [boot, t]);

  const unknown = needed === null || ((needed || underAdmin) && !failed);
  const auth = useMemo<Auth>(
    () => ({ ...(kept ?? (unknown ? waiting : visitor)), ...ways }),
    [kept, unknown, ways],
  );

  return (
    <AuthContextProvider value={auth}>
      <OwnerBackendProvider value={loaded?.client ?? null}>{children}</OwnerBackendProvider>
      {loaded && <loaded.Keeper client={loaded.client} hash={arrivedWith} onChange={setKept} />}
    </AuthContextProvider>
  );
}
