import { createContext, useContext } from "react";
import type { SupabaseClient } from "@supabase/supabase-js";
import { useBoot, type Boot } from "@/lib/boot";
import { LIVE_HEARTBEAT_MS, LIVE_TIMEOUT_MS } from "@/lib/constants";
import { messageOf } from "@/lib/errors";
import type { Database, Tables } from "@/lib/types";

type Query = Record<string, string> | [name: string, value: string][];

export type PublicBackend = {
  /** The rows that a query such as `{ select: "*", is_active: "eq.true" }` asks for, as the official client writes it. */
  read<Table extends keyof Tables>(
    table: Table,
    query: Query,
    signal?: AbortSignal,
  ): Promise<Tables[Table]["Row"][]>;
  /** `count` rows from the row `from` on, and how many rows there are in all. */
  readPart<Table extends keyof Tables>(
    table: Table,
    query: Query,
    part: { from: number; count: number },
    signal?: AbortSignal,
  ): Promise<{ rows: Tables[Table]["Row"][]; total: number }>;
  /** Calls a function by POST; a status other than 2xx is an error. */
  invoke(name: string, body: object): Promise<unknown>;
};
export type OwnerBackend = SupabaseClient<Database>;

// Keyed by the boot object, of which a page has exactly one, so each client exists once per page.
const publicBackends = new WeakMap<Boot, PublicBackend>();
const ownerBackends = new WeakMap<Boot, Promise<OwnerBackend>>();

/**
 * Reads and the contact form, always with the public key. Six requests do not need the client's 7 kB, and
 * visitors load nothing of the session code.
 */
export function publicBackend(boot: Boot): PublicBackend {
  let backend = publicBackends.get(boot);
  if (!backend) {
    const headers = { apikey: boot.anonKey, Authorization: `Bearer ${boot.anonKey}` };
    backend = {
      async read<Table extends keyof Tables>(table: Table, query: Query, signal?: AbortSignal) {
        const url = `${boot.apiUrl}/rest/v1/${table}?${new URLSearchParams(query).toString()}`;
        const response = await fetch(url, { headers, signal });
        if (!response.ok) throw await refusal(response);
        return (await response.json()) as Tables[Table]["Row"][];
      },
      async readPart<Table extends keyof Tables>(
        table: Table,
        query: Query,
        { from, count }: { from: number; count: number },
        signal?: AbortSignal,
      ) {
        const url = `${boot.apiUrl}/rest/v1/${table}?${new URLSearchParams(query).toString()}`;
        const part = {
          "Range-Unit": "items",
          Range: `${from}-${from + count - 1}`,
          Prefer: "count=exact",
        };
        const response = await fetch(url, { headers: { ...headers, ...part }, signal });
        const counted = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
        // The list has become shorter than where the part begins.
        if (response.status === 416 && counted) return { rows: [], total: Number(counted) };
        if (!response.ok) throw await refusal(response);
        const rows = (await response.json()) as Tables[Table]["Row"][];
        return { rows, total: counted ? Number(counted) : from + rows.length };
      },
      async invoke(name, body) {
        const response = await fetch(`${boot.apiUrl}/functions/v1/${name}`, {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        if (!response.ok) throw await refusal(response);
        return response.json();
      },
    };
    publicBackends.set(boot, backend);
  }
  return backend;
}

/** An error with the service's own words. A proxy in between may have answered something else than JSON. */
async function refusal(response: Response): Promise<Error> {
  const answer: unknown = await response.json().catch(() => null);
  return new Error(messageOf(answer, `The service answered ${response.status}`), { cause: answer });
}

/** The whole client with session handling, fetched only when somebody may be signed in. */
export function ownerBackend(boot: Boot): Promise<OwnerBackend> {
  let backend = ownerBackends.get(boot);
  if (!backend) {
    backend = Promise.all([import("@supabase/supabase-js"), import("@/lib/rights")]).then(
      ([{ createClient }, { renewingFetch }]) => {
        const client: OwnerBackend = createClient<Database>(boot.apiUrl, boot.anonKey, {
          // The query cache retries; two layers of it would multiply.
          db: { retry: false },
          global: { fetch: renewingFetch(() => client) },
          realtime: { heartbeatIntervalMs: LIVE_HEARTBEAT_MS, timeout: LIVE_TIMEOUT_MS },
        });
        return client;
      },
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
