import { createClient, type Session } from "@supabase/supabase-js";
import type { Auth } from "@/lib/auth";
import type { OwnerBackend } from "@/lib/backend";
import type { Database } from "@/lib/types";
import { testBoot } from "@/test/render";

const encode = (value: object) => btoa(JSON.stringify(value)).replaceAll("=", "");

export const ownerToken = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ sub: "owner", exp: 4_000_000_000 })}.signature`;

const session: Session = {
  access_token: ownerToken,
  refresh_token: "refresh",
  token_type: "bearer",
  expires_in: 3600,
  expires_at: 4_000_000_000,
  user: {
    id: "owner",
    app_metadata: {},
    user_metadata: {},
    aud: "authenticated",
    created_at: "2026-01-01T00:00:00Z",
  },
};

export const ownerAuth: Partial<Auth> = { session, user: session.user, role: "admin" };

let clients = 0;

/** The real client, signed in, speaking to whatever the test's request handlers answer. */
export function testOwner(apiUrl = testBoot.apiUrl): OwnerBackend {
  const stored = JSON.stringify(session);
  return createClient<Database>(apiUrl, testBoot.anonKey, {
    db: { retry: false },
    auth: {
      // A key of its own: the client warns about two that share one.
      storageKey: `test-${clients++}`,
      autoRefreshToken: false,
      storage: { getItem: () => stored, setItem: () => undefined, removeItem: () => undefined },
    },
  });
}
