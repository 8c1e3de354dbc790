import { isAuthApiError, type SupabaseClient } from "@supabase/supabase-js";

// The fetch function of ownerBackend (lib/backend.ts). It replaces an old access token by a fresh one.

const listeners = new Set<() => void>();

/** Calls `listener` when a request is rejected even with a fresh token. Returns a function that unsubscribes. */
export function onAccessDenied(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const isRejected = (status: number) => status === 401 || status === 403;

/**
 * Makes a fetch function that refreshes the token by `renew` after status 401 or 403, and then sends the request a second time. If the
 * second request is rejected too, it calls the listeners of onAccessDenied, which fetch the role again. `renew` resolves with null if
 * there is no session.
 */
export function fetchWithTokenRefresh(renew: () => Promise<string | null>): typeof fetch {
  // Requests that are rejected at the same time share one refresh.
  let renewing: Promise<string | null> | null = null;
  return async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
    // The auth service also rejects requests for other reasons than an old token, so a refresh would not help.
    if (!isRejected(response.status) || pathname.startsWith("/auth/v1/")) return response;
    // Without a session the client sends the public key as the token. That token cannot be refreshed.
    const headers = new Headers(init?.headers);
    if (headers.get("Authorization") === `Bearer ${headers.get("apikey")}`) return response;
    renewing ??= renew().finally(() => (renewing = null));
    const token = await renewing;
    if (!token) return response;
    if (input instanceof Request || init?.body instanceof ReadableStream) return response; // such a body cannot be sent a second time
    headers.set("Authorization", `Bearer ${token}`);
    const secondResponse = await fetch(input, { ...init, headers });
    if (isRejected(secondResponse.status)) for (const listener of listeners) listener();
    return secondResponse;
  };
}

/**
 * Makes the fetch function of a supabase-js client. `authOf` returns the client's auth part. It is a function, because the client
 * does not exist yet: it is created with this fetch function.
 */
export function clientFetch(authOf: () => SupabaseClient["auth"]): typeof fetch {
  return fetchWithTokenRefresh(async () => {
    const auth = authOf();
    const { data, error } = await auth.refreshSession();
    // If the session was ended on another device, the client still has a token that has not expired. So it is signed out here.
    if (isAuthApiError(error) && [400, 401, 403].includes(error.status)) {
      await auth.signOut({ scope: "local" });
    }
    return data.session?.access_token ?? null;
  });
}
