import { createClient, type Session } from "@supabase/supabase-js";
import type { Auth } from "@/lib/auth";
import type { OwnerBackend } from "@/lib/backend";
import type { Database } from "@/lib/types";
import { testBoot } from "@/test/render";

/** Encodes a part of a token: JSON in base64 without padding. */
const encode = (value: object) => btoa(JSON.stringify(value)).replaceAll("=", "");

/** An access token of the owner that does not expire during tests. */
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

/** The auth context of the signed-in owner. */
export const ownerAuth: Partial<Auth> = { session, user: session.user, role: "admin" };

let clients = 0;

/** supabase-js with a session; the test's request handlers respond to its requests. */
export function testOwner(apiUrl = testBoot.apiUrl): OwnerBackend {
  const stored = JSON.stringify(session);
  return createClient<Database>(apiUrl, testBoot.anonKey, {
    db: { retry: false },
    auth: {
      // Each client has its own storage key, because two clients with one key log a warning.
      storageKey: `test-${clients++}`,
      autoRefreshToken: false,
      storage: { getItem: () => stored, setItem: () => undefined, removeItem: () => undefined },
    },
  });
}
