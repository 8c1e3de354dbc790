import { isAuthApiError } from "@supabase/supabase-js";
import type { OwnerBackend } from "@/lib/backend";

const listeners = new Set<() => void>();

/** Calls back when the service has refused somebody who was let in; returns the unsubscriber. */
export function onRightsDoubted(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const refused = (status: number) => status === 401 || status === 403;

/**
 * A fetch that does not take a refusal for granted: the token may be too old, or the session ended from another
 * device. It renews the token once and asks again; a session that cannot be renewed is over. What is refused even then makes everybody look up the role anew.
 */
export function fetchWithRights(renew: () => Promise<string | null>): typeof fetch {
  // Ten requests that are refused at once renew one token.
  let renewing: Promise<string | null> | null = null;
  return async (input, init) => {
    const answer = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
    // The service of the tokens itself refuses for reasons of its own.
    if (!refused(answer.status) || pathname.startsWith("/auth/v1/")) return answer;
    // The public key, too, is sent as a bearer token: without a session there is nothing to renew.
    const headers = new Headers(init?.headers);
    if (headers.get("Authorization") === `Bearer ${headers.get("apikey")}`) return answer;
    renewing ??= renew().finally(() => (renewing = null));
    const token = await renewing;
    if (!token) return answer;
    if (input instanceof Request || init?.body instanceof ReadableStream) return answer; // read once only
    headers.set("Authorization", `Bearer ${token}`);
    const again = await fetch(input, { ...init, headers });
    if (refused(again.status)) for (const listener of listeners) listener();
    return again;
  };
}

/** The fetch of the signed-in client, which exists only after it was given one. */
export function renewingFetch(client: () => OwnerBackend): typeof fetch {
  return fetchWithRights(async () => {
    const { auth } = client();
    const { data, error } = await auth.refreshSession();
    // The client keeps a token that has not run out yet, although its session has been ended elsewhere.
    if (isAuthApiError(error) && [400, 401, 403].includes(error.status)) {
      await auth.signOut({ scope: "local" });
    }
    return data.session?.access_token ?? null;
  });
}
