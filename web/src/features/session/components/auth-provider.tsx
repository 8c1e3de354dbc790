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
import { singleToast } from "@/lib/toast";
import type * as SignIn from "@/features/session/sign-in";
import type {
  SessionState,
  SessionObserverProps,
} from "@/features/session/components/session-observer";

/** The session chunk (the observer component and supabase-js). It loads on demand. */
type SessionChunk = { Observer: ComponentType<SessionObserverProps>; client: OwnerBackend };

/** The state if nobody is signed in. */
const signedOutState: SessionState = {
  loading: false,
  session: null,
  user: null,
  role: null,
  pendingFactors: [],
  signOut: async () => undefined,
};
/** The result of a sign-in if the code of the sign-in could not be loaded. */
const chunkFailure = (error: unknown) => ({ error: { code: "", message: messageOf(error) } });
/** The state until the session is known. */
const pendingState: SessionState = { ...signedOutState, loading: true };

type AuthProviderProps = {
  /** The header of all pages. It may call useAuth on every page. */
  header: ReactNode;
  /** The page. It may call useAuth and useOwnerBackend only under /admin. */
  children?: ReactNode;
};

/**
 * Provides the session and role of the signed-in user (useAuth). The session chunk loads only in these cases, so that most visitors
 * do not download it: the browser stores a session, a mailed link was opened, or the page is under /admin.
 */
export function AuthProvider({ header, children }: AuthProviderProps) {
  const boot = useBoot();
  const t = useT();
  const { pathname, hash } = useLocation();
  const underAdmin = pathname === "/admin" || pathname.startsWith("/admin/");

  // The hash of the URL when the page was opened. supabase-js later removes the session of a mailed link from the URL.
  const [initialHash] = useState(hash);
  const [isChunkNeeded, setChunkNeeded] = useState(false);
  // The number of successful sign-ins. Each sign-in loads the session chunk, because an earlier attempt may have failed.
  const [signInCount, setSignInCount] = useState(0);
  const [chunk, setChunk] = useState<SessionChunk | null>(null);
  const [hasChunkFailed, setChunkFailed] = useState(false);
  const [sessionState, setSessionState] = useState<SessionState | null>(null);

  // In an effect, because the server's HTML must not depend on what the browser stores.
  useEffect(() => {
    setChunkNeeded(
      (before) =>
        before ||
        underAdmin ||
        // A mailed link can open any page. Its parameters are in the hash, such as #access_token=...
        initialHash.includes("=") ||
        hasStoredSession(boot),
    );
  }, [boot, underAdmin, initialHash]);

  // A sign-in in another tab causes a storage event here.
  useEffect(() => {
    const onStorage = (event: StorageEvent) => {
      if (event.key === sessionStorageKey(boot) && event.newValue) setChunkNeeded(true);
    };
    window.addEventListener("storage", onStorage);
    return () => window.removeEventListener("storage", onStorage);
  }, [boot]);

  // Loads the session chunk.
  useEffect(() => {
    if (!isChunkNeeded) return;
    let isCancelled = false;
    Promise.all([
      import("@/features/session/components/session-observer"),
      ownerBackend(boot),
    ]).then(
      ([{ SessionObserver }, client]) => {
        if (!isCancelled) setChunk({ Observer: SessionObserver, client });
      },
      (error: unknown) => {
        if (isCancelled) return;
        // The page continues without a session; the next sign-in loads the chunk again.
        setChunkFailed(true);
        singleToast({
          title: t("common.error"),
          description: messageOf(error, t("auth.unexpected")),
          destructive: true,
        });
      },
    );
    return () => {
      isCancelled = true;
    };
    // `t` is left out, because a change of language must not load the chunk again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [boot, isChunkNeeded, signInCount]);

  const actions = useMemo<Pick<Auth, "signIn" | "setUp">>(() => {
    const run = async (act: (signInModule: typeof SignIn) => ReturnType<Auth["signIn"]>) => {
      const result = await import("@/features/session/sign-in").then(act).catch(chunkFailure);
      if (!result.error) setSignInCount((before) => before + 1);
      return result;
    };
    return {
      signIn: (...credentials) =>
        run((signInModule) => signInModule.signIn(boot, t, ...credentials)),
      setUp: (...account) => run((signInModule) => signInModule.setUp(boot, t, ...account)),
    };
  }, [boot, t]);

  // Whether the session is not known yet.
  const isPending = (isChunkNeeded || underAdmin) && !hasChunkFailed;
  const auth = useMemo<Auth>(
    () => ({ ...(sessionState ?? (isPending ? pendingState : signedOutState)), ...actions }),
    [sessionState, isPending, actions],
  );

  // The contexts above a public page never change: otherwise React would replace what is not hydrated yet by its fallback,
  // for example the contact form, in which a visitor may be typing.
  return (
    <>
      <AuthContextProvider value={auth}>{header}</AuthContextProvider>
      <AuthContextProvider value={underAdmin ? auth : null}>
        <OwnerBackendProvider value={(underAdmin && chunk?.client) || null}>
          {children}
        </OwnerBackendProvider>
      </AuthContextProvider>
      {chunk && (
        <chunk.Observer client={chunk.client} hash={initialHash} onChange={setSessionState} />
      )}
    </>
  );
}
