import { createContext, useContext } from "react";
import type { SupabaseClient } from "@supabase/supabase-js";
import { useBoot, type Boot } from "@/lib/boot";
import { LIVE_HEARTBEAT_MS, LIVE_TIMEOUT_MS } from "@/lib/constants";
import { messageOf } from "@/lib/errors";
import type { Database, Tables } from "@/lib/types";

// The two clients of the backend: publicBackend for visitors, which uses fetch, and ownerBackend for signed-in owners, which
// is supabase-js.

/** The parameters of a REST request in the syntax of PostgREST, such as `{ select: "*", is_active: "eq.true" }`. */
type Query = Record<string, string> | [name: string, value: string][];

/** A page of the rows that match a query, and the number of all matching rows. */
export type RowsPage<Row> = { rows: Row[]; total: number };

/** The requests that visitors make. A failed request rejects with an Error that has the server's message. */
export type PublicBackend = {
  /** The data that the server wrote into the page. It has the site's settings, on which queries of works depend. */
  boot: Boot;
  /** Reads the rows of a table. */
  read<Table extends keyof Tables>(
    table: Table,
    query: Query,
    signal?: AbortSignal,
  ): Promise<Tables[Table]["Row"][]>;
  /** Reads up to `count` rows from index `from` on, and the number of all rows that match. */
  readRange<Table extends keyof Tables>(
    table: Table,
    query: Query,
    range: { from: number; count: number },
    signal?: AbortSignal,
  ): Promise<RowsPage<Tables[Table]["Row"]>>;
  /** Calls a server function by POST and returns the JSON of its response. */
  invoke(name: string, body: object): Promise<unknown>;
};

/** The official Supabase client, for everything that needs a session. */
export type OwnerBackend = SupabaseClient<Database>;

// The clients, by the boot data that they use. A page has one object of boot data, so it has one client of each kind. Tests have
// several objects.
const publicBackends = new WeakMap<Boot, PublicBackend>();
const ownerBackends = new WeakMap<Boot, Promise<OwnerBackend>>();

/** Returns the client for visitors. It sends the public key (`anonKey`) and no session, and needs no supabase-js. */
export function publicBackend(boot: Boot): PublicBackend {
  let backend = publicBackends.get(boot);
  if (!backend) {
    const headers = { apikey: boot.anonKey, Authorization: `Bearer ${boot.anonKey}` };
    backend = {
      boot,
      async read<Table extends keyof Tables>(table: Table, query: Query, signal?: AbortSignal) {
        const url = `${boot.apiUrl}/rest/v1/${table}?${new URLSearchParams(query).toString()}`;
        const response = await fetch(url, { headers, signal });
        if (!response.ok) throw await errorFrom(response);
        return (await response.json()) as Tables[Table]["Row"][];
      },
      async readRange<Table extends keyof Tables>(
        table: Table,
        query: Query,
        { from, count }: { from: number; count: number },
        signal?: AbortSignal,
      ) {
        const url = `${boot.apiUrl}/rest/v1/${table}?${new URLSearchParams(query).toString()}`;
        const rangeHeaders = {
          "Range-Unit": "items",
          Range: `${from}-${from + count - 1}`,
          Prefer: "count=exact",
        };
        const response = await fetch(url, { headers: { ...headers, ...rangeHeaders }, signal });
        // The Content-Range header ends with the total, as in 0-11/57.
        const total = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
        // 416: the range begins after the last row, because rows were deleted.
        if (response.status === 416 && total) return { rows: [], total: Number(total) };
        if (!response.ok) throw await errorFrom(response);
        const rows = (await response.json()) as Tables[Table]["Row"][];
        return { rows, total: total ? Number(total) : from + rows.length };
      },
      async invoke(name, body) {
        const response = await fetch(`${boot.apiUrl}/functions/v1/${name}`, {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        if (!response.ok) throw await errorFrom(response);
        return response.json();
      },
    };
    publicBackends.set(boot, backend);
  }
  return backend;
}

/** An error with the service's message, or with the status if the response is not JSON, for example that of a proxy. */
async function errorFrom(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => null);
  return new Error(messageOf(body, `The service answered ${response.status}`), { cause: body });
}

/**
 * Loads supabase-js, which handles sessions. Only called if somebody may be signed in; rejects if it cannot
 * load.
 */
export function ownerBackend(boot: Boot): Promise<OwnerBackend> {
  let backend = ownerBackends.get(boot);
  if (!backend) {
    backend = Promise.all([import("@supabase/supabase-js"), import("@/lib/token-refresh")]).then(
      ([{ createClient }, { clientFetch }]) => {
        const client: OwnerBackend = createClient<Database>(boot.apiUrl, boot.anonKey, {
          // The query cache retries failed requests itself.
          db: { retry: false },
          global: { fetch: clientFetch(() => client.auth) },
          realtime: { heartbeatIntervalMs: LIVE_HEARTBEAT_MS, timeout: LIVE_TIMEOUT_MS },
        });
        return client;
      },
    );
    // A failure is not cached, because the chunk may load later.
    backend.catch(() => ownerBackends.delete(boot));
    ownerBackends.set(boot, backend);
  }
  return backend;
}

/**
 * The key under which supabase-js stores the session. It is repeated here to read it without loading the
 * client.
 */
export function sessionStorageKey(boot: Boot): string {
  return `sb-${new URL(boot.apiUrl).hostname.split(".")[0]}-auth-token`;
}

/** Whether the browser stores a session. Only for effects and handlers, because the server has no localStorage. */
export function hasStoredSession(boot: Boot): boolean {
  try {
    return localStorage.getItem(sessionStorageKey(boot)) !== null;
  } catch {
    return false; // the browser blocks the storage
  }
}

/** The backend of visitors for the current page. */
export function usePublicBackend(): PublicBackend {
  return publicBackend(useBoot());
}

const OwnerBackendContext = createContext<OwnerBackend | null>(null);
/** Provides the value of useOwnerBackend. */
export const OwnerBackendProvider = OwnerBackendContext.Provider;

/** supabase-js for components below the admin guard, which renders them after the client has loaded. */
export function useOwnerBackend(): OwnerBackend {
  const backend = useContext(OwnerBackendContext);
  if (!backend) throw new Error("useOwnerBackend must be used within an OwnerBackendProvider");
  return backend;
}
