import { createContext, useContext } from "react";
import { FunctionsClient } from "@supabase/functions-js";
import { PostgrestClient } from "@supabase/postgrest-js";
import type { SupabaseClient } from "@supabase/supabase-js";
import { useBoot, type Boot } from "@/lib/boot";
import type { Database } from "@/lib/types";

export type PublicBackend = {
  from: PostgrestClient<Database>["from"];
  functions: FunctionsClient;
};
export type OwnerBackend = SupabaseClient<Database>;

// Keyed by the boot object, of which a page has exactly one, so each client exists once per page.
const publicBackends = new WeakMap<Boot, PublicBackend>();
const ownerBackends = new WeakMap<Boot, Promise<OwnerBackend>>();

/** Reads and the contact form, always with the public key: visitors load nothing of the session code. */
export function publicBackend(boot: Boot): PublicBackend {
  let backend = publicBackends.get(boot);
  if (!backend) {
    const headers = { apikey: boot.anonKey, Authorization: `Bearer ${boot.anonKey}` };
    // The query cache retries; two layers of it would multiply.
    const tables = new PostgrestClient<Database>(`${boot.apiUrl}/rest/v1`, {
      headers,
      retry: false,
    });
    backend = {
      from: tables.from.bind(tables),
      functions: new FunctionsClient(`${boot.apiUrl}/functions/v1`, { headers }),
    };
    publicBackends.set(boot, backend);
  }
  return backend;
}

/** The whole client with session handling, fetched only when somebody may be signed in. */
export function ownerBackend(boot: Boot): Promise<OwnerBackend> {
  let backend = ownerBackends.get(boot);
  if (!backend) {
    backend = import("@supabase/supabase-js").then(({ createClient }) =>
      // As above: the query cache retries.
      createClient<Database>(boot.apiUrl, boot.anonKey, { db: { retry: false } }),
    );
    // A chunk that failed to load may load later: do not keep the failure.
    backend.catch(() => ownerBackends.delete(boot));
    ownerBackends.set(boot, backend);
  }
  return backend;
}

/** The client's own default key; spelled out here so that it can be looked up without loading the client. */
export function sessionStorageKey(boot: Boot): string {
  return `sb-${new URL(boot.apiUrl).hostname.split(".")[0]}-auth-token`;
}

/** Touches localStorage: effects and handlers only. */
export function hasStoredSession(boot: Boot): boolean {
  try {
    return localStorage.getItem(sessionStorageKey(boot)) !== null;
  } catch {
    return false; // storage is blocked, so nothing can be stored
  }
}

export function usePublicBackend(): PublicBackend {
  return publicBackend(useBoot());
}

const OwnerBackendContext = createContext<OwnerBackend | null>(null);
export const OwnerBackendProvider = OwnerBackendContext.Provider;

export function useOwnerBackend(): OwnerBackend {
  const backend = useContext(OwnerBackendContext);
  if (!backend) throw new Error("useOwnerBackend must be used under the admin guard");
  return backend;
}
