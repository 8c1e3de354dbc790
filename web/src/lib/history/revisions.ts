import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import type { CoverImage, Product, Review, Revision } from "@/lib/types";

/** The tables whose rows have a history, with the types of their rows. */
export type HistoryRows = { products: Product; reviews: Review; cover_images: CoverImage };
export type HistoryTable = keyof HistoryRows;

// The query keys of revisions. They are not in lib/query-keys.ts, because visitors download that file.
export const historyKeys = {
  all: ["history"] as const,
  row: (table: string, id: string) => ["history", "row", table, id] as const,
  deleted: (table: string) => ["history", "deleted", table] as const,
};

/**
 * Reads the revisions of a row, the newest first; each says what the row was before a change. The table `site_settings`
 * needs no id, because a revision of it contains all settings.
 */
export async function getHistory<Before>(
  backend: OwnerBackend,
  of: { table: string; id?: string },
  signal?: AbortSignal,
): Promise<Revision<Before>[]> {
  const call = backend.rpc("get_history", of);
  const { data, error } = await (signal ? call.abortSignal(signal) : call);
  if (error) throw error;
  return data as Revision<Before>[];
}

/** The history of a row, fetched each time that it is shown. */
export function useHistory<Table extends HistoryTable>(table: Table, id: string, shown: boolean) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: historyKeys.row(table, id),
    enabled: shown,
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => getHistory<HistoryRows[Table]>(backend, { table, id }, signal),
  });
}

/** The deleted rows of a table, the newest first, fetched each time that they are shown. */
export function useDeleted<Table extends HistoryTable>(table: Table, shown: boolean) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: historyKeys.deleted(table),
    enabled: shown,
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const of: { table: string } = { table }; // the client's types do not accept a type parameter
      const { data, error } = await backend.rpc("get_deleted", of).abortSignal(signal);
      if (error) throw error;
      return data as Revision<HistoryRows[Table]>[];
    },
  });
}
