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
import type * as SignIn from "@/features/session/sign-in";
import type {
  SessionState,
  SessionObserverProps,
} from "@/features/session/components/session-observer";

/** The code for sessions: the observer component and the official client. */
type Loaded = { Observer: ComponentType<SessionObserverProps>; client: OwnerBackend };

/** The state without a session. */
const visitor: SessionState = {
  loading: false,
  session: null,
  user: null,
  role: null,
  awaitedFactors: [],
  signOut: async () => undefined,
};
/** The failure of a sign-in when the code for sessions cannot be loaded. */
const loadFailure = (error: unknown) => ({ error: { code: "", message: messageOf(error) } });
/** The state until the session is known. */
const pending: SessionState = { ...visitor, loading: true };

/**
 * Provides the session and role of the visitor (useAuth). The code for sessions loads only if the browser stores a session,
 * if a mailed link was opened, or under /admin, so that most visitors do not download it.
 */
export function AuthProvider({ children }: { children: ReactNode }) {
  const boot = useBoot();
  const t = useT();
  const { pathname, hash } = useLocation();
  const underAdmin = pathname === "/admin" || pathname.startsWith("/admin/");

  // The first hash of the page. The official client later removes the session of a mailed link from the URL.
  const [initialHash] = useState(hash);
  // Whether the code for sessions is needed.
  const [needed, setNeeded] = useState(false);
  const [signIns, setSignIns] = useState(0);
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [failed, setFailed] = useState(false);
  const [state, setState] = useState<SessionState | null>(null);

  useEffect(() => {
    setNeeded(
      (before) =>
        before ||
        underAdmin ||
        // A mailed link can open any page; its parameters are in the hash.
        initialHash.includes("=") ||
        hasStoredSession(boot),
    );
  }, [boot, underAdmin, initialHash]);

  // A sign-in in another tab causes a storage event here.
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
    Promise.all([
      import("@/features/session/components/session-observer"),
      ownerBackend(boot),
    ]).then(
      ([{ SessionObserver }, client]) => {
        if (!over) setLoaded({ Observer: SessionObserver, client });
      },
      (error: unknown) => {
        if (over) return;
        // The page continues without a session; the next sign-in loads the code again.
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
    // `t` is left out, because a change of language must not load the code again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [boot, needed, signIns]);

  const actions = useMemo<Pick<Auth, "signIn" | "setUp">>(() => {
    const run = async (act: (way: typeof SignIn) => ReturnType<Auth["signIn"]>) => {
      const answer = await import("@/features/session/sign-in").then(act).catch(loadFailure);
      if (!answer.error) setSignIns((before) => before + 1);
      return answer;
    };
    return {
      signIn: (...credentials) => run((way) => way.signIn(boot, t, ...credentials)),
      setUp: (...account) => run((way) => way.setUp(boot, t, ...account)),
    };
  }, [boot, t]);

  // On public pages false until a session is looked for: a context that changed after the first render would make React
  // replace what is not hydrated yet, such as the contact form that a visitor is typing into.
  const unknown = (needed || underAdmin) && !failed;
  const auth = useMemo<Auth>(
    () => ({ ...(state ?? (unknown ? pending : visitor)), ...actions }),
    [state, unknown, actions],
  );

  return (
    <AuthContextProvider value={auth}>
      <OwnerBackendProvider value={loaded?.client ?? null}>{children}</OwnerBackendProvider>
      {loaded && <loaded.Observer client={loaded.client} hash={initialHash} onChange={setState} />}
    </AuthContextProvider>
  );
}
